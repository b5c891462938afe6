"""An index of the requests in a trace, so that a trace of any size is played in bounded memory.

Messages are read from the trace when they are needed.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame, read_response_with_version
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.trace_format.entries import Entry, Request, Response
from kafka_shim.trace_format.segments import Block, Damage, read_segment
from kafka_shim.traces.api_kinds import COUNTED_CHANGES
from kafka_shim.traces.cassettes.interactions import Interaction, InteractionTable
from kafka_shim.traces.cassettes.request_content import (
    ContentField,
    RecordContent,
    content_of_fields,
    digest,
    records_in_complete_batches,
    request_fields,
    settings_fields,
)
from kafka_shim.traces.cassettes.touched_state import (
    ADMIN_EXCEPT_TOPICS,
    TRANSACTIONS,
    StateCounts,
    topic_records_key,
    topic_settings_key,
    touched_state,
)
from kafka_shim.traces.identities.message_fields import topic_partitions
from kafka_shim.traces.proxy.client_listeners import Address
from kafka_shim.traces.proxy.response_addresses import (
    advertised_brokers,
    response_contains_broker_addresses,
)
from kafka_shim.traces.replay.events import ConnectionId, Event, TraceEvents

BLOCKS_IN_MEMORY = 4
MESSAGES_IN_MEMORY = 2_000
_CLIENT_SUFFIX = re.compile(r"(?:[-_][0-9a-f]{4,}|[-_.]?\d+)+$")

_WITHOUT_SASL = """
topic is null and connection not in (select connection from Interaction where api_key=?)
group by principal"""

_Position = tuple[int, int, int]
"""Of an entry: the number of its segment, its block's position there, and its number there."""


class _PendingRequest(NamedTuple):
    """A request whose response was not read so far, and the records in it.

    `changes` are those that are not counted so far.
    """

    rows: list[Interaction]
    time_us: int
    reads: frozenset[str]
    changes: StateCounts


class TraceIndex:
    """All requests of a trace by their content, the records in it, and its brokers."""

    def __init__(self, trace: Path) -> None:
        self.table = InteractionTable()
        self._entries_of_block = lru_cache(BLOCKS_IN_MEMORY)(_read_entries_of_block)
        self._decode_at = lru_cache(MESSAGES_IN_MEMORY)(self._read_message_at)
        self.topic_names: dict[bytes, str] = {}
        self.topics: set[str] = set()
        """Those that responses name."""
        self.brokers: dict[int, Address] = {}
        self.principals: set[str] = set()
        self.undecodable = 0
        self.count = 0
        self._ids = itertools.count(1)
        self._state: Counter[str] = Counter()
        self._segments: dict[str, int] = {}
        self._connections: dict[ConnectionId, int] = {}
        self._pending: dict[ConnectionId, dict[int, _PendingRequest]] = {}
        self._fetch_offsets: dict[ConnectionId, dict[tuple[str, int], int]] = {}
        """Of each connection, since incremental requests name only what changes."""
        self.fetch_settings: dict[str, list[Interaction]] = {}
        """By principal, a Fetch request with each combination of settings."""
        self._fetch_contents: set[tuple[str, bytes]] = set()
        self._last_empty: dict[tuple[str, str, int], tuple[int, ...]] = {}
        events = TraceEvents(trace)
        for event in events:
            self._add_event(event)
        for unanswered in self._pending.values():
            self.table.insert(row for request in unanswered.values() for row in request.rows)
        self.table.create_indexes()
        self.damage: list[Damage] = events.damage
        principals = {
            row.principal for row in self.table.select(_WITHOUT_SASL, ApiKey.SASL_HANDSHAKE)
        }
        self.principal_without_sasl = principals.pop() if len(principals) == 1 else None
        """None if it depends on the certificate, which a trace does not have."""
        del self._pending, self._fetch_offsets, self._fetch_contents, self._last_empty

    def _add_event(self, event: Event) -> None:
        self.principals.add(event.principal)
        pending = self._pending.setdefault(event.connection_id, {})
        number = event.entry.sequence
        try:
            if isinstance(event.entry, Request):
                self._add_request(event, event.entry, pending)
            elif isinstance(event.entry, Response) and number in pending:
                self._add_response(event, event.entry, pending.pop(number))
        except ProtocolError:
            self.undecodable += 1
        # a broker processes a request of a connection after its response to the one before it
        for first in islice(pending.values(), 1):
            self._count_changes(first.changes)

    def _add_request(
        self, event: Event, entry: Request, pending: dict[int, _PendingRequest]
    ) -> None:
        """Add a request to those that wait for a response, unless it gets none."""
        self.count += 1
        connection = self._connections.setdefault(event.connection_id, len(self._connections))
        sender = connection, event.principal, event.node_id
        row = Interaction(next(self._ids), self.count, *sender, self._encoded_position(event))
        try:
            header, message = read_request_frame(entry.frame)
        except ProtocolError:
            self.table.insert([row._replace(exact=frame_content(entry.frame))])
            raise
        key, version = header.api_key, header.api_version
        client = client_without_suffix(header.client_id)
        row = row._replace(client=client, api_key=key, version=version)
        reads, changes, records = frozenset[str](), StateCounts(), list[Interaction]()
        if key == ApiKey.PRODUCE:
            records = [*self._record_rows(row, message)]
            changes = Counter(topic_records_key(str(each.topic)) for each in records)
        elif key == ApiKey.FETCH:
            self._note_fetch_offsets(event.connection_id, message)
            settings = content_of_fields(key, settings_fields(message)).exact
            if (event.principal, settings) not in self._fetch_contents:
                self._fetch_contents.add((event.principal, settings))
                self.fetch_settings.setdefault(event.principal, []).append(row)
        else:
            fields = request_fields(message, version, self.topic_names)
            reads, changed = touched_state(key, message, fields)
            changes = dict.fromkeys(changed, 1)
            content = content_of_fields(key, fields)._asdict()
            sequence = "changes" if key in COUNTED_CHANGES else None
            row = row._replace(
                **content, sequence=sequence, encoded_state=self._encoded_state(reads)
            )
        if key == ApiKey.PRODUCE and message.acks == 0:
            self._count_changes(changes)
            self.table.insert([row, *records])
        else:
            request = _PendingRequest([row, *records], entry.time_us, reads, changes)
            pending[entry.sequence] = request

    def _record_rows(self, request: Interaction, message: Any) -> Iterator[Interaction]:
        for topic, partition, row in topic_partitions(message, self.topic_names):
            try:
                records = records_in_complete_batches(topic, partition, row.records)
            except ProtocolError:
                continue
            sequence = f"{topic}-{partition}"
            place = request._replace(topic=topic, partition=partition, sequence=sequence)
            for number, record in enumerate(records):
                content = content_of_fields(ApiKey.PRODUCE, record.fields)._asdict()
                yield place._replace(id=next(self._ids), number=number, **content)

    def _add_response(self, event: Event, entry: Response, request: _PendingRequest) -> None:
        """Add a request with its response; without one if it cannot be read."""
        self._count_changes(request.changes)
        rows = request.rows
        try:
            rows = self._rows_with_response(event, entry, request)
        finally:
            self.table.insert(rows)

    def _rows_with_response(
        self, event: Event, entry: Response, request: _PendingRequest
    ) -> list[Interaction]:
        (first, *records), key = request.rows, entry.api_key
        message: Any = None
        has_addresses = response_contains_broker_addresses(key)
        if has_addresses or key in NAMING_APIS or key == ApiKey.SASL_AUTHENTICATE:
            message, _ = read_response_with_version(key, entry.api_version, entry.frame)
        if key in NAMING_APIS:
            self.topic_names.update(topic_ids_with_names(message))
            self.topics.update(topic.name for topic in message.topics if not topic.error_code)
        for node_id, host, port in advertised_brokers(key, message) if has_addresses else ():
            self.brokers.setdefault(node_id, (host, port))
        first = first._replace(
            principal=event.principal,
            response_position=self._encoded_position(event),
            latency_us=entry.time_us - request.time_us,
            encoded_state=self._encoded_state(request.reads),
            error=getattr(message, "error_code", 0),
        )
        if key == ApiKey.FETCH:
            records = [*self._fetched_partitions(event.connection_id, message, first)]
        elif key == ApiKey.PRODUCE:
            records = [*self._records_with_offsets(records, message, first)]
        return [first, *records]

    def _records_with_offsets(
        self, records: Iterable[Interaction], response: Any, request: Interaction
    ) -> Iterator[Interaction]:
        offsets = {
            (topic, partition): row.base_offset
            for topic, partition, row in topic_partitions(response, self.topic_names)
            if row.error_code == 0 and row.base_offset >= 0
        }
        for record in records:
            base_offset = offsets.get((str(record.topic), record.partition))
            offset = -1 if base_offset is None else base_offset + record.number
            yield record._replace(
                response_position=request.response_position,
                latency_us=request.latency_us,
                offset=offset,
            )

    def _note_fetch_offsets(self, connection: ConnectionId, message: Any) -> None:
        """Remember the offsets that a request asks for, and those of its session."""
        if message.session_id == 0 or message.session_epoch <= 0:
            self._fetch_offsets[connection] = {}
        offsets = self._fetch_offsets.setdefault(connection, {})
        for topic, partition, row in topic_partitions(message, self.topic_names):
            offsets[topic, partition] = row.fetch_offset

    def _fetched_partitions(
        self, connection: ConnectionId, response: Any, request: Interaction
    ) -> Iterator[Interaction]:
        """Yield the partitions of a Fetch response, except repeated ones without records."""
        offsets = self._fetch_offsets.get(connection, {})
        for topic, partition, row in topic_partitions(response, self.topic_names):
            batches = [*complete_batches(row.records)]
            place = request.principal, topic, partition
            offset = offsets.get((topic, partition), -1)
            ends = row.error_code, row.high_watermark, row.last_stable_offset, offset
            if not batches and self._last_empty.get(place) == ends:
                continue
            self._last_empty[place] = () if batches else ends
            read_parts = [ADMIN_EXCEPT_TOPICS, topic_settings_key(topic)]
            if any(each.is_transactional for each in batches):
                read_parts.append(TRANSACTIONS)
            yield request._replace(
                id=next(self._ids),
                topic=topic,
                partition=partition,
                number=offset,
                offset=batches[-1].last_offset if batches else -1,
                error=row.error_code,
                encoded_state=self._encoded_state(read_parts),
            )

    def _encoded_position(self, event: Event) -> bytes:
        assert event.position is not None
        segment, block, number = event.position
        segment_number = self._segments.setdefault(segment, len(self._segments))
        return msgspec.msgpack.encode((segment_number, block, number))

    def _count_changes(self, changes: StateCounts) -> None:
        """Count changes once, and forget them."""
        self._state.update(changes)
        changes.clear()

    def _encoded_state(self, parts: Iterable[str]) -> bytes:
        return msgspec.msgpack.encode({part: self._state[part] for part in parts})

    def has_unreadable(self, frame: bytes) -> bool:
        """Return whether a request that cannot be read was recorded."""
        content = frame_content(frame)
        return self.table.first("exact=? and response_position is null", content) is not None

    def request(self, row: Interaction) -> Any:
        """Return the recorded request; callers must not change it."""
        return self._decode_at(row.request_position)

    def response(self, row: Interaction) -> Any:
        """Return the recorded response; callers must not change it. None if there is none."""
        if row.response_position is None:
            return None
        return self._decode_at(row.response_position)

    def response_partition(self, row: Interaction) -> Any:
        """Return the recorded response to a record or a fetched partition; None without any."""
        response = self.response(row)
        return None if response is None else self._row_of_partition(response, row)

    def record(self, row: Interaction) -> RecordContent:
        """Return a recorded record."""
        assert row.topic is not None
        blob = self._row_of_partition(self.request(row), row).records
        return records_in_complete_batches(row.topic, row.partition, blob)[row.number]

    def _row_of_partition(self, message: Any, place: Interaction) -> Any:
        for topic, partition, row in topic_partitions(message, self.topic_names):
            if (topic, partition) == (place.topic, place.partition):
                return row
        return None

    def fields(self, row: Interaction) -> list[ContentField]:
        """Return the fields of a recorded request or record."""
        if row.topic is not None:
            return self.record(row).fields
        return request_fields(self.request(row), row.version, self.topic_names)

    def _read_message_at(self, encoded_position: bytes) -> Any:
        position: _Position = msgspec.msgpack.decode(encoded_position, type=_Position)
        segment, block, number = position
        entry = self._entries_of_block([*self._segments][segment], block)[number]
        if isinstance(entry, Response):
            return read_response_with_version(entry.api_key, entry.api_version, entry.frame)[0]
        assert isinstance(entry, Request)
        return read_request_frame(entry.frame)[1]


def client_without_suffix(client_id: str | None) -> str:
    """Return a client id without the number or the random part that its program appends."""
    return _CLIENT_SUFFIX.sub("", client_id or "")


def frame_content(frame: bytes) -> bytes:
    """Return the content of a request that cannot be read: its bytes but the correlation id."""
    return digest(frame[:4], frame[8:])


def _read_entries_of_block(segment: str, position: int) -> list[Entry]:
    block = next(read_segment(Path(segment), position, position + 1))
    assert isinstance(block, Block)
    return block.body.entries
