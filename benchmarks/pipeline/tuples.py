"""The data source with tuples instead of Arrow batches, for comparison."""

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kafka_shim.pipeline.spark.data_source import KafkaTraceSource


class TuplesReader(DataSourceReader):
    """Yields the same rows one by one."""

    def __init__(self, reader: DataSourceReader) -> None:
        self._reader: Any = reader  # it yields batches, which the interface does not declare

    def partitions(self) -> Any:
        return self._reader.partitions()

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        for batch in self._reader.read(partition):
            for row in batch.to_pylist():
                yield tuple(row.values())


class TuplesSource(KafkaTraceSource):
    """`kafka_trace` with rows in tuples."""

    @classmethod
    def name(cls) -> str:
        return "kafka_trace_tuples"

    def reader(self, schema: StructType) -> DataSourceReader:
        return TuplesReader(super().reader(schema))
