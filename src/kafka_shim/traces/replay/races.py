"""Recorded responses that depended on which of two clients came first.

Two clients that use one transactional id at the same time fence each other, offsets are fetched
while they are committed, and a group that rebalances is between two states. The replay may meet
them the other way round.
"""

from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.records.batches import only_batch_or_none
from kafka_shim.trace_format.entries import Request, Response, decode_request
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.events import ConnectionId, Event

TAKEOVER = "while another producer took over its transactional id"
REBALANCE = "of a group in a rebalance"
COMMIT = "while another client committed offsets of the group"
_FENCED = frozenset(
    {
        ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE, ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)  # fmt: skip
_REBALANCES = frozenset({"PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"})
_DESCRIPTIONS = frozenset(
    {ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE, ApiKey.SHARE_GROUP_DESCRIBE}
)
_MEMBERS = ("groups[].members[]", "groups[].group_state", "groups[].protocol_data")
_COMMITS_KEPT_MAX = 256
_NOT_YET_US = 1 << 62


class _Takeover(NamedTuple):
    """An InitProducerId, from the request to the response."""

    connection_id: ConnectionId
    name: str
    start_us: int
    end_us: int


class _Commit(msgspec.Struct):
    """A request that commits offsets, from the request to the response."""

    connection_id: ConnectionId
    frame: bytes
    start_us: int
    end_us: int = _NOT_YET_US


class Races:
    """When producers took over a transactional id, and the differences that come from races."""

    def __init__(self) -> None:
        self._open: dict[tuple[ConnectionId, int], tuple[str, int]] = {}
        self._takeovers: list[_Takeover] = []
        self._fenced: set[tuple[str, int]] = set()
        self._commits: dict[tuple[ConnectionId, int], _Commit] = {}

    def note(self, event: Event) -> None:
        """Note an InitProducerId for a transactional id, and the response to it."""
        entry = event.entry
        if isinstance(entry, Request) and entry.api_key == ApiKey.INIT_PRODUCER_ID:
            name = getattr(decode_request(entry.frame)[1], "transactional_id", None)
            if name:
                self._open[event.connection_id, entry.sequence] = name, entry.time_us
        elif isinstance(entry, Response) and entry.api_key == ApiKey.INIT_PRODUCER_ID:
            name, start_us = self._open.pop((event.connection_id, entry.sequence), ("", 0))
            if name:
                self._takeovers.append(
                    _Takeover(event.connection_id, name, start_us, entry.time_us)
                )

    def begin_commit(self, event: Event, frame: bytes) -> None:
        """Note a request that commits offsets, while it is replayed."""
        key = event.connection_id, event.entry.sequence
        self._commits[key] = _Commit(event.connection_id, frame, event.entry.time_us)
        if len(self._commits) > _COMMITS_KEPT_MAX:
            del self._commits[next(iter(self._commits))]

    def end_commit(self, event: Event) -> None:
        """Note the response to such a request."""
        commit = self._commits.get((event.connection_id, event.entry.sequence))
        if commit is not None:
            commit.end_us = event.entry.time_us

    def explain(
        self,
        event: Event,
        request_us: int,
        message: Any,
        recorded: Any,
        differences: list[Difference],
    ) -> tuple[str, list[Difference]]:
        """Return the race from which differences of a response come ("": none), and the others.

        `message` and `recorded` are the recorded request and response.
        """
        api_key = getattr(event.entry, "api_key", -1)
        if api_key == ApiKey.OFFSET_FETCH:
            has_race = self._overlaps_commit(event, request_us, message)
            return (COMMIT, []) if has_race else ("", differences)
        if api_key in _DESCRIPTIONS:
            if not any(group.group_state in _REBALANCES for group in recorded.groups):
                return "", differences
            others = [each for each in differences if not each.field.startswith(_MEMBERS)]
            return REBALANCE, others
        others = [
            each
            for each in differences
            if not each.field.endswith("error_code") or _FENCED.isdisjoint(_codes(each))
        ]
        if others == differences or not self._overlaps_takeover(event, request_us, message):
            return "", differences
        return TAKEOVER, others

    def _overlaps_commit(self, event: Event, request_us: int, message: Any) -> bool:
        groups = {message.group_id, *(group.group_id for group in message.groups)}
        return any(
            commit.connection_id != event.connection_id
            and commit.start_us <= event.entry.time_us
            and request_us <= commit.end_us
            and getattr(decode_request(commit.frame)[1], "group_id", None) in groups
            for commit in self._commits.values()
        )

    def _overlaps_takeover(self, event: Event, request_us: int, message: Any) -> bool:
        """Return whether another InitProducerId overlapped, now or earlier in this epoch."""
        name = _transactional_id(message)
        if not name:
            return False
        epoch = _producer_epoch(message)
        if (name, epoch) in self._fenced:
            return True
        has_race = any(
            takeover.name == name
            and takeover.connection_id != event.connection_id
            and takeover.start_us <= event.entry.time_us
            and request_us <= takeover.end_us
            for takeover in self._takeovers
        )
        if has_race and epoch >= 0:
            self._fenced.add((name, epoch))
        return has_race


def _transactional_id(message: Any) -> str:
    for name in ("transactional_id", "v3_and_below_transactional_id"):
        if getattr(message, name, None):
            return str(getattr(message, name))
    return ""


def _producer_epoch(message: Any) -> int:
    """Return the recorded epoch of a producer; -1 if a request has none, or several."""
    for name in ("producer_epoch", "v3_and_below_producer_epoch"):
        if hasattr(message, name):
            return int(getattr(message, name))
    for topic in getattr(message, "topic_data", ()):
        for row in topic.partition_data:
            batch = only_batch_or_none(row.records or b"")
            return -1 if batch is None else batch.producer_epoch
    return -1


def _codes(difference: Difference) -> set[Any]:
    return {difference.recorded, difference.actual}
