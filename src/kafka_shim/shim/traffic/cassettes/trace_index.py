"""An index of the requests in a trace, so that a trace of any size is played in bounded memory.

Messages are read from the trace when they are needed.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.request_frames import read_request_frame
from kafka_shim.protocol.response_frames import read_response_and_its_version
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.protocol.trace.entries import Entry, Request, Response
from kafka_shim.protocol.trace.segments import Block, Damage, read_segment
from kafka_shim.shim.traffic.cassettes.index_tables import (
    FetchedPartition,
    IndexTables,
    Interaction,
    encode_state,
)
from kafka_shim.shim.traffic.cassettes.record_content import (
    RecordContent,
    complete_batch_ranges,
    records_in_complete_batches,
)
from kafka_shim.shim.traffic.cassettes.request_content import (
    ContentField,
    content_of_fields,
    request_fields,
)
from kafka_shim.shim.traffic.cassettes.touched_state import (
    ADMIN_EXCEPT_TOPICS,
    COUNTED_CHANGES,
    TRANSACTIONS,
    StateCounts,
    records_of_topic,
    settings_of_topic,
    touched_state,
)
from kafka_shim.shim.traffic.identities.message_fields import topic_partitions
from kafka_shim.shim.traffic.proxy.client_listeners import Address
from kafka_shim.shim.traffic.proxy.response_addresses import (
    advertised_brokers,
    response_contains_broker_addresses,
)
from kafka_shim.shim.traffic.replay.events import ConnectionId, Event, TraceEvents

BLOCKS_IN_MEMORY = 4
MESSAGES_IN_MEMORY = 2_000
_FETCHES_MAX = 50

_Position = tuple[int, int, int]
"""Of an entry: the number of its segment, its block's position there, and its number there."""


class _PendingRequest(NamedTuple):
    """A request whose response was not read so far; `last_id` is that of its last record.

    `changes` are those that are not counted so far.
    """

    id: int
    last_id: int
    message: Any
    reads: frozenset[str]
    changes: StateCounts


class TraceIndex:
    """All requests of a trace by their content, the records in it, and its brokers."""

    def __init__(self, trace: Path) -> None:
        self._entries_of_block = lru_cache(BLOCKS_IN_MEMORY)(_read_entries_of_block)
        self._decode_at = lru_cache(MESSAGES_IN_MEMORY)(self._read_message_at)
        self._tables = IndexTables()
        self.topic_names: dict[bytes, str] = {}
        self.brokers: dict[int, Address] = {}
        self.principals: set[str] = set()
        self.undecodable = 0
        self.count = self.last_id = 0
        self._state: StateCounts = {}
        self._segments: dict[str, int] = {}
        self._connections: dict[ConnectionId, int] = {}
        self._principals_without_sasl: dict[ConnectionId, str] = {}
        self._pending: dict[ConnectionId, dict[int, _PendingRequest]] = {}
        self._fetch_offsets: dict[ConnectionId, dict[tuple[str, int], int]] = {}
        """Of each connection, since incremental requests name only what changes."""
        self._last_empty: dict[tuple[str, str, int], tuple[object, ...]] = {}
        events = TraceEvents(trace)
        for event in events:
            self._add_event(event)
        self.damage: list[Damage] = [each for each in events.damage if not each.is_tail]
        sasl_connections = {
            each.connection for each in self.of_api(ApiKey.SASL_HANDSHAKE, self.count)
        }
        principals = {
            principal
            for connection, principal in self._principals_without_sasl.items()
            if self._connections.get(connection) not in sasl_connections
        }
        self.principal_without_sasl = principals.pop() if len(principals) == 1 else None
        """None if it depends on the certificate, which a trace does not have."""
        self._tables.create_indexes()
        del self._pending, self._principals_without_sasl, self._fetch_offsets, self._last_empty

    def _add_event(self, event: Event) -> None:
        self.principals.add(event.principal)
        self._principals_without_sasl[event.connection_id] = event.principal
        pending = self._pending.setdefault(event.connection_id, {})
        number = event.entry.sequence
        try:
            if isinstance(event.entry, Request):
                pending[number] = self._add_request(event, event.entry.frame)
            elif isinstance(event.entry, Response) and number in pending:
                request = pending.pop(number)
                self._count_changes(request.changes)
                self._add_response(event, event.entry, request)
        except ProtocolError:
            self.undecodable += 1
        # a broker processes a request of a connection after its response to the one before it
        for first in islice(pending.values(), 1):
            self._count_changes(first.changes)

    def _add_request(self, event: Event, frame: bytes) -> _PendingRequest:
        header, message = read_request_frame(frame)
        self.count += 1
        interaction = Interaction(
            self._next_id(),
            self.count,
            self._connections.setdefault(event.connection_id, len(self._connections)),
            event.principal,
            header.client_id or "",
            event.node_id,
            header.api_version,
            self._encoded_position(event),
        )
        reads: frozenset[str] = frozenset()
        changes: StateCounts = {}
        if header.api_key == ApiKey.PRODUCE:
            changes = self._add_records(interaction, message)
        elif header.api_key == ApiKey.FETCH:
            self._note_fetch_offsets(event.connection_id, message)
        else:
            fields = request_fields(message, header.api_version, self.topic_names)
            reads, changed = touched_state(header.api_key, message, fields)
            changes = dict.fromkeys(changed, 1)
            exact, loose = content_of_fields(header.api_key, fields)
            sequence = "changes" if header.api_key in COUNTED_CHANGES else None
            state = self._encoded_state(reads)
            interaction = interaction._replace(
                exact=exact, loose=loose, sequence=sequence, encoded_state=state
            )
        self._tables.insert([interaction._replace(api_key=header.api_key)])
        return _PendingRequest(interaction.id, self.last_id, message, reads, changes)

    def _next_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def _add_records(self, request: Interaction, message: Any) -> StateCounts:
        """Add the records of a Produce request; return their number by topic."""
        counts: StateCounts = {}
        rows = topic_partitions(message.topic_data, self.topic_names, "partition_data")
        for topic, row in rows:
            try:
                records = records_in_complete_batches(topic, row.index, row.records)
            except ProtocolError:
                continue
            partition = request._replace(
                topic=topic, partition=row.index, sequence=f"{topic}-{row.index}"
            )
            interactions = []
            for number, record in enumerate(records):
                exact, loose = record.content
                interactions.append(
                    partition._replace(id=self._next_id(), exact=exact, loose=loose, number=number)
                )
            self._tables.insert(interactions)
            part = records_of_topic(topic)
            counts[part] = counts.get(part, 0) + len(records)
        return counts

    def _add_response(self, event: Event, entry: Response, request: _PendingRequest) -> None:
        state, position = self._encoded_state(request.reads), self._encoded_position(event)
        self._tables.execute(
            "update Interaction set principal=?, encoded_state=?, response_position=? where id=?",
            (event.principal, state, position, request.id),
        )
        key = entry.api_key
        has_addresses = response_contains_broker_addresses(key)
        if key not in NAMING_APIS and not has_addresses:
            return
        message, _ = read_response_and_its_version(key, entry.api_version, entry.frame)
        if key in NAMING_APIS:
            self.topic_names.update(topic_ids_with_names(message))
        for node_id, host, port in advertised_brokers(key, message) if has_addresses else ():
            self.brokers.setdefault(node_id, (host, port))
        if key == ApiKey.PRODUCE:
            self._add_offsets(event, message, request)
        elif key == ApiKey.FETCH:
            self._add_fetched_partitions_except_repeated_empty_ones(event, message, request)

    def _add_offsets(self, event: Event, response: Any, request: _PendingRequest) -> None:
        for topic, row in topic_partitions(
            response.responses, self.topic_names, "partition_responses"
        ):
            offset = row.base_offset if row.error_code == 0 and row.base_offset >= 0 else None
            self._tables.execute(
                "update Interaction set response_position=?, offset=coalesce(?+number, -1)"
                " where id>? and id<=? and topic=? and partition=?",
                (self._encoded_position(event), offset, *request[:2], topic, row.index),
            )

    def _note_fetch_offsets(self, connection: ConnectionId, message: Any) -> None:
        """Remember the offsets that a request asks for, and those of its session."""
        if message.session_id == 0 or message.session_epoch <= 0:
            self._fetch_offsets[connection] = {}
        offsets = self._fetch_offsets.setdefault(connection, {})
        for topic, row in topic_partitions(message.topics, self.topic_names, "partitions"):
            offsets[topic, row.partition] = row.fetch_offset

    def _add_fetched_partitions_except_repeated_empty_ones(
        self, event: Event, response: Any, request: _PendingRequest
    ) -> None:
        offsets = self._fetch_offsets.get(event.connection_id, {})
        for topic, row in topic_partitions(response.responses, self.topic_names, "partitions"):
            ranges = complete_batch_ranges(row.records or b"")
            place = topic, row.partition_index
            ends = (
                row.error_code,
                row.high_watermark,
                row.last_stable_offset,
                row.log_start_offset,
            )
            if not ranges and self._last_empty.get((event.principal, *place)) == ends:
                continue
            self._last_empty[event.principal, *place] = () if ranges else ends
            is_transactional = any(each.is_transactional for each in ranges)
            fetched = FetchedPartition(
                self._next_id(),
                request.id,
                event.principal,
                *place,
                offsets.get(place, -1),
                ranges[-1].last_offset if ranges else -1,
                row.error_code,
                self._encoded_state((ADMIN_EXCEPT_TOPICS, settings_of_topic(topic))),
                self._state.get(TRANSACTIONS, 0) if is_transactional else 0,
            )
            self._tables.insert([fetched])

    def _encoded_position(self, event: Event) -> bytes:
        assert event.position is not None
        segment, block, number = event.position
        segment_number = self._segments.setdefault(segment, len(self._segments))
        return msgspec.msgpack.encode((segment_number, block, number))

    def _count_changes(self, changes: StateCounts) -> None:
        """Count changes once, and forget them."""
        while changes:
            part, count = changes.popitem()
            self._state[part] = self._state.get(part, 0) + count

    def _encoded_state(self, parts: Iterable[str]) -> bytes:
        return encode_state({part: self._state.get(part, 0) for part in parts})

    def with_content(
        self, content: bytes, first_id: int, *, is_exact: bool, earlier: int = 0
    ) -> Iterator[Interaction]:
        """Yield what was recorded with this content from `first_id` on, in recorded order.

        Before it come up to `earlier` ones that precede `first_id`.
        """
        column = "exact" if is_exact else "loose"
        find = partial(self._tables.select, Interaction)
        if earlier:
            before = f"{column}=? and id<? order by id desc limit ?"
            yield from reversed([*find(before, content, first_id, earlier)])
        yield from find(f"{column}=? and id>=? order by id", content, first_id)

    def of_api(self, api_key: int, limit: int) -> Iterator[Interaction]:
        """Yield up to `limit` requests of an API, in recorded order."""
        return self._tables.select(Interaction, "api_key=? order by id limit ?", api_key, limit)

    def records(self, topic: str, limit: int) -> Iterator[Interaction]:
        """Yield up to `limit` produced records of a topic; of any topic if it has none."""
        if any(self._tables.select(Interaction, "topic=? limit 1", topic)):
            return self._tables.select(Interaction, "+topic=? order by id limit ?", topic, limit)
        return self._tables.select(Interaction, "topic is not null order by id limit ?", limit)

    def record_ids_at_offsets(
        self, topic: str, partition: int, first: int, last: int
    ) -> Iterator[int]:
        """Yield the ids of the records that were produced with these offsets."""
        condition = "topic=? and partition=? and offset between ? and ?"
        for row in self._tables.select(Interaction, condition, topic, partition, first, last):
            yield row.id

    def preceding_in_sequence(self, interaction: Interaction) -> Interaction | None:
        """Return the change, or the record of the partition, before one on its connection."""
        condition = "connection=? and sequence=? and id<? order by id desc limit 1"
        place = interaction.connection, interaction.sequence, interaction.id
        return next(self._tables.select(Interaction, condition, *place), None)

    def all_in_sequences(self) -> Iterator[Interaction]:
        """Yield all changes and records."""
        return self._tables.select(Interaction, "sequence is not null order by id")

    def interaction(self, number: int) -> Interaction:
        """Return a request or record by its id."""
        return next(self._tables.select(Interaction, "id=?", number))

    def last_fetched_without_error(
        self, topic: str, partition: int, principal: str | None
    ) -> FetchedPartition | None:
        """Return the last row without an error that a principal got of a partition."""
        place = "topic=? and partition=? and error=0 and principal=coalesce(?, principal)"
        query = f"{place} order by id desc limit 1"
        return next(self._tables.select(FetchedPartition, query, topic, partition, principal), None)

    def has_fetched(self, topic: str, principal: str | None) -> bool:
        """Return whether a principal fetched any partition of a topic."""
        query = "topic=? and principal=coalesce(?, principal) limit 1"
        return any(self._tables.select(FetchedPartition, query, topic, principal))

    def fetched_errors(self, topic: str, partition: int) -> Iterator[FetchedPartition]:
        """Yield the errors that Fetch responses had of a partition, in recorded order."""
        query = "error!=0 and topic=? and partition=? order by id"
        return self._tables.select(FetchedPartition, query, topic, partition)

    def fetched_reaching_offset(
        self, topic: str, partition: int, offset: int
    ) -> Iterator[FetchedPartition]:
        """Yield the fetched partitions that have the record with this offset or a later one."""
        query = (
            "topic=? and partition=? and last_offset>=? and error=0"
            f" order by last_offset, id limit {_FETCHES_MAX}"
        )
        return self._tables.select(FetchedPartition, query, topic, partition, offset)

    def request(self, interaction: Interaction) -> Any:
        """Return the recorded request; callers must not change it."""
        return self._decode_at(interaction.request_position)

    def response(self, interaction: Interaction) -> Any:
        """Return the recorded response; callers must not change it. None if there is none."""
        if interaction.response_position is None:
            return None
        return self._decode_at(interaction.response_position)

    def record(self, interaction: Interaction) -> RecordContent:
        """Return a recorded record."""
        assert interaction.topic is not None
        rows = topic_partitions(
            self.request(interaction).topic_data, self.topic_names, "partition_data"
        )
        blob = _row_of_partition(rows, interaction.topic, interaction.partition, "index").records
        records = records_in_complete_batches(interaction.topic, interaction.partition, blob)
        return records[interaction.number]

    def produced_partition(self, record: Interaction) -> Any:
        """Return the row of the recorded response that a record is in; None without any."""
        response = self.response(record)
        if response is None or record.topic is None:
            return None
        rows = topic_partitions(response.responses, self.topic_names, "partition_responses")
        return _row_of_partition(rows, record.topic, record.partition, "index")

    def fetched_partition(self, row: FetchedPartition) -> Any:
        """Return a row of a recorded Fetch response."""
        response = self.response(self.interaction(row.request_id))
        rows = topic_partitions(response.responses, self.topic_names, "partitions")
        return _row_of_partition(rows, row.topic, row.partition, "partition_index")

    def fields(self, interaction: Interaction) -> list[ContentField]:
        """Return the fields of a recorded request or record."""
        if interaction.topic is not None:
            return self.record(interaction).fields
        return request_fields(self.request(interaction), interaction.version, self.topic_names)

    def latency_s(self, interaction: Interaction) -> float:
        """Return how long the response to a recorded request took."""
        if interaction.response_position is None:
            return 0
        positions = interaction.response_position, interaction.request_position
        ends_us, began_us = (self._entry_at(each).time_us for each in positions)
        return (ends_us - began_us) / 1_000_000

    def _entry_at(self, encoded_position: bytes) -> Entry:
        position: _Position = msgspec.msgpack.decode(encoded_position, type=_Position)
        segment, block, number = position
        entries: list[Entry] = self._entries_of_block([*self._segments][segment], block)
        return entries[number]

    def _read_message_at(self, encoded_position: bytes) -> Any:
        entry = self._entry_at(encoded_position)
        if isinstance(entry, Response):
            return read_response_and_its_version(entry.api_key, entry.api_version, entry.frame)[0]
        assert isinstance(entry, Request)
        return read_request_frame(entry.frame)[1]


def _row_of_partition(
    rows: Iterable[tuple[str, Any]], topic: str, partition: int, number_field: str
) -> Any:
    return next(
        row for name, row in rows if name == topic and getattr(row, number_field) == partition
    )


def _read_entries_of_block(segment: str, position: int) -> list[Entry]:
    block = next(read_segment(Path(segment), position, position + 1))
    assert isinstance(block, Block)
    return block.body.entries
