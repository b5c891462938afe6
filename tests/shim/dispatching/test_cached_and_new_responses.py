"""Responses, audit lines, history and trace are equal with and without the cache."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.shim.dispatching.response_cache import ResponseCache
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.text.logs import configure_logging
from kafka_shim.trace_format.segments import Damage, read_trace
from tests.recordings.conformance.play import play
from tests.recordings.conformance.scripts import script
from tests.recordings.peers.in_process import InProcess
from tests.shim.dispatching.repeated_requests import CACHED_KEYS

SEEDS = range(300, 306)
TIMES = 4


class Everything:
    """All results of some scripts, whose read-only requests are sent several times."""

    def __init__(self, release: str, folder: Path, *, keeps: bool) -> None:
        peer = InProcess(release, "authorizer")
        self._dispatcher = dispatcher = peer.stage.dispatcher
        self.responses: list[Any] = []
        self.kept: ResponseCache | None = None
        if keeps:
            dispatcher.response_cache = self.kept = ResponseCache(dispatcher.cluster)
        self.history = History()
        dispatcher.set_history(self.history)
        recorder = TraceRecorder(folder, peer.stage.clock)
        dispatcher.set_recorder(recorder)
        self._dispatch = dispatcher.dispatch
        dispatcher.dispatch = self._several_times  # type: ignore[method-assign]
        for seed in SEEDS:
            play(script(release, seed), peer)
        recorder.close()
        self.requests = [seen.request_row() for seen in self.history]
        self.decisions = [row for seen in self.history for row in seen.decision_rows()]
        self.totals = (self.history.response_counts, self.history.decision_counts)
        self.counted = dispatcher.cluster.counters.requests
        self.trace = [
            (block.body.connections, block.body.entries)
            for block in read_trace(folder)
            if not isinstance(block, Damage)
        ]

    def _several_times(self, frame: bytes, session: Any) -> Any:
        for number in range(TIMES if frame[:2] in CACHED_KEYS else 0):
            self._once(frame[:4] + (1000 + number).to_bytes(4, "big") + frame[8:], session)
        return self._once(frame, session)

    def _once(self, frame: bytes, session: Any) -> Any:
        response = self._dispatch(frame, session)
        self.responses.append(response if isinstance(response, bytes) else None)
        return response


@pytest.mark.parametrize("level", ["info", "debug"])
@pytest.mark.parametrize("release", ["2.8.2", "4.4.0"])
def test_cached_and_new_responses_are_equal(
    release: str, level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging(level, "json")
    found, logged = [], []
    for keeps in (False, True):
        found.append(Everything(release, tmp_path / str(keeps), keeps=keeps))
        logged.append([line.partition('"timestamp"')[0] for line in _lines(capsys)])
    fresh, kept = found
    assert kept.kept is not None
    assert kept.kept.hits > 100
    assert kept.responses == fresh.responses
    assert kept.requests == fresh.requests
    assert kept.decisions == fresh.decisions
    assert kept.totals == fresh.totals
    assert kept.counted == fresh.counted
    assert kept.trace == fresh.trace
    assert logged[0] == logged[1]
    assert logged[0]


def _lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The broker's lines, without those of Spark's bridge to Java in the same process."""
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("{")]
