"""DuckDB in this process: decides what either engine has read, and needs no Java."""

import itertools
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kafka_shim.pipeline.engines.engine import PARQUET, PARQUET_NAMES, BatchFunction
from kafka_shim.pipeline.lazy import duckdb, pa
from kafka_shim.text.output_paths import remove_own_files

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 100_000
_NAME = re.compile(r"\{(\w+)\}")
_MACROS = {
    "array_repeat(element, count)": "[element for _ in range(count)]",
    "size(list)": "len(list)",
    "array_join(list, separator)": "array_to_string(list, separator)",
    "percentile_approx(value, share)": "quantile_disc(value, share)",
    "unix_micros(time)": "epoch_us(time)",
    "timestamp_micros(micros)": "make_timestamptz(micros)",
    "xxhash64(value)": "hash(value)",
}
"""Spark's functions that DuckDB knows under other names."""


class DuckDbEngine:
    """Runs queries in a database in memory; relations are the names of its views and tables."""

    def __init__(self, write_to_url: "Callable[[pa.Table, str], None] | None" = None) -> None:
        self.connection = duckdb.connect()
        self._write_to_url = write_to_url
        spilled = str(Path(tempfile.gettempdir(), f"kafka-shim-{uuid4()}")).replace("'", "''")
        self.connection.execute(f"set temp_directory = '{spilled}'")  # else in the current folder
        self.connection.execute("set TimeZone = 'UTC'")
        self.connection.execute("set default_null_order = 'nulls_first_on_asc_last_on_desc'")
        for head, body in _MACROS.items():
            self.connection.execute(f"create macro {head} as {body}")
        self._numbers = itertools.count()
        self._kept: list[str] = []

    def sql(self, query: str, **relations: str) -> str:
        text = _NAME.sub(lambda match: relations.get(match[1], match[0]), query)
        return self._create("view", text)

    def relation_from_arrow(self, rows: "pa.Table") -> str:
        name = self._new_name()
        self.connection.register(name, rows)
        return name

    def create_batches_table(self, batches: "pa.RecordBatchReader") -> str:
        """Return a table with these rows, until `release`."""
        self.connection.register("batches", batches)
        try:
            return self.materialize("batches")
        finally:
            self.connection.unregister("batches")

    def batches(self, relation: str) -> "pa.RecordBatchReader":
        return self.connection.sql(f"from {relation}").to_arrow_reader(BATCH_ROWS)

    def create_parquet_view(self, files: list[str], columns: list[str]) -> str:
        """Return columns of Parquet files; times that Spark wrote do not say that they are UTC."""
        names = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
        quoted = [f'"{column}"' for column in columns]  # `at` is a reserved word
        rows = f"select {', '.join(quoted)} from read_parquet([{names}])"
        types = self.connection.sql(rows).types
        selected = [
            f"cast({name} as timestamptz) as {name}" if str(kind) == "TIMESTAMP" else name
            for name, kind in zip(quoted, types, strict=True)
        ]
        return self._create("view", f"select {', '.join(selected)} from ({rows})")

    def map_batches(self, relation: str, function: BatchFunction, schema: "pa.Schema") -> str:
        """Return the relation's batches, each changed by a function."""
        changed = function(iter(self.batches(relation)))
        return self.relation_from_arrow(pa.Table.from_batches(changed, schema))

    def struct_expression(self, *columns: str) -> str:
        return "{" + ", ".join(f"'{name}': {name}" for name in columns) + "}"

    def materialize(self, relation: str) -> str:
        """Compute a relation now and keep its rows until `release`."""
        self._kept.append(self._create("table", f"from {relation}"))
        return self._kept[-1]

    def release(self) -> None:
        while self._kept:
            self.connection.execute(f"drop table {self._kept.pop()} cascade")

    @contextmanager
    def cached(self, relation: str) -> Iterator[str]:
        """Compute a relation only once inside the `with` block."""
        table = self._create("table", f"from {relation}")
        try:
            yield table
        finally:
            self.connection.execute(f"drop table {table} cascade")

    def columns(self, relation: str) -> list[str]:
        return list(self.connection.sql(f"from {relation}").columns)

    def count_rows(self, relation: str) -> int:
        ((number,),) = self.connection.execute(f"select count(*) from {relation}").fetchall()
        return int(number)

    def arrow_rows(self, relation: str) -> "pa.Table":
        return self.connection.sql(f"from {relation}").to_arrow_table()

    def rows(self, relation: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.arrow_rows(relation).to_pylist()
        return rows

    def write_parquet(self, relation: str, folder: str) -> None:
        """Write all rows, replacing the files of an earlier run.

        Raise ForeignContentError for a folder with other content.
        """
        if self._write_to_url is not None and "://" in folder:
            self._write_to_url(self.arrow_rows(relation), folder)
            return
        remove_own_files(Path(folder), PARQUET, PARQUET_NAMES)
        target = str(Path(folder) / "part-0.parquet").replace("'", "''")
        self.connection.execute(f"copy {relation} to '{target}' (format parquet)")

    def _create(self, kind: str, query: str) -> str:
        name = self._new_name()
        self.connection.execute(f"create temp {kind} {name} as {query}")
        return name

    def _new_name(self) -> str:
        return f"relation_{next(self._numbers)}"
