"""Spark: local, on a cluster or on a Spark Connect server, for any size."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kafka_shim.pipeline.engines.engine import BatchFunction
from kafka_shim.pipeline.tables import spark_ddl

PLAN_ROWS_MAX = 20_000
"""Relations with more rows are persisted in Spark's workers; a row has some 300 bytes."""


class SparkEngine:
    """Runs queries in a session; relations are DataFrames."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._persisted: list[DataFrame] = []

    def sql(self, query: str, **relations: DataFrame) -> DataFrame:
        return self.session.sql(query, None, **relations)

    def relation_from_arrow(self, rows: pa.Table) -> DataFrame:
        return self.session.createDataFrame(rows, spark_ddl(rows.schema))

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

    @contextmanager
    def cached(self, relation: DataFrame) -> Iterator[DataFrame]:
        persisted: list[DataFrame] = []
        try:
            yield self._computed(relation, persisted)
        finally:
            for each in persisted:
                each.unpersist()

    def _computed(self, relation: DataFrame, persisted: list[DataFrame]) -> DataFrame:
        """Compute a relation now; keep few rows in the plan, many in `persisted`.

        A plan with few rows instead of all that they were computed from is optimized faster, and
        Spark knows that it can send them to all tasks.
        """
        kept = relation.persist()
        if kept.count() > PLAN_ROWS_MAX:
            persisted.append(kept)
            return kept
        rows = kept.toArrow()
        kept.unpersist()
        return self.session.createDataFrame(rows, relation.schema)

    def columns(self, relation: DataFrame) -> list[str]:
        return relation.columns

    def rows(self, relation: DataFrame) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = relation.toArrow().to_pylist()  # `collect` loses time zones
        return rows

    def overwrite_table(self, relation: DataFrame, folder: str, table_format: str) -> None:
        writer = relation.write.format(table_format).mode("overwrite")
        writer.option("overwriteSchema", value=True).save(folder)
