"""The tables of traces or of a lake, for DuckDB."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.rows.batches import plan_splits, task_batches
from kafka_shim.pipeline.rows.trace_facts import TABLES_FROM_TRACE_FACTS, read_trace_facts
from kafka_shim.pipeline.selection_options import selection_from_options
from kafka_shim.pipeline.tables import TABLES, select_columns


class LocalTraceTables:
    """Tables of traces."""

    def __init__(
        self, engine: DuckDbEngine, paths: Sequence[str], options: Mapping[str, str]
    ) -> None:
        self._engine = engine
        self._splits = plan_splits(list(paths))
        self._selection = selection_from_options(options)
        self._with_facts = read_trace_facts(self._splits).add_to_selection(self._selection)

    def table(self, name: str, *columns: str) -> str:
        """Return a table, or some of its columns, within the selection."""
        schema = select_columns(TABLES[name], list(columns)) if columns else TABLES[name]
        batches = pa.RecordBatchReader.from_batches(schema, self._batches(name, schema.names))
        return self._engine.create_batches_table(batches)

    def _batches(self, name: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
        selection = self._with_facts if name in TABLES_FROM_TRACE_FACTS else self._selection
        return task_batches(name, self._splits, selection, columns)


class LocalLakeTables:
    """Tables of a lake."""

    def __init__(self, engine: DuckDbEngine, folder: Path) -> None:
        self._engine = engine
        self._folder = folder

    def table(self, name: str, *columns: str) -> str:
        """Return a table, or some of its columns; empty if the lake has no files of it."""
        schema = select_columns(TABLES[name], list(columns)) if columns else TABLES[name]
        files = sorted(map(str, (self._folder / name).rglob("*.parquet")))
        if not files:
            return self._engine.relation_from_arrow(schema.empty_table())
        return self._engine.create_parquet_view(files, schema.names)
