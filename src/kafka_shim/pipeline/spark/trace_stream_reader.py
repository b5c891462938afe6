"""`spark.readStream.format("kafka_trace")`: read a trace while it is written, in micro-batches."""

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadLimit,
    ReadMaxBytes,
    SupportsTriggerAvailableNow,
)

from kafka_shim.pipeline.rows.stream_offsets import (
    Offset,
    limit_to_whole_segments,
    splits_between,
    written_offsets,
)
from kafka_shim.pipeline.rows.trace_facts import TraceFacts
from kafka_shim.pipeline.spark.trace_reader import TraceReader, input_partitions_of_splits


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
