"""Facts about a recording that a replay needs before it begins, from one pass over the events.

Some responses depended on which of two clients came first: two clients that use one transactional
id at the same time fence each other, offsets are fetched while they are committed, and a group that
rebalances is between two states. The replay may meet them the other way round.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.records.batches import only_batch_or_none
from kafka_shim.trace_format.entries import Request, Response, decode_request, decode_response_entry
from kafka_shim.traces.replay.acl_changes import LateAcls
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.error_codes import is_coordinator_elsewhere, overall_error_code
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


_RequestKey = tuple[ConnectionId, int]


NOT_REPEATABLE = frozenset(
    {
        ApiKey.JOIN_GROUP, ApiKey.LEAVE_GROUP, ApiKey.DELETE_GROUPS,
        ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.SHARE_GROUP_HEARTBEAT,
        ApiKey.STREAMS_GROUP_HEARTBEAT, ApiKey.PRODUCE,
    }
)  # fmt: skip
"""Requests that a client sent again, and that a target which is ready must get only once."""

CREATION_US = 5_000_000
"""How long after its creation a topic may be unknown to a broker."""


class RecordedFacts:
    """Facts that a replay needs beforehand, from one pass over the events.

    The number of events and requests, the first time, the principal of each connection, the results
    of authentications, the requests for which the recorded broker was not ready, those without a
    response, and the times at which topics were created.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.late_acls = LateAcls()
        self.races = Races()
        self.count = 0
        self.requests = 0
        self.first_us = 0
        self.principals: dict[ConnectionId, str] = {}
        self.logins: dict[_RequestKey, int | None] = {}
        """The error codes of authentications by the first SaslAuthenticate request of each; None
        if it was not answered."""
        self._first_logins: dict[ConnectionId, int] = {}
        self.rejected_versions: set[ConnectionId] = set()
        """Connections whose first ApiVersions had a version that the broker does not support."""
        self._not_ready_requests: set[_RequestKey] = set()
        self.incomplete_connections: set[ConnectionId] = set()
        """Connections from which the trace lacks requests."""
        self._next_sequences: dict[ConnectionId, int] = {}
        self._unanswered: dict[ConnectionId, set[int]] = {}
        self._exchanges: dict[ConnectionId, _RequestKey | None] = {}
        self._creation_times: list[int] = []
        for event in events:
            self._add_event(event)
            self.late_acls.note(event)
            self.races.note(event)
        self._exchanges.clear()

    def is_skipped(self, event: Event, api_key: int) -> bool:
        """Return whether a request must not be sent, since its client sent it again."""
        return (
            api_key in NOT_REPEATABLE
            and (event.connection_id, event.entry.sequence) in self._not_ready_requests
        )

    def is_rejected_version(self, event: Event) -> bool:
        """Return whether the recorded broker may have rejected the version of a request.

        It then has rejected an ApiVersions of the connection, or has not answered.
        """
        entry = event.entry
        return self.is_unanswered(event) or (
            isinstance(entry, Request)
            and entry.api_key == ApiKey.API_VERSIONS
            and event.connection_id in self.rejected_versions
        )

    def is_unanswered(self, event: Event) -> bool:
        """Return whether the recording has no response to a request."""
        return event.entry.sequence in self._unanswered.get(event.connection_id, ())

    def authenticates(self, connection_id: ConnectionId) -> bool:
        """Return whether the client of a connection ever authenticates."""
        return connection_id in self._first_logins

    def logs_in_later(self, event: Event) -> bool:
        """Return whether a connection authenticates for the first time after an event."""
        first = self._first_logins.get(event.connection_id)
        return first is not None and first >= event.entry.sequence

    def is_topic_just_created(self, event: Event) -> bool:
        """Return whether a topic had been created a moment before."""
        times = self._creation_times
        at = bisect_right(times, event.entry.time_us)
        return bool(at) and event.entry.time_us - times[at - 1] <= CREATION_US

    def _add_event(self, event: Event) -> None:
        entry = event.entry
        if not self.count:
            self.first_us = entry.time_us
        self.count += 1
        self.principals[event.connection_id] = event.principal
        if isinstance(entry, Request):
            self._add_request(event, entry)
        elif isinstance(entry, Response):
            self._unanswered.get(event.connection_id, set()).discard(entry.sequence)
            self._add_response(event, entry)

    def _add_request(self, event: Event, entry: Request) -> None:
        self.requests += 1
        if entry.sequence != self._next_sequences.get(event.connection_id, 0):
            self.incomplete_connections.add(event.connection_id)
        self._next_sequences[event.connection_id] = entry.sequence + 1
        self._unanswered.setdefault(event.connection_id, set()).add(entry.sequence)
        if entry.api_key == ApiKey.SASL_HANDSHAKE:
            self._exchanges[event.connection_id] = None
        elif entry.api_key == ApiKey.SASL_AUTHENTICATE:
            if self._exchanges.get(event.connection_id) is None:
                request_key = event.connection_id, entry.sequence
                self._exchanges[event.connection_id] = request_key
                self.logins[request_key] = None
                self._first_logins.setdefault(event.connection_id, entry.sequence)
        elif entry.api_key == ApiKey.CREATE_TOPICS:
            self._creation_times.append(entry.time_us)

    def _add_response(self, event: Event, entry: Response) -> None:
        if entry.api_key == ApiKey.API_VERSIONS:
            if entry.frame[4:6] == _REJECTED_VERSION:
                self.rejected_versions.add(event.connection_id)
        elif entry.api_key == ApiKey.SASL_AUTHENTICATE:
            request_key = self._exchanges.get(event.connection_id)
            if request_key is not None:
                self.logins[request_key] = overall_error_code(entry)
        elif is_coordinator_elsewhere(entry) or _was_led_elsewhere(entry):
            self._not_ready_requests.add((event.connection_id, entry.sequence))


def _was_led_elsewhere(entry: Response) -> bool:
    """Return whether a broker has rejected all records since others led the partitions."""
    if entry.api_key != ApiKey.PRODUCE or not any(code in entry.frame for code in _LED_ELSEWHERE):
        return False
    response = decode_response_entry(entry)
    codes = {
        row.error_code
        for topic in (() if response is None else response.responses)
        for row in topic.partition_responses
    }
    return bool(codes) and codes <= _LED_ELSEWHERE_CODES


_REJECTED_VERSION = ErrorCode.UNSUPPORTED_VERSION.to_bytes(2, "big")
_LED_ELSEWHERE_CODES = frozenset({5, 6})
"""LEADER_NOT_AVAILABLE and NOT_LEADER_OR_FOLLOWER."""
_LED_ELSEWHERE = tuple(code.to_bytes(2, "big") for code in _LED_ELSEWHERE_CODES)
