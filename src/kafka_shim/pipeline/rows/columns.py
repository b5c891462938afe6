"""Shared by the row builders: columns being filled, the selection, open requests."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from kafka_shim.pipeline.rows.fetch_sessions import FetchSessions
from kafka_shim.trace_format.entries import Connection
from kafka_shim.trace_format.segments import Block

if TYPE_CHECKING:
    from kafka_shim.pipeline.rows.access_row import AccessRow
    from kafka_shim.pipeline.rows.derived_accesses import UnansweredRequest
    from kafka_shim.pipeline.rows.existence import ObservedEntity

CONNECTION_COLUMNS = frozenset(
    {
        *("writer", "connection", "node_id", "listener", "principal", "host", "port"),
        *("software_name", "software_version"),
    }
)
"""Columns that are the same in all rows about one connection."""

ConnectionValues = Mapping[str, Any]
"""What all rows about one connection have in common: values of `CONNECTION_COLUMNS`."""

_WRITER = re.compile(r"(.+)-\d{8}\.ktrace")


class AccessCounter(Protocol):
    """Counts what is equal in the accesses of requests; accesses with an unknown decision are only
    in the table `accesses`.
    """

    boundary_times: Collection[int]
    """The times of a block's first and last entry: a logged request may go on in the next block."""

    def __len__(self) -> int:
        """Return the number of distinct ones."""
        ...

    def count(self, connection_values: ConnectionValues, accesses: "Iterable[AccessRow]") -> None:
        """Count accesses of one connection, each request's one after the other."""
        ...

    def take_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield a row for each distinct one, and begin anew."""
        ...


class SplitState:
    """Requests without a response so far.

    `sent` has their time and client id, `named_entities` their time and the names in them that
    their responses may show to exist. `planned` are requests whose accesses are derived, with the
    values of their connections; `silent` are those of them that get no response, by connection.
    `sessions` are the fetch sessions so far. `counter` counts equal accesses or requests, if only
    their numbers are wanted.
    """

    def __init__(self, counter: AccessCounter | None = None) -> None:
        self.sent: dict[tuple[int, int], tuple[int, str | None]] = {}
        self.named_entities: dict[tuple[int, int], tuple[int, list[ObservedEntity]]] = {}
        self.frames: dict[tuple[int, int], bytes] = {}
        self.planned: dict[tuple[int, int], tuple[ConnectionValues, UnansweredRequest]] = {}
        self.silent: dict[
            int, dict[tuple[int, int], tuple[ConnectionValues, UnansweredRequest]]
        ] = {}
        self.sessions = FetchSessions()
        self.counter = counter


class ColumnBuilder:
    """Values by column, for the next batch; values of columns that are not wanted are ignored.

    Values that all rows of a connection have in common are stored once, and repeated by Arrow.
    """

    def __init__(self, schema: pa.Schema) -> None:
        self._schema = schema
        self._own: dict[str, list[Any]] = {
            n: [] for n in schema.names if n not in CONNECTION_COLUMNS
        }
        self._appends = [(name, values.append) for name, values in self._own.items()]
        self._people: dict[int, tuple[int, ConnectionValues]] = {}
        self._who: list[int] = []

    def __len__(self) -> int:
        return len(self._who)

    def needs_any_column(self, *names: str) -> bool:
        """Return whether one of these columns is wanted; some are expensive to compute."""
        return any(name in self._own for name in names)

    def add_row(self, values: Mapping[str, object], connection_values: ConnectionValues) -> None:
        """Add a row; columns that are in neither mapping are null."""
        self._who.append(self._connection_index(connection_values))
        for name, append in self._appends:
            append(values.get(name))

    def add_rows(
        self,
        values: Mapping[str, Iterable[object]],
        connection_values_of_rows: Sequence[ConnectionValues],
    ) -> None:
        """Add a row for each connection_values; only the wanted columns of `values` are read."""
        self._who += map(self._connection_index, connection_values_of_rows)
        for name, column in self._own.items():
            column.extend(values.get(name) or repeat(None, len(connection_values_of_rows)))

    def _connection_index(self, connection_values: ConnectionValues) -> int:
        known = self._people.get(id(connection_values))
        if known is None:  # the connection_values is kept, so that its id() is not reused
            known = self._people[id(connection_values)] = (len(self._people), connection_values)
        return known[0]

    def take_batch(self) -> pa.RecordBatch:
        """Return the rows as a batch, and empty the columns."""
        rows, who = len(self), pa.array(self._who, pa.int32())
        arrays = [self._column_array(field, who) for field in self._schema]
        for values in (*self._own.values(), self._who):
            values.clear()
        self._people.clear()
        if not arrays:  # Spark's `count()` reads no columns
            return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _column_array(self, field: pa.Field, connection_indexes: pa.Array) -> pa.Array:
        if field.name in self._own:
            return pa.array(self._own[field.name], field.type)
        values = [
            connection_values.get(field.name) for _, connection_values in self._people.values()
        ]
        return pa.array(values, field.type).take(connection_indexes)


def writer_in_file_name(path: str) -> str:
    """Return the writer in a segment's file name."""
    found = _WRITER.fullmatch(Path(path).name)
    return found[1] if found else Path(path).name


def connections_by_number(block: Block) -> dict[int, tuple[Connection, ConnectionValues]]:
    """Return the connections of a block by number, each with the values that its rows share."""
    writer = writer_in_file_name(block.path)
    return {
        connection.number: (
            connection,
            {
                "writer": writer,
                "connection": connection.writer_connection,
                "node_id": connection.node_id,
                "listener": connection.listener,
                "principal": connection.principal,
                "host": connection.authorized_host,
                "port": connection.port,
                "software_name": connection.software_name,
                "software_version": connection.software_version,
            },
        )
        for connection in block.body.connections
    }
