"""What has been played of a recording so far, and the rules by which requests are matched."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import Enum

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.traffic.cassettes.playback_report import UNSENT_KEPT_MAX, PlaybackReport
from kafka_shim.shim.traffic.cassettes.record_masks import RecordMasks
from kafka_shim.shim.traffic.cassettes.request_content import CHANGES
from kafka_shim.shim.traffic.cassettes.trace_index import Interaction, StateCounts, TraceIndex


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
    is closed. `masks` are those of the trace.
    """

    match: MatchMode = MatchMode.ORDER
    users: Mapping[str, str] = {}
    speed: float | None = None
    error_for_mismatches: ErrorCode | None = None
    masks: RecordMasks = RecordMasks()


class PlaybackState:
    """The interactions and records that were played, and how often each part was changed."""

    def __init__(self, index: TraceIndex, options: PlaybackOptions) -> None:
        self.index = index
        self.options = options
        self.report = PlaybackReport(requires_all=options.match is MatchMode.STRICT)
        self.report.undecodable = index.undecodable
        self.changes: Counter[str] = Counter()
        self.version = 0
        """Increases with each change."""
        self._first_unplayed: dict[bytes, int] = {}
        self._played = bytearray(index.count + 1)
        self._played_records = bytearray(index.partitions.count_produced() + 1)
        self.on_change: Callable[[], None] = lambda: None

    def is_played(self, interaction: int) -> bool:
        return bool(self._played[interaction])

    def mark_played_and_count_changes(self, interaction: int, changes: Mapping[str, int]) -> None:
        """Note that the request was received, with what it changes."""
        self._played[interaction] = 1
        if changes:
            self.changes.update(changes)
            self.version += 1
            self.on_change()

    def first_unplayed(self, content: bytes) -> int:
        """Return the id before which all requests or records with this content were played."""
        return self._first_unplayed.get(content, 0)

    def skip_played(self, content: bytes, ids: Iterable[int], *, is_record: bool) -> None:
        """Note which ids, in order, were played, up to the first that was not."""
        played = self._played_records if is_record else self._played
        for number in ids:
            if number >= self.first_unplayed(content):
                if not played[number]:
                    break
                self._first_unplayed[content] = number + 1

    def is_record_played(self, record: int) -> bool:
        return bool(self._played_records[record])

    def mark_record_played(self, record: int) -> None:
        self._played_records[record] = 1

    def has_received_preceding_changes(self, state: StateCounts) -> bool:
        """Return whether all changes that preceded a response were received."""
        return all(self.changes[part] >= count for part, count in state.items())

    def is_current(self, state: StateCounts) -> bool:
        """Return whether exactly the changes that preceded a response were received."""
        return all(self.changes[part] == count for part, count in state.items())

    def missing_changes(self, interaction: Interaction) -> str:
        """Return which changes a response waits for, for people."""
        return ", ".join(
            f"{part} was changed {self.changes[part]} times instead of {count}"
            for part, count in interaction.state.items()
            if self.changes[part] < count
        )

    def finished_report(self) -> PlaybackReport:
        """Return the report, with the recorded changes that no client sent."""
        report = self.report
        report.unsent = []
        report.unsent_count = 0
        for interaction in self.index.all_of_apis(CHANGES - {ApiKey.PRODUCE}):
            if not self.is_played(interaction.id):
                self._add_unsent(f"{interaction.name} of {interaction.principal}", interaction.id)
        for record in self.index.partitions.all_produced():
            if not self.is_record_played(record.id):
                where = f"{record.topic}-{record.partition}, offset {record.offset}"
                self._add_unsent(f"record of {where}", record.interaction)
        return report

    def _add_unsent(self, text: str, interaction: int) -> None:
        self.report.unsent_count += 1
        if len(self.report.unsent) < UNSENT_KEPT_MAX:
            self.report.unsent.append(f"{text} (request {interaction} of the recording)")
