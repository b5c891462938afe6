"""The inspector shows a recording of a real broker: over HTTP, and in a real headless browser."""

import json
import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer
from kafka_shim.shim.traffic.traces import inspector_rows
from kafka_shim.shim.traffic.traces.inspector_rows import InspectorRows
from kafka_shim.shim.traffic.traces.trace_rows import TraceReader
from tests.pipeline.real_accesses import recorded
from tests.shim.control.inspector.page import Page, needs_browser
from tests.shim.traffic.traces.test_derived_denials import RELEASE, written


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TraceInspectorServer]:
    rows = TraceReader(written(tmp_path)).rows(with_denials=True)
    with TraceInspectorServer(InspectorRows("a trace", rows)) as server:
        serving = threading.Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield server
        server.shutdown()
        serving.join()


def get(server: TraceInspectorServer, path: str, **headers: str) -> tuple[int, str, bytes]:
    connection = HTTPConnection(*server.server_address[:2], timeout=10)  # type: ignore[arg-type]
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    found = response.status, response.headers["Content-Type"], response.read()
    connection.close()
    return found


def asked(server: TraceInspectorServer, path: str) -> dict[str, Any]:
    status, kind, body = get(server, path)
    assert (status, kind) == (200, "application/json")
    found: dict[str, Any] = json.loads(body)
    return found


def test_calls_of_the_page_work_for_a_recording(server: TraceInspectorServer) -> None:
    exchanges = recorded(RELEASE).exchanges
    assert asked(server, "/health") == {"recording": "a trace", "requests": len(exchanges)}
    first = asked(server, "/requests?after=0&limit=2")
    assert [row["api"] for row in first["requests"]] == [e.api for e in exchanges[:2]]
    rest = asked(server, f"/requests?after={first['last']}")
    assert len(rest["requests"]) == len(exchanges) - 2
    assert asked(server, f"/requests?after={rest['last']}")["requests"] == []
    denied = asked(server, "/decisions")["decisions"]
    logged = {
        (number, decision.operation, decision.resource_name)
        for number, exchange in enumerate(exchanges, start=1)
        for decision in exchange.decisions
        if not decision.allowed
    }
    found = {(row["number"], row["operation"], row["resource_name"]) for row in denied}
    assert found <= logged
    assert len(found) > 20


def test_only_local_requests_are_answered(server: TraceInspectorServer) -> None:
    assert get(server, "/inspector")[:2] == (200, "text/html; charset=utf-8")
    assert get(server, "/inspector/topics.js")[1] == "text/javascript; charset=utf-8"
    assert get(server, "/")[0] == 307
    for path in ("/faults", "/inspector/../trace.py", "/elsewhere"):
        assert get(server, path)[0] == 404
    assert get(server, "/requests", Host="evil.example:80")[0] == 403
    assert get(server, "/requests", Origin="http://evil.example")[0] == 403


def test_only_the_first_requests_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspector_rows, "REQUESTS_MAX", 3)
    found = InspectorRows("t", TraceReader(written(tmp_path)).rows(with_denials=True))
    assert (len(found.requests), found.last) == (3, 3)
    assert found.left_out >= len(recorded(RELEASE).exchanges) - 3
    assert {row["number"] for row in found.decisions} <= {1, 2, 3}


@needs_browser
@pytest.mark.client
@pytest.mark.timeout(300, func_only=True)
def test_the_page_shows_a_recording(server: TraceInspectorServer, chrome: Any) -> None:
    page = Page(chrome, server.url.removesuffix("/inspector"))
    page.wait(lambda: "recording a trace" in page.element("#broker").text)
    page.press("/", "TOPIC_AUTHORIZATION_FAILED", "\ue00c")
    page.row("Metadata v12", "User:alice", "TOPIC_AUTHORIZATION_FAILED")
    page.tab("decisions")
    page.press("/", "\ue009a", "\ue00c")
    for name in ("acls", "matrix", "faults"):
        assert not page.element(f"#tab-{name}").is_displayed()
    page.tab("acls")  # hidden for a recording
    assert page.element("#tab-decisions").get_attribute("aria-selected") == "true"
