"""Reads splits of a trace as rows of a table, in a worker.

`spark.readStream.format("kafka_trace")` reads a trace while it is written, in micro-batches.
"""

import gc
from collections.abc import Iterable, Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import (
    SPLIT_BYTES,
    Split,
    group_splits_into_tasks,
    task_batches,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.rows.stream_offsets import (
    Offset,
    limit_to_whole_segments,
    splits_between,
    written_offsets,
)
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


class TraceStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Follows the traces in `paths`; `reader` builds the rows.

    Each micro-batch has the data written since the last one, up to `max_bytes`. `from_now`: a new
    query ignores the present data. `needs_trace_facts`: rows depend on names of topic ids and on
    what existed, which is searched in all data written so far.
    """

    def __init__(
        self,
        paths: list[str],
        reader: TraceReader,
        split_bytes: int,
        max_bytes: int,
        *,
        from_now: bool,
        needs_trace_facts: bool,
    ) -> None:
        self._paths = paths
        self._reader = reader
        self._split_bytes = split_bytes
        self._max_bytes = max_bytes
        self._from_now = from_now
        self._target: Offset | None = None
        self._known = TraceFacts() if needs_trace_facts else None
        self._named: Offset = {}

    def initialOffset(self) -> Offset:  # noqa: N802 - Spark's name
        return written_offsets(self._paths, {}) if self._from_now else {}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        return ReadMaxBytes(self._max_bytes)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        self._target = written_offsets(self._paths, {})

    def latestOffset(self, start: Offset, limit: ReadLimit) -> Offset:  # noqa: N802 - Spark's name
        end = written_offsets(self._paths, start)
        if self._target is not None:
            end = start | {name: at for name, at in self._target.items() if name in end}
        return (
            limit_to_whole_segments(start, end, limit.max_bytes)
            if isinstance(limit, ReadMaxBytes)
            else end
        )

    def partitions(self, start: Offset, end: Offset) -> list[InputPartition]:
        if self._known is not None:
            self._known = self._known.with_facts_of_splits(
                splits_between(self._named, end, self._split_bytes)
            )
            self._named = end
        return input_partitions_of_splits(
            splits_between(start, end, self._split_bytes), self._split_bytes, self._known
        )

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._reader.read(partition)
