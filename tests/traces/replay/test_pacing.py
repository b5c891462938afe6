"""`replay --speed`: pauses as recorded, shorter, or none."""

import asyncio
import time

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import write_response_header
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafka_shim.trace_format.entries import Request, Response
from kafka_shim.traces.replay.events import Event, Recording
from kafka_shim.traces.replay.pace import ReplayPace
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.target import Target
from tests.shim.wire import serving
from tests.support.commands import split
from tests.support.frames import request_frame

PAUSE_S = 2.0
"""Long, so that a busy machine does not take that long for two requests."""
UNKNOWN_MEMBER_ID = 25


def recording() -> Recording:
    """Return two heartbeats of an unknown member with a pause between them."""
    events: list[Event] = []
    for number in range(2):
        asked = request_frame(ApiKey.HEARTBEAT, 4, HeartbeatRequest("g", 1, "m"), number, "c")
        response = HeartbeatResponse(error_code=UNKNOWN_MEMBER_ID)
        responded = write_response_header(ApiKey.HEARTBEAT, 4, number) + codecs.write_response(
            ApiKey.HEARTBEAT, 4, response
        )
        time_us = int(number * PAUSE_S * 1_000_000)
        entries = (
            Request(0, number, time_us, asked),
            Response(0, number, time_us, ApiKey.HEARTBEAT, 4, responded),
        )
        events += (Event(("w", 1), "User:ANONYMOUS", 1, "PLAINTEXT", entry) for entry in entries)
    return Recording(events, [])


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("speed", "least_s", "most_s"),
    [(1.0, PAUSE_S, 5.0), (10.0, PAUSE_S / 10, PAUSE_S), (None, 0.0, PAUSE_S)],
)
async def test_pauses_depend_on_the_speed(
    speed: float | None, least_s: float, most_s: float
) -> None:
    async with serving() as broker:
        player = Replayer(recording(), Target(split(broker.bootstrap_servers()), speed=speed))
        began = time.monotonic()
        report = await asyncio.to_thread(player.replay)
        took = time.monotonic() - began
    assert (report.responses, report.matches_recording) == (2, True)
    assert least_s <= took < most_s


class Clock:
    """A clock that advances by sleeping, or by hand."""

    def __init__(self) -> None:
        self.time_s = 100.0

    def now(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds


def test_a_late_replay_does_not_catch_up() -> None:
    clock = Clock()
    replay_pace = ReplayPace(2.0, 7_000_000, clock.now, clock.sleep)
    replay_pace.wait(9_000_000)
    assert clock.time_s == pytest.approx(101)
    clock.sleep(0.001)
    replay_pace.wait(9_000_000)
    replay_pace.wait(11_000_000)
    assert clock.time_s == pytest.approx(102)  # a short delay is caught up
    clock.sleep(3)  # a slow response of the target
    replay_pace.wait(11_000_000)
    replay_pace.wait(13_000_000)
    assert clock.time_s == pytest.approx(106)
