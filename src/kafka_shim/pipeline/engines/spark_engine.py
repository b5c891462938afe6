"""Spark: local, on a cluster or on a Spark Connect server. It reads and counts, of any size."""

import itertools
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_shim.pipeline.tables import spark_ddl

_VIEW_NUMBERS = itertools.count()
_PACKED = "packed"
_OPTIONS = pa.ipc.IpcWriteOptions(compression="zstd")


class SparkEngine:
    """Runs queries in a session; relations are DataFrames.

    Each relation has a temporary view until `release`, since `SparkSession.sql` would drop the
    views of its arguments before the query runs.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._views: dict[int, tuple[DataFrame, str]] = {}

    def sql(self, query: str, **relations: DataFrame) -> DataFrame:
        views = {name: self._get_or_create_view(relation) for name, relation in relations.items()}
        return self.session.sql(query.format(**views))

    def relation_from_arrow(self, rows: pa.Table) -> DataFrame:
        return self.session.createDataFrame(rows, spark_ddl(rows.schema))

    def struct_expression(self, *columns: str) -> str:
        return "named_struct(" + ", ".join(f"'{name}', {name}" for name in columns) + ")"

    def rows(self, relation: DataFrame) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = relation.toArrow().to_pylist()  # `collect` loses time zones
        return rows

    def batches(self, relation: DataFrame) -> pa.RecordBatchReader:
        """Return all rows, computed by one job, whose workers compress them.

        What this process keeps, and the setting `spark.driver.maxResultSize` limits, is about a
        tenth of their size.
        """
        schema = relation.limit(0).toArrow().schema
        packed = relation.mapInArrow(compress_batches, f"{_PACKED} binary").toArrow()[_PACKED]
        return pa.RecordBatchReader.from_batches(
            schema, (batch for each in packed for batch in pa.ipc.open_stream(each.as_buffer()))
        )

    def write_parquet(self, rows: pa.Table, url: str) -> None:
        """Write rows to a folder elsewhere, which must be new, since its content is unknown."""
        self.session.createDataFrame(rows).write.parquet(url)

    def release(self) -> None:
        for _, name in self._views.values():
            self.session.catalog.dropTempView(name)
        self._views.clear()

    def _get_or_create_view(self, relation: DataFrame) -> str:
        """Return the temporary view of a relation."""
        known = self._views.get(id(relation))
        if known is None:
            known = relation, f"relation_{next(_VIEW_NUMBERS)}"
            relation.createOrReplaceTempView(known[1])
            self._views[id(relation)] = known  # with the relation, so that its id stays unique
        return known[1]


def compress_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield each batch compressed, as the only row of another."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as stream:
            stream.write_batch(batch)
        content = sink.getvalue()
        ends = pa.py_buffer(struct.pack("=ii", 0, content.size))
        # `pa.array` would import pandas into each worker, and copy the content
        packed = pa.Array.from_buffers(pa.binary(), 1, [None, ends, content])
        yield pa.RecordBatch.from_arrays([packed], [_PACKED])
