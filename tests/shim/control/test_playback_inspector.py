"""The inspector shows the mismatches of a playback next to the recorded requests."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer
from kafka_shim.traces.cassettes.playback_report import inspector_rows
from kafka_shim.traces.inspector_rows import InspectorRows
from tests.shim.control.inspector.page import Page, needs_browser, serving_trace
from tests.shim.wire import Wire
from tests.traces.cassettes.kit import Playback, new_topic, record


async def story(wire: Wire, _: Wire) -> None:
    await wire.ask(ApiKey.CREATE_TOPICS, 7, new_topic("orders"))


@pytest.fixture
def rows(tmp_path: Path) -> InspectorRows:
    trace = asyncio.run(record(tmp_path / "orders", story))
    played = Playback(trace)
    mismatch = played.mismatch(ApiKey.CREATE_TOPICS, 7, new_topic("order"))
    rows = inspector_rows(trace, played.state.report)
    played.state.report.add_mismatch(mismatch)
    return rows


def test_a_mismatch_is_a_row_with_the_nearest_request_and_the_difference(
    rows: InspectorRows,
) -> None:
    recorded, mismatch = rows.requests
    assert (recorded["api"], recorded["error_names"]) == ("CreateTopics", [])
    assert (mismatch["api"], mismatch["version"]) == ("CreateTopics", 7)
    assert mismatch["error_names"] == ["NOT_RECORDED (content)"]
    assert mismatch["number"] == rows.last == recorded["number"] + 1
    detail = rows.request_detail(mismatch["number"])
    assert detail is not None
    fields = detail["response"]["not_recorded"]
    assert (fields["recorded"], fields["sent"]) == ("'orders'", "'order'")
    assert fields["nearest"].startswith(f"request {recorded['number']} of the recording")
    assert rows.request_detail(recorded["number"])["request"]  # type: ignore[index]


@pytest.fixture
def server(rows: InspectorRows) -> Iterator[TraceInspectorServer]:
    with serving_trace(rows) as server:
        yield server


@needs_browser
@pytest.mark.client
@pytest.mark.timeout(300, func_only=True)
def test_the_page_shows_a_mismatch(server: TraceInspectorServer, chrome: Any) -> None:
    page = Page(chrome, server.url.removesuffix("/inspector"))
    page.wait(lambda: "playback of orders" in page.element("#broker").text)
    page.press("/", "NOT_RECORDED", "\ue00c")
    page.row("CreateTopics v7", "User:ANONYMOUS", "NOT_RECORDED (content)")
    page.press("f", "j", "\ue007")
    page.wait(lambda: page.shows("#detail", "recorded 'orders', sent 'order'"))
