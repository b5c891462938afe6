"""The tables of a trace's index, in a temporary SQLite database: hashes and positions only."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.traffic.cassettes.touched_state import StateCounts

_INDEXES = """
create index by_exact on Interaction (exact, id) where exact is not null;
create index by_loose on Interaction (loose, id) where loose is not null;
create index by_api on Interaction (api_key, id) where api_key is not null;
create index by_sequence on Interaction (connection, sequence, id) where sequence is not null;
create index by_offset on Interaction (topic, partition, offset) where topic is not null;
create index by_fetched on FetchedPartition (topic, partition, last_offset);
create index by_end on FetchedPartition (topic, partition, error, id);
create index by_error on FetchedPartition (topic, partition, id) where error!=0;
"""


class Interaction(NamedTuple):
    """A recorded request with its response, or a record in a Produce request.

    `sequence` is what it has an order in, on its connection. Records have `topic` and the fields
    after it, but no API; `offset` is -1 if the record was rejected.
    """

    id: int
    request_number: int
    connection: int
    principal: str
    client_id: str
    node_id: int
    version: int
    request_position: bytes
    api_key: int | None = None
    exact: bytes | None = None
    loose: bytes | None = None
    sequence: str | None = None
    encoded_state: bytes | None = None
    response_position: bytes | None = None
    topic: str | None = None
    partition: int = -1
    number: int = -1
    offset: int = -1

    @property
    def state(self) -> StateCounts:
        """The changes that precede the response, of the parts that the request depends on."""
        return decode_state(self.encoded_state)

    @property
    def name(self) -> str:
        """The API and version, such as `Metadata v9`."""
        key = ApiKey.PRODUCE if self.api_key is None else self.api_key
        return f"{api_name_or_key(key)} v{self.version}"

    def __str__(self) -> str:
        record = "" if self.topic is None else f", record of {self.topic}-{self.partition}"
        return (
            f"request {self.request_number} of the recording ({self.name} of {self.principal},"
            f" connection {self.connection}{record})"
        )


class FetchedPartition(NamedTuple):
    """A partition of a recorded Fetch response; `last_offset` is -1 without records.

    `transactions` is the number of those that had ended, if it has records of any.
    """

    id: int
    request_id: int
    principal: str
    topic: str
    partition: int
    fetch_offset: int
    last_offset: int
    error: int
    encoded_state: bytes
    transactions: int

    @property
    def state(self) -> StateCounts:
        """The preceding changes of the topic's settings."""
        return decode_state(self.encoded_state)


_Row = TypeVar("_Row", Interaction, FetchedPartition)


class IndexTables:
    """A table for each type of rows, whose columns are the fields of the type."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")  # SQLite's own temporary file, once it is large
        self.execute = self._database.execute
        for row_type in (Interaction, FetchedPartition):
            columns = ", ".join(row_type._fields[1:])
            self.execute(f"create table {row_type.__name__} (id integer primary key, {columns})")

    def insert(self, rows: Sequence[_Row]) -> None:
        """Add rows of one type."""
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            query = f"insert into {type(rows[0]).__name__} values ({marks})"  # noqa: S608 - our own texts
            self._database.executemany(query, rows)

    def create_indexes(self) -> None:
        """Prepare for `select`, once all rows are added."""
        self._database.executescript(_INDEXES)

    def select(self, row_type: type[_Row], condition: str, *values: object) -> Iterator[_Row]:
        """Yield the rows that satisfy a condition of SQL, in its order."""
        query = f"select * from {row_type.__name__} where {condition}"  # noqa: S608 - our own texts
        return map(row_type._make, self.execute(query, values))


def encode_state(state: StateCounts) -> bytes:
    """Return how often parts were changed, as in a row."""
    return msgspec.msgpack.encode(state)


def decode_state(encoded: bytes | None) -> StateCounts:
    """Return how often parts were changed."""
    return {} if encoded is None else msgspec.msgpack.decode(encoded, type=StateCounts)
