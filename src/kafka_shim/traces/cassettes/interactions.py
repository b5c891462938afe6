"""What was recorded, in a table of a temporary SQLite database: hashes and positions only."""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.code_names import api_name_or_key
from kafka_shim.traces.cassettes.touched_state import StateCounts

_INDEXES = """
create index by_exact on Interaction (exact, is_played, id) where exact is not null;
create index by_loose on Interaction (loose, is_played, id) where loose is not null;
create index by_api on Interaction (api_key, id) where topic is null;
create index by_sequence on Interaction (connection, sequence, id) where sequence is not null;
create index by_offset on Interaction (topic, partition, api_key, offset) where topic is not null;
create index by_fetch on Interaction (topic, partition, error, id) where api_key=1;
create index by_error on Interaction (topic, partition, id) where error!=0;
"""


class Interaction(NamedTuple):
    """A recorded request with its response, or a partition of one.

    The latter has `topic` and `partition`: it is a record in a Produce request, with its number
    there, or a partition of a Fetch response, with the offset that was asked for as `number`.
    `offset` is that of the record, or of the last fetched one; -1 without any. `sequence` is what
    it has an order in, on its connection.
    """

    id: int
    request_number: int
    connection: int
    principal: str
    node_id: int
    request_position: bytes
    client: str = ""
    api_key: int = -1
    version: int = -1
    response_position: bytes | None = None
    latency_us: int = 0
    exact: bytes | None = None
    loose: bytes | None = None
    sequence: str | None = None
    encoded_state: bytes = msgspec.msgpack.encode({})
    topic: str | None = None
    partition: int = -1
    number: int = -1
    offset: int = -1
    error: int = 0
    is_played: bool = False

    @property
    def state(self) -> StateCounts:
        """The changes that precede the response, of the parts that the request depends on."""
        return msgspec.msgpack.decode(self.encoded_state, type=StateCounts)

    @property
    def name(self) -> str:
        """The API and version, such as `Metadata v9`."""
        return f"{api_name_or_key(self.api_key)} v{self.version}"

    def __str__(self) -> str:
        record = "" if self.topic is None else f", record of {self.topic}-{self.partition}"
        return (
            f"request {self.request_number} of the recording ({self.name} of {self.principal},"
            f" connection {self.connection}{record})"
        )


class InteractionTable:
    """All interactions; the columns of the table are their fields."""

    def __init__(self) -> None:
        self._database = sqlite3.connect("")  # SQLite's own temporary file, once it is large
        columns = ", ".join(Interaction._fields[1:])
        self._database.execute(f"create table Interaction (id integer primary key, {columns})")
        marks = ", ".join("?" * len(Interaction._fields))
        self._insertion = f"insert into Interaction values ({marks})"  # noqa: S608 - our own texts

    def insert(self, rows: Iterable[Interaction]) -> None:
        self._database.executemany(self._insertion, rows)

    def create_indexes(self) -> None:
        """Prepare for `select`, once all rows are inserted."""
        self._database.executescript(_INDEXES)

    def select(self, condition: str, *values: Any) -> Iterator[Interaction]:
        """Yield the rows that satisfy a condition of SQL, in its order."""
        query = f"select * from Interaction where {condition}"  # noqa: S608 - our own texts
        return map(Interaction._make, self._database.execute(query, values))

    def first(self, condition: str, *values: Any) -> Interaction | None:
        """Return the first row that satisfies a condition of SQL; None without any."""
        return next(self.select(f"{condition} limit 1", *values), None)

    def set_played(self, row: Interaction, *, is_played: bool = True) -> None:
        """Note that a request or record was sent by a client, or a partition sent to one."""
        change = "update Interaction set is_played=? where id=?"
        self._database.execute(change, (is_played, row.id))
