"""What has been played of a recording so far, and the rules by which requests are matched."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.traces.api_kinds import REQUIRED_IN_STRICT
from kafka_shim.traces.cassettes.playback_report import UNSENT_KEPT_MAX, PlaybackReport
from kafka_shim.traces.cassettes.touched_state import StateCounts
from kafka_shim.traces.cassettes.trace_index import TraceIndex
from kafka_shim.traces.record_masks import RecordMasks

_REQUIRED = (
    "(sequence is not null or"
    f" (topic is null and api_key in ({', '.join(str(int(key)) for key in REQUIRED_IN_STRICT)})))"
)
"""The recorded changes, in SQL."""


class MatchMode(Enum):
    """How strictly the order of requests is that of the recording."""

    CONTENT = "content"
    """In any order."""
    ORDER = "order"
    """Changes and records of a recorded connection in their recorded order; reads at any time."""
    STRICT = "strict"
    """As ORDER, and the same settings, and each recorded change is sent before the end."""


class PlaybackOptions(msgspec.Struct, frozen=True):
    """How a trace is played. `users` has passwords by user name, which SCRAM needs.

    `speed` 1 responds after the recorded time, 2 after half of it, None as soon as possible.
    `error_for_mismatches` is in responses to requests that were not recorded; None: the connection
    is closed. `masks` are those of the trace. `accepts_damage`: a damaged trace is no failure.
    """

    match: MatchMode = MatchMode.ORDER
    users: Mapping[str, str] = {}
    speed: float | None = None
    error_for_mismatches: ErrorCode | None = None
    masks: RecordMasks = RecordMasks()
    accepts_damage: bool = False


class PlaybackState:
    """How often each part was changed so far, and what happened; `index` has what was played."""

    def __init__(self, index: TraceIndex, options: PlaybackOptions) -> None:
        self.index = index
        self.options = options
        self.report = PlaybackReport(
            requires_all=options.match is MatchMode.STRICT,
            undecodable=index.undecodable,
            damage=[f"{each.path}: {each.reason}" for each in index.damage],
            accepts_damage=options.accepts_damage,
        )
        self.changes: Counter[str] = Counter()
        self.fetched_ends: dict[tuple[str, int], set[int]] = {}
        """By topic and partition, the offsets behind the records that clients got."""
        self.next_change = asyncio.Event()

    def count_changes(self, parts: Iterable[str]) -> None:
        """Note that each of these parts was changed once more, and wake those who wait for it."""
        self.changes.update(parts)
        self.next_change.set()
        self.next_change = asyncio.Event()

    def has_received_preceding_changes(self, state: StateCounts) -> bool:
        """Return whether all changes that preceded a response were received."""
        return all(self.changes[part] >= count for part, count in state.items())

    def has_received(self, state: StateCounts) -> bool:
        """Return whether exactly the changes that preceded a response were received."""
        return all(self.changes[part] == count for part, count in state.items())

    def missing_changes(self, state: StateCounts) -> str:
        """Return which changes a response waits for, for people."""
        return ", ".join(
            f"{part} was changed {self.changes[part]} times instead of {count}"
            for part, count in state.items()
            if self.changes[part] < count
        )

    def finished_report(self) -> PlaybackReport:
        """Return the report, with the recorded changes that no client sent."""
        report = self.report
        report.unsent, report.unsent_count = [], 0
        for each in self.index.table.select(f"{_REQUIRED} and is_played=0 order by id"):
            report.unsent_count += 1
            if len(report.unsent) < UNSENT_KEPT_MAX:
                record = "" if each.topic is None else f": {self.index.record(each).text}"
                report.unsent.append(f"{each}{record}")
        return report
