"""One split of a trace as rows of one table, in a worker."""

import gc
from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.rows.batches import Split, batches
from kafka_shim.pipeline.rows.columns import Selection
from kafka_shim.pipeline.tables import TABLES


class TraceSplit(InputPartition):
    """One split, as Spark sends it to a worker."""

    def __init__(self, split: Split) -> None:
        super().__init__(None)
        self.split = split


class TraceReader(DataSourceReader):
    """Reads one table, split by split, in the workers."""

    def __init__(
        self,
        table: str,
        splits: list[Split],
        selection: Selection,
        columns: list[str],
    ) -> None:
        unknown = [name for name in columns if name not in TABLES[table].names]
        if unknown:
            raise PipelineError(f"the table `{table}` has no column `{unknown[0]}`")
        self._table = table
        self._splits = splits
        self._selection = selection
        self._columns = columns

    def partitions(self) -> list[InputPartition]:
        return [TraceSplit(split) for split in self._splits]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        gc.freeze()  # rows make no cycles: what is loaded by now need not be searched with them
        if isinstance(partition, TraceSplit):  # Spark makes up a partition where there is none
            yield from batches(self._table, partition.split, self._selection, self._columns)
