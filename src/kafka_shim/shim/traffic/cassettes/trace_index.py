"""An index of the requests in a trace, so that a trace of any size is played in bounded memory.

It is a temporary SQLite database, which holds hashes and positions only; messages are read from
the trace when they are needed.
"""

import sqlite3
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.response_frames import read_response_and_its_version
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.protocol.trace.entries import Entry, Request, Response
from kafka_shim.protocol.trace.segments import Block, Damage, read_segment
from kafka_shim.shim.traffic.cassettes.partition_index import FetchSource, PartitionIndex
from kafka_shim.shim.traffic.cassettes.request_content import (
    CHANGES,
    Content,
    TouchedState,
    request_content,
    state_name_of_topic_records,
    touched_state,
)
from kafka_shim.shim.traffic.proxy.response_addresses import (
    advertised_brokers,
    response_contains_broker_addresses,
)
from kafka_shim.shim.traffic.replay.events import ConnectionId, EntryPosition, Event, TraceEvents

BLOCKS_IN_MEMORY = 4
MESSAGES_IN_MEMORY = 2_000
EARLIER_MAX = 50
LATER_MAX = 150
"""How many requests with the same content are considered, before and after the first unplayed."""

_TABLES = """
create table interactions (
    id integer primary key, connection integer, principal text, client_id text, node_id integer,
    api integer, version integer, exact blob, loose blob, state blob,
    request_segment text, request_block integer, request_index integer,
    response_segment text, response_block integer, response_index integer);
"""
_INDEXES = """
create index by_exact on interactions (exact, id);
create index by_loose on interactions (loose, id);
create index by_api on interactions (api, id);
create index by_connection on interactions (connection, id);
"""

StateCounts = dict[str, int]
"""How often each part of the state had been changed."""


class Interaction(NamedTuple):
    """A recorded request with its response, as the index has it.

    `state` has the changes that precede the response of the parts that the request depends on.
    """

    id: int
    connection: int
    principal: str
    client_id: str
    node_id: int
    api_key: int
    version: int
    exact: bytes
    loose: bytes
    state: StateCounts
    request_position: EntryPosition
    response_position: EntryPosition | None

    @property
    def name(self) -> str:
        """The API and version, such as `Produce v9`."""
        return f"{api_name_or_key(self.api_key)} v{self.version}"


class RecordedBroker(NamedTuple):
    """A broker that responses of the recording name."""

    host: str
    port: int


class _PendingRequest(NamedTuple):
    """A request whose response was not read so far."""

    id: int
    header: RequestHeader
    message: Any
    touched: TouchedState


class TraceIndex:
    """All requests of a trace by their content, the records in it, and its brokers."""

    def __init__(self, trace: Path, progress: Callable[[int], None] = lambda _: None) -> None:
        self._entries_of_block = lru_cache(BLOCKS_IN_MEMORY)(_read_entries_of_block)
        self._decode_at = lru_cache(MESSAGES_IN_MEMORY)(self._read_message_at)
        self._database = sqlite3.connect("")  # SQLite's own temporary file, once it is large
        self._database.executescript(_TABLES)
        self.partitions = PartitionIndex(self._database)
        self.topic_names: dict[bytes, str] = {}
        self.brokers: dict[int, RecordedBroker] = {}
        self.principals: set[str] = set()
        self._principals_without_sasl: dict[ConnectionId, str] = {}
        self._sasl_connections: set[ConnectionId] = set()
        self.undecodable = 0
        self.count = 0
        self._state: StateCounts = {}
        self._connections: dict[ConnectionId, int] = {}
        self._pending: dict[tuple[ConnectionId, int], _PendingRequest] = {}
        events = TraceEvents(trace, progress)
        for event in events:
            self._add_event(event)
        self.damage: list[Damage] = [each for each in events.damage if not each.is_tail]
        principals = {
            principal
            for connection, principal in self._principals_without_sasl.items()
            if connection not in self._sasl_connections
        }
        self.principal_without_sasl = principals.pop() if len(principals) == 1 else None
        """None if it depends on the certificate, which a trace does not have."""
        del self._pending, self._state, self._principals_without_sasl, self._sasl_connections
        self._database.executescript(_INDEXES)
        self.partitions.finish_adding_by_creating_indexes()

    def _add_event(self, event: Event) -> None:
        self.principals.add(event.principal)
        self._principals_without_sasl[event.connection_id] = event.principal
        match event.entry:
            case Request():
                self._add_request(event, event.entry)
            case Response():
                self._add_response_names_brokers_and_partitions(event, event.entry)

    def _add_request(self, event: Event, entry: Request) -> None:
        try:
            header, at = read_request_header(entry.frame)
            message = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
        except ProtocolError:
            self.undecodable += 1
            return
        self.count += 1
        content = request_content(message, self.topic_names)
        touched = touched_state(header.api_key, message, self.topic_names)
        if header.api_key == ApiKey.SASL_HANDSHAKE:
            self._sasl_connections.add(event.connection_id)
        connection = self._connections.setdefault(event.connection_id, len(self._connections))
        assert event.position is not None
        self._database.execute(
            "insert into interactions values (?,?,?,?,?,?,?,?,?,?,?,?,?,null,null,null)",
            (
                *(self.count, connection, event.principal, header.client_id or ""),
                *(event.node_id, header.api_key, header.api_version, *content),
                *(self._encoded_change_counts_of_parts_read(touched), *event.position),
            ),
        )
        for part, changes in touched.changes.items():
            self._state[part] = self._state.get(part, 0) + changes
        if header.api_key == ApiKey.PRODUCE:
            counts = self.partitions.add_produce_request(
                self.count, connection, message, self.topic_names
            )
            for topic, count in counts.items():
                part = state_name_of_topic_records(topic)
                self._state[part] = self._state.get(part, 0) + count
        elif header.api_key == ApiKey.FETCH:
            self.partitions.note_requested_fetch_offsets(connection, message, self.topic_names)
        key = event.connection_id, entry.sequence
        self._pending[key] = _PendingRequest(self.count, header, message, touched)

    def _add_response_names_brokers_and_partitions(self, event: Event, entry: Response) -> None:
        request = self._pending.pop((event.connection_id, entry.sequence), None)
        if request is None:
            return
        assert event.position is not None
        self._database.execute(
            "update interactions set principal=?, state=?, response_segment=?, response_block=?,"
            " response_index=? where id=?",
            (
                event.principal,
                self._encoded_change_counts_of_parts_read(request.touched),
                *event.position,
                request.id,
            ),
        )
        key = entry.api_key
        if not (
            key in NAMING_APIS
            or key in (ApiKey.PRODUCE, ApiKey.FETCH)
            or response_contains_broker_addresses(key)
        ):
            return
        try:
            message, _ = read_response_and_its_version(key, entry.api_version, entry.frame)
        except ProtocolError:
            self.undecodable += 1
            return
        if key in NAMING_APIS:
            self.topic_names.update(topic_ids_with_names(message))
        if response_contains_broker_addresses(key):
            for node_id, host, port in advertised_brokers(key, message):
                self.brokers.setdefault(node_id, RecordedBroker(host, port))
        if key == ApiKey.PRODUCE:
            self.partitions.add_produce_response(request.id, message, self.topic_names)
        elif key == ApiKey.FETCH:
            source = FetchSource(
                request.id, self._connections[event.connection_id], event.principal
            )
            self.partitions.add_fetch_response_folding_repeated_empty_rows(
                source, request.message, message, self.topic_names
            )

    def _encoded_change_counts_of_parts_read(self, touched: TouchedState) -> bytes:
        return msgspec.msgpack.encode({part: self._state.get(part, 0) for part in touched.reads})

    def with_content(self, content: Content, first_id: int, *, is_exact: bool) -> list[Interaction]:
        """Return the interactions whose request has this content, in recorded order.

        Of many, only those around `first_id`.
        """
        column, value = ("exact", content.exact) if is_exact else ("loose", content.loose)
        earlier = self._select(
            f"{column}=? and id<? order by id desc limit {EARLIER_MAX}", value, first_id
        )
        later = self._select(f"{column}=? and id>=? order by id limit {LATER_MAX}", value, first_id)
        return [*reversed([*earlier]), *later]

    def of_api(self, api_key: int, limit: int) -> Iterator[Interaction]:
        """Yield up to `limit` interactions of an API, in recorded order."""
        return self._select("api=? order by id limit ?", api_key, limit)

    def earlier_changes_except_produce(self, interaction: Interaction) -> Iterator[Interaction]:
        """Yield the changes before an interaction on its connection, the latest first."""
        keys = ",".join(str(int(key)) for key in CHANGES - {ApiKey.PRODUCE})
        return self._select(
            f"connection=? and id<? and api in ({keys}) order by id desc",
            *(interaction.connection, interaction.id),
        )

    def interaction(self, number: int) -> Interaction:
        """Return an interaction by its id."""
        return next(self._select("id=?", number))

    def all_of_apis(self, api_keys: frozenset[int]) -> Iterator[Interaction]:
        """Yield all interactions of some APIs."""
        keys = ",".join(str(int(key)) for key in api_keys)
        return self._select(f"api in ({keys}) order by id")

    def _select(self, condition: str, *values: object) -> Iterator[Interaction]:
        query = f"select * from interactions where {condition}"  # noqa: S608 - our own texts
        for row in self._database.execute(query, values):
            state = msgspec.msgpack.decode(row[9], type=StateCounts)
            request = EntryPosition(*row[10:13])
            response = None if row[13] is None else EntryPosition(*row[13:16])
            yield Interaction._make([*row[:9], state, request, response])

    def request(self, interaction: Interaction) -> Any:
        """Return the recorded request; callers must not change it."""
        return self._decode_at(interaction.request_position)

    def response(self, interaction: Interaction) -> Any:
        """Return the recorded response; callers must not change it. None if there is none."""
        if interaction.response_position is None:
            return None
        return self._decode_at(interaction.response_position)

    def time_us(self, position: EntryPosition) -> int:
        """Return the time of a recorded entry in microseconds."""
        return self._entry_at(position).time_us

    def _entry_at(self, position: EntryPosition) -> Entry:
        return self._entries_of_block(position.segment, position.block)[position.number]

    def _read_message_at(self, position: EntryPosition) -> Any:
        entry = self._entry_at(position)
        if isinstance(entry, Response):
            return read_response_and_its_version(entry.api_key, entry.api_version, entry.frame)[0]
        assert isinstance(entry, Request)
        header, at = read_request_header(entry.frame)
        return codecs.read_request(header.api_key, header.api_version, entry.frame, at)


def _read_entries_of_block(segment: str, position: int) -> list[Entry]:
    block = next(read_segment(Path(segment), position, position + 1))
    assert isinstance(block, Block)
    return block.body.entries
