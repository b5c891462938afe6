"""A replay that was interrupted goes on with what it had learned."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.shim.config import parse_address
from kafka_shim.shim.errors import ConfigError
from kafka_shim.traces.replay.events import Event, Recording, TraceEvents
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import report_lines
from kafka_shim.traces.replay.target import Target
from tests.traces.replay.recorded_clients import shims
from tests.traces.replay.test_planted_changes import trace  # noqa: F401 -- a fixture


class InterruptedEvents:
    """The events of a trace, which are interrupted once, in the second pass."""

    def __init__(self, path: Path, at: int) -> None:
        self._events = TraceEvents(path)
        self._at = at
        self._passes = 0

    def __iter__(self) -> Iterator[Event]:
        self._passes += 1
        for number, event in enumerate(self._events):
            if number == self._at and self._passes == 2:
                raise KeyboardInterrupt
            yield event


@pytest.mark.parametrize("at", [9, 30, 41])
def test_a_replay_goes_on_where_it_was_interrupted(trace: Path, tmp_path: Path, at: int) -> None:  # noqa: F811 -- the fixture
    state = tmp_path / "trace.resume"
    with shims(1, seed=2) as broker:
        target = Target(
            parse_address(broker.plaintext, ""),
            routes={"SASL_PLAINTEXT": parse_address(broker.sasl, "")},
            users={"alice": "alice-secret"},
        )
        first = Replayer(Recording(InterruptedEvents(trace, at), []), target)
        with pytest.raises(KeyboardInterrupt):
            first.replay()
        first.write_state(state)
        second = Replayer(Recording(TraceEvents(trace), []), target)
        second.resume(state)
        report = second.replay()
    text = "\n".join(report_lines(report))
    assert report.matches_recording, text
    assert report.unreached_requests == 0, text
    reached = first.report.trace_requests - first.report.unreached_requests
    assert report.skipped["replayed before"] == reached
    assert first.report.requests + report.requests == report.trace_requests - 2  # and a log-in


def test_a_damaged_file_is_named(tmp_path: Path, trace: Path) -> None:  # noqa: F811 -- the fixture
    state = tmp_path / "trace.resume"
    replayer = Replayer(Recording(TraceEvents(trace), []), Target(("127.0.0.1", 1)))
    for content in ("", "{}", "__import__('os')", "{'format': 2}"):
        state.write_text(content)
        with pytest.raises(ConfigError, match="replay from the beginning"):
            replayer.resume(state)
    state.unlink()
    with pytest.raises(ConfigError, match="cannot read"):
        replayer.resume(state)
