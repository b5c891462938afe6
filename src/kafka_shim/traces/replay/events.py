"""The events of a trace for a replay, and facts that the replay needs before it begins."""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.trace_format.entries import (
    Access,
    Connection,
    ConnectionClosed,
    Request,
    Response,
)
from kafka_shim.trace_format.messages import read_response_or_none
from kafka_shim.trace_format.segments import (
    Block,
    Damage,
    read_segment,
    read_trace,
    segment_paths,
)
from kafka_shim.traces.replay.error_codes import is_coordinator_elsewhere, overall_error_code

ConnectionId = tuple[str, int]
"""One recorded connection: its writer and its number among that writer's."""


class Event(msgspec.Struct, frozen=True):
    """An entry with its connection."""

    connection_id: ConnectionId
    principal: str
    node_id: int
    listener: str
    entry: Request | Response | ConnectionClosed
    host: str = ""
    port: int = 0
    position: "EntryPosition | None" = None
    connection: Connection | None = None


class EntryPosition(NamedTuple):
    """Where an entry is in a trace: its segment, its block's position there, and its number."""

    segment: str
    block: int
    number: int


class Recording(msgspec.Struct, frozen=True):
    """All events, which can be iterated more than once, and the unreadable parts of the trace."""

    events: Iterable[Event]
    damage: list[Damage]


class TraceEvents:
    """The events of a trace, read again for each pass: only one block per writer is in memory.

    `damage` is that of the last pass. The events of several writers are merged by their times.
    """

    def __init__(self, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._path = path
        self._progress = progress
        self.damage: list[Damage] = []

    def __iter__(self) -> Iterator[Event]:
        self.damage.clear()
        self._bytes_read = 0
        by_writer: dict[str, list[Path]] = {}
        for path in segment_paths(self._path):
            by_writer.setdefault(_writer_of_segment(path), []).append(path)
        streams = [self._events_of_writer(paths) for paths in by_writer.values()]
        if len(streams) == 1:
            return streams[0]
        return heapq.merge(*streams, key=attrgetter("entry.time_us"))

    def _events_of_writer(self, paths: list[Path]) -> Iterator[Event]:
        for path in paths:
            for block in read_segment(path):
                if isinstance(block, Damage):
                    self.damage.append(block)
                    continue
                yield from _events_in_block(block)
                self._bytes_read += block.header.block_bytes
                self._progress(self._bytes_read)


def load_recording(
    path: Path,
    progress: Callable[[int], None] = lambda _: None,
    on_block: Callable[[Block], None] = lambda _: None,
) -> Recording:
    """Read a whole trace into memory; the entries of several writers are merged by their times.

    `progress` is called with the number of bytes read, `on_block` with each block.
    """
    events: list[Event] = []
    damage: list[Damage] = []
    for block in read_trace(path, progress):
        if isinstance(block, Damage):
            damage.append(block)
        else:
            on_block(block)
            events += _events_in_block(block)
    if len({event.connection_id[0] for event in events}) > 1:
        events.sort(key=attrgetter("entry.time_us"))
    return Recording(events, damage)


def _events_in_block(block: Block) -> Iterator[Event]:
    writer = _writer_of_segment(Path(block.path))
    connections = {connection.number: connection for connection in block.body.connections}
    for index, entry in enumerate(block.body.entries):
        if isinstance(entry, Access):
            continue
        connection = connections[entry.connection]
        connection_id = (writer, connection.writer_connection)
        yield Event(
            connection_id,
            connection.principal,
            connection.node_id,
            connection.listener,
            entry,
            connection.host,
            connection.port,
            EntryPosition(block.path, block.position, index),
            connection,
        )


def _writer_of_segment(segment: Path) -> str:
    return segment.stem.rpartition("-")[0]


AUTHENTICATION_APIS = frozenset({ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE})

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


class FactsNeededBeforeReplay:
    """Facts that a replay needs beforehand, from one pass over the events.

    The number of events and requests, the first time, the principal of each connection, the results
    of authentications, the requests for which the recorded broker was not ready, those without a
    response, and the times at which topics were created.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.count = 0
        self.requests = 0
        self.first_us = 0
        self.principals: dict[ConnectionId, str] = {}
        self.logins: dict[_RequestKey, int | None] = {}
        """The error codes of authentications by the first SaslAuthenticate request of each; None
        if it was not answered."""
        self._not_ready_requests: set[_RequestKey] = set()
        self._unanswered: dict[ConnectionId, set[int]] = {}
        self._exchanges: dict[ConnectionId, _RequestKey | None] = {}
        self._creation_times: list[int] = []
        for event in events:
            self._add_event(event)
        self._exchanges.clear()

    def is_skipped(self, event: Event, api_key: int) -> bool:
        """Return whether a request must not be sent, since its client sent it again."""
        return (
            api_key in NOT_REPEATABLE
            and (event.connection_id, event.entry.sequence) in self._not_ready_requests
        )

    def is_unanswered(self, event: Event) -> bool:
        """Return whether the recording has no response to a request."""
        return event.entry.sequence in self._unanswered.get(event.connection_id, ())

    def was_creating_topic(self, event: Event) -> bool:
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
        self._unanswered.setdefault(event.connection_id, set()).add(entry.sequence)
        if entry.api_key == ApiKey.SASL_HANDSHAKE:
            self._exchanges[event.connection_id] = None
        elif entry.api_key == ApiKey.SASL_AUTHENTICATE:
            if self._exchanges.get(event.connection_id) is None:
                request_key = event.connection_id, entry.sequence
                self._exchanges[event.connection_id] = request_key
                self.logins[request_key] = None
        elif entry.api_key == ApiKey.CREATE_TOPICS:
            self._creation_times.append(entry.time_us)

    def _add_response(self, event: Event, entry: Response) -> None:
        if entry.api_key == ApiKey.SASL_AUTHENTICATE:
            request_key = self._exchanges.get(event.connection_id)
            if request_key is not None:
                self.logins[request_key] = overall_error_code(entry)
        elif is_coordinator_elsewhere(entry) or _was_led_elsewhere(entry):
            self._not_ready_requests.add((event.connection_id, entry.sequence))


def _was_led_elsewhere(entry: Response) -> bool:
    """Return whether a broker has rejected all records since others led the partitions."""
    if entry.api_key != ApiKey.PRODUCE or not any(code in entry.frame for code in _LED_ELSEWHERE):
        return False
    response = read_response_or_none(entry)
    codes = {
        row.error_code
        for topic in (() if response is None else response.responses)
        for row in topic.partition_responses
    }
    return bool(codes) and codes <= _LED_ELSEWHERE_CODES


_LED_ELSEWHERE_CODES = frozenset({5, 6})
"""LEADER_NOT_AVAILABLE and NOT_LEADER_OR_FOLLOWER."""
_LED_ELSEWHERE = tuple(code.to_bytes(2, "big") for code in _LED_ELSEWHERE_CODES)
