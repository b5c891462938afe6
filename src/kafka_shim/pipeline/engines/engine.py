"""What queries expect of an engine, whether it reads the input or decides.

The queries are written in Spark's SQL as far as DuckDB understands it, too. DuckDB gets the few
functions that it lacks as macros (see `duckdb_engine`). What differs in syntax are methods here.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

Relation = Any
"""A table or the result of a query, lazily computed: Spark's DataFrame, or a view in DuckDB."""
BatchFunction = Callable[[Iterator["pa.RecordBatch"]], Iterator["pa.RecordBatch"]]
PARQUET: Final = "parquet"
PARQUET_NAMES: Final = ("part-*.parquet", ".part-*.crc", "_SUCCESS", "._SUCCESS.crc")
"""The files that engines write; Spark's have checksums next to them."""


class SqlEngine(Protocol):
    """Runs queries over relations; `{name}` in a query stands for the relation of that name."""

    def sql(self, query: str, **relations: Relation) -> Relation: ...

    def relation_from_arrow(self, rows: "pa.Table") -> Relation: ...

    def struct_expression(self, *columns: str) -> str:
        """Return the expression of a struct with these columns as fields."""
        ...

    def rows(self, relation: Relation) -> list[dict[str, Any]]: ...

    def batches(self, relation: Relation) -> "pa.RecordBatchReader":
        """Return all rows, which this process need not keep at the same time."""
        ...

    def release(self) -> None:
        """Release what the engine keeps of relations."""
        ...
