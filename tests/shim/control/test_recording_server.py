"""The inspector shows a recording of a real broker: over HTTP, and in a real headless browser."""

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer
from kafka_shim.testing.broker_start import start
from kafka_shim.traces import inspector_rows
from kafka_shim.traces.inspector_rows import InspectorRows
from kafka_shim.traces.trace_rows import TraceReader
from tests.pipeline.real_accesses import recorded
from tests.shim.control.inspector.page import Page, needs_browser, send, serving_trace
from tests.shim.control.plain_http import Http
from tests.traces.test_derived_denials import RELEASE, written


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TraceInspectorServer]:
    rows = TraceReader(written(tmp_path)).rows(with_denials=True, with_frames=True)
    with serving_trace(InspectorRows("a trace", rows)) as server:
        yield server


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
    rows = TraceReader(written(tmp_path)).rows(with_denials=True, with_frames=True)
    found = InspectorRows("t", rows)
    assert (len(found.requests), found.last) == (3, 3)
    assert found.left_out >= len(recorded(RELEASE).exchanges) - 3
    assert {row["number"] for row in found.decisions} <= {1, 2, 3}


def test_a_recording_shows_what_the_live_page_shows(tmp_path: Path) -> None:
    """Responses, latencies, the reasons of decisions in the same words, and remedies."""
    with start(record=tmp_path / "trace", in_process=False) as broker:
        broker.topics.create("orders")
        broker.acls.add(principal="alice", allow="Write", topic="orders")
        broker.acls.add(principal="bob", deny="Describe", topic="orders")
        for user in ("alice", "bob", "carol"):
            send(broker, user)
        live = Http(str(broker.control_url))
        requests = live.ask("GET", "/requests")[1]["requests"]
        decisions = live.ask("GET", "/decisions")[1]["decisions"]
    rows = TraceReader(tmp_path / "trace").rows(with_denials=True, with_frames=True)
    shown = InspectorRows("t", rows)
    assert len(shown.requests) == len(requests)
    words = {(row["principal"], row["allowed"], row["rule"]) for row in decisions}
    assert {(row["principal"], row["allowed"], row["rule"]) for row in shown.decisions} == words
    assert all(row["latency_us"] is not None for row in shown.requests)
    numbered = {row["number"]: row for row in shown.requests}
    denied = [row for row in shown.decisions if not row["allowed"]]
    assert {row["principal"] for row in denied} == {"User:bob", "User:carol"}
    for row in denied:
        detail = shown.request_detail(row["number"])
        assert detail is not None
        assert detail["response_bytes"] == len(bytes.fromhex(detail["response_hex"]))
        assert detail["response"]["topics"][0]["errorCode"] in numbered[row["number"]]["errors"]
    remedies = {row["principal"]: row["would_allow"] for row in denied}
    deny = {"principal": "User:bob", "deny": ["Describe"], "topic": "orders"}
    assert remedies["User:bob"]["remove"] == [deny]
    allow = {"principal": "User:carol", "allow": ["Describe"], "topic": "orders"}
    assert remedies["User:carol"]["add"] == [allow]


@needs_browser
@pytest.mark.client
@pytest.mark.timeout(300, func_only=True)
def test_the_page_shows_a_recording(server: TraceInspectorServer, chrome: Any) -> None:
    page = Page(chrome, server.url.removesuffix("/inspector"))
    page.wait(lambda: "recording a trace" in page.element("#broker").text)
    page.press("/", "TOPIC_AUTHORIZATION_FAILED", "\ue00c")
    page.row("Metadata v12", "User:alice", "TOPIC_AUTHORIZATION_FAILED")
    page.press("f", "j", "\ue007")
    page.wait(lambda: page.shows("#detail", "Response, "))
    assert "To allow the whole request" in page.element("#detail").text
    page.press("\ue00c", "/", "\ue009a", "\ue003", "\ue00c")
    page.wait(lambda: page.rows)
    time.sleep(1.2)  # two more loads, which add nothing
    numbers = [row.split()[0] for row in page.rows]
    assert len(numbers) == len(set(numbers)) == len(recorded(RELEASE).exchanges)
    page.tab("decisions")
    page.press("/", "\ue009a", "\ue00c")
    for name in ("acls", "matrix", "faults"):
        assert not page.element(f"#tab-{name}").is_displayed()
    page.tab("acls")  # hidden for a recording
    assert page.element("#tab-decisions").get_attribute("aria-selected") == "true"
