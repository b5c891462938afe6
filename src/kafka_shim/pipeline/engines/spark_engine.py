"""Spark: local, on a cluster or on a Spark Connect server, for any size."""

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from kafka_shim.pipeline.engines.engine import PARQUET, PARQUET_NAMES, BatchFunction, T
from kafka_shim.pipeline.tables import spark_ddl
from kafka_shim.text.output_paths import remove_own_files

_VIEW_NUMBERS = itertools.count()
PLAN_ROWS_MAX = 20_000
"""Relations with more rows are kept by Spark's workers; a row has some 300 bytes."""


class SparkEngine:
    """Runs queries in a session; relations are DataFrames.

    Each relation has a temporary view until `release`. `SparkSession.sql` would drop the views of
    its arguments after the query, and dropping a view also unpersists the DataFrame in it.
    """

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self.has_local_workers = (session.conf.get("spark.master", None) or "").startswith("local")
        self._threads = ThreadPoolExecutor(1)
        self._persisted: list[DataFrame] = []
        self._numbers_of_rows: WeakKeyDictionary[DataFrame, int] = WeakKeyDictionary()
        self._views_lock = Lock()
        self._views: dict[int, tuple[DataFrame, str]] = {}

    def sql(self, query: str, **relations: DataFrame) -> DataFrame:
        views = {name: self._view_name(relation) for name, relation in relations.items()}
        return self.session.sql(query.format(**views))

    def relation_from_arrow(self, rows: pa.Table) -> DataFrame:
        return self.session.createDataFrame(rows, spark_ddl(rows.schema))

    def in_background(self, function: Callable[[], T]) -> Future[T]:
        return self._threads.submit(function)

    def map_batches(
        self, relation: DataFrame, function: BatchFunction, schema: pa.Schema
    ) -> DataFrame:
        return relation.mapInArrow(function, spark_ddl(schema))

    def numbered_elements(self, relation: DataFrame, list_column: str) -> DataFrame:
        return relation.selectExpr("*", f"posexplode({list_column}) as (position, element)")

    def struct_expression(self, *columns: str) -> str:
        return "named_struct(" + ", ".join(f"'{name}', {name}" for name in columns) + ")"

    def computed_once(self, relation: DataFrame) -> DataFrame:
        return self._computed(relation, self._persisted)

    def release(self) -> None:
        while self._persisted:
            self._persisted.pop().unpersist()
        for _, name in self._views.values():
            self.session.catalog.dropTempView(name)
        self._views.clear()

    @contextmanager
    def cached(self, relation: DataFrame) -> Iterator[DataFrame]:
        persisted: list[DataFrame] = []
        try:
            yield self._computed(relation, persisted)
        finally:
            for each in persisted:
                each.unpersist()

    def _computed(self, relation: DataFrame, persisted: list[DataFrame]) -> DataFrame:
        """Compute a relation now, and know its number of rows.

        Few rows are kept in the plan, which is then optimized faster, and Spark knows that it can
        send them to all tasks. More are kept in local files, since persisting takes four times as
        long. Files are lost with their worker, so a cluster persists.
        """
        if self.has_local_workers:  # the files are written by the job that counts
            kept = relation.localCheckpoint(eager=False, storageLevel=StorageLevel.DISK_ONLY)
        else:
            kept = relation.persist()
        number_of_rows = kept.count()
        if number_of_rows <= PLAN_ROWS_MAX:
            rows = kept.toArrow()
            kept.unpersist()
            kept = self.session.createDataFrame(rows, relation.schema)
        elif not self.has_local_workers:
            persisted.append(kept)
        self._numbers_of_rows[kept] = number_of_rows
        return kept

    def _view_name(self, relation: DataFrame) -> str:
        """Return the temporary view of a relation."""
        with self._views_lock:  # `in_background` has a thread of its own
            known = self._views.get(id(relation))
            if known is None:
                known = relation, f"relation_{next(_VIEW_NUMBERS)}"
                relation.createOrReplaceTempView(known[1])
                self._views[id(relation)] = known  # with the relation, so that its id stays unique
            return known[1]

    def columns(self, relation: DataFrame) -> list[str]:
        return relation.columns

    def count_rows(self, relation: DataFrame) -> int:
        known = self._numbers_of_rows.get(relation)
        return relation.count() if known is None else known

    def arrow_rows(self, relation: DataFrame) -> pa.Table:
        return relation.toArrow()

    def rows(self, relation: DataFrame) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = relation.toArrow().to_pylist()  # `collect` loses time zones
        return rows

    def write_parquet(self, relation: DataFrame, folder: str) -> None:
        writer = relation.write
        if "://" not in folder:  # a folder elsewhere must be new, since its content is unknown
            remove_own_files(Path(folder), PARQUET, PARQUET_NAMES)
            writer = writer.mode("append")
        writer.parquet(folder)
