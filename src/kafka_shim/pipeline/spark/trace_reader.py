"""Reads splits of a trace as rows of a table, in a worker."""

import gc
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import (
    SPLIT_BYTES,
    Split,
    group_splits_into_tasks,
    task_batches,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.rows.trace_facts import TraceFacts
from kafka_shim.pipeline.tables import TABLES


class TraceSplits(InputPartition):
    """The splits of a task, as Spark sends them to a worker.

    `trace_facts` is the result of a first pass, if it is not the reader's own.
    """

    def __init__(self, splits: tuple[Split, ...], trace_facts: TraceFacts | None) -> None:
        super().__init__(None)
        self.splits = splits
        self.trace_facts = trace_facts


def input_partitions_of_splits(
    splits: Iterable[Split], task_bytes: int, trace_facts: TraceFacts | None = None
) -> list[InputPartition]:
    """Group splits into tasks of about this size; a task per small file would take hours."""
    return [TraceSplits(part, trace_facts) for part in group_splits_into_tasks(splits, task_bytes)]


class TraceReader(DataSourceReader):
    """Reads a table in the workers, split by split."""

    def __init__(
        self,
        table: str,
        splits: list[Split],
        selection: Selection,
        columns: list[str],
        task_bytes: int = SPLIT_BYTES,
    ) -> None:
        unknown = [name for name in columns if name not in TABLES[table].names]
        if unknown:
            raise PipelineError(f"the table `{table}` has no column `{unknown[0]}`")
        self._table = table
        self._splits = splits
        self._selection = selection
        self._columns = columns
        self._task_bytes = task_bytes

    def partitions(self) -> list[InputPartition]:
        return input_partitions_of_splits(self._splits, self._task_bytes)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        if not isinstance(partition, TraceSplits):  # Spark passes one of its own if there is none
            return
        selection = self._selection
        if partition.trace_facts is not None:
            selection = partition.trace_facts.add_to_selection(selection)
        gc.disable()  # rows have no reference cycles, and there may be many
        try:
            yield from task_batches(self._table, partition.splits, selection, self._columns)
        finally:
            gc.enable()
