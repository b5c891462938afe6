"""What jobs expect of an engine.

The queries are written in Spark's SQL as far as DuckDB understands it, too. DuckDB gets the few
functions that it lacks as macros (see `duckdb_engine`). What differs in syntax are methods here.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pyarrow as pa

T = TypeVar("T")
Relation = Any
"""A table or the result of a query, lazily computed: Spark's DataFrame, or a view in DuckDB."""
BatchFunction = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
PARQUET: Final = "parquet"
PARQUET_NAMES: Final = ("part-*.parquet", ".part-*.crc", "_SUCCESS", "._SUCCESS.crc")
"""The files that engines write; Spark's have checksums next to them."""
FEW_VALUES = 8_000_000
"""How many numbers of eight bytes this process may compare, which takes a second."""


class SqlEngine(Protocol):
    """Runs queries over relations; `{name}` in a query stands for the relation of that name."""

    def sql(self, query: str, **relations: Relation) -> Relation: ...

    def relation_from_arrow(self, rows: "pa.Table") -> Relation: ...

    def in_background(self, function: Callable[[], T]) -> "Future[T]":
        """Run a function that makes relations while this thread waits for others.

        An engine whose connection is for one thread runs it now.
        """
        ...

    def map_batches(
        self, relation: Relation, function: BatchFunction, schema: "pa.Schema"
    ) -> Relation:
        """Return the relation's batches, each changed by a function; Spark runs it in workers."""
        ...

    def numbered_elements(self, relation: Relation, list_column: str) -> Relation:
        """Return a row per element of a list, with `position` (from 0) and `element`."""
        ...

    def struct_expression(self, *columns: str) -> str:
        """Return the expression of a struct with these columns as fields."""
        ...

    def computed_once(self, relation: Relation) -> Relation:
        """Compute a relation now and keep its rows until `release`."""
        ...

    def release(self) -> None:
        """Release the relations of `computed_once`."""
        ...

    def cached(self, relation: Relation) -> AbstractContextManager[Relation]:
        """Compute a relation only once inside the `with` block."""
        ...

    def columns(self, relation: Relation) -> list[str]: ...

    def count_rows(self, relation: Relation) -> int:
        """Return the number of rows, which is known of relations that the engine keeps."""
        ...

    def arrow_rows(self, relation: Relation) -> "pa.Table": ...

    def rows(self, relation: Relation) -> list[dict[str, Any]]: ...

    def write_parquet(self, relation: Relation, folder: str) -> None:
        """Write all rows, replacing the files of an earlier run.

        Raise ForeignContentError for a folder with other content.
        """
        ...


def has_rows(engine: SqlEngine, relation: Relation, condition: str = "true") -> bool:
    """Return whether a row fulfils a condition."""
    query = f"select 1 as one from {{relation}} where {condition} limit 1"
    return bool(engine.rows(engine.sql(query, relation=relation)))


def exist_rows(engine: SqlEngine, relation: Relation, *conditions: str) -> list[bool]:
    """Return for each condition whether a row fulfils it; the rows are read once."""
    found = ", ".join(f"bool_or({each}) as c{n}" for n, each in enumerate(conditions))
    (row,) = engine.rows(engine.sql(f"select {found} from {{relation}}", relation=relation))
    return [bool(value) for value in row.values()]


def are_distinct(engine: SqlEngine, relation: Relation, column: str) -> bool:
    """Return whether all values of a column differ; this process reads them."""
    query = f"select {column} from {{relation}}"
    (values,) = engine.arrow_rows(engine.sql(query, relation=relation)).columns
    return len(values.unique()) == len(values)
