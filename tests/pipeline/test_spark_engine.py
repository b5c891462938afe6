"""What Spark has read comes to this process in compressed batches; queries have views for it."""

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.timeout(300)]


def engine_of(spark: Any) -> Any:
    from kafka_shim.pipeline.engines.spark_engine import SparkEngine

    return SparkEngine(spark)


def test_rows_come_over_as_they_are(spark: Any) -> None:
    rows = spark.range(0, 30_000, 1, 3).selectExpr(
        "id",
        "if(id % 2 = 0, null, cast(id as string)) as name",
        "array(named_struct('host', cast(id as string))) as hosts",
        "timestamp_micros(id) as seen",
    )
    engine = DuckDbEngine()
    table = engine.create_batches_table(engine_of(spark).batches(rows))
    found = engine.rows(table)
    assert len(found) == 30_000
    for number in (0, 1, 29_999):
        assert found[number] == {
            "id": number,
            "name": None if number % 2 == 0 else str(number),
            "hosts": [{"host": str(number)}],
            "seen": datetime.fromtimestamp(number / 1_000_000, UTC),
        }


def test_no_rows_have_their_columns(spark: Any) -> None:
    engine = DuckDbEngine()
    nothing = spark.range(3).selectExpr("id", "cast(id as string) as name").where("id > 5")
    table = engine.create_batches_table(engine_of(spark).batches(nothing))
    assert (engine.columns(table), engine.rows(table)) == (["id", "name"], [])


def test_workers_compress_their_batches() -> None:
    from kafka_shim.pipeline.engines.spark_engine import compress_batches

    batch = pa.RecordBatch.from_pydict({"name": [f"team-{n}.orders" * 10 for n in range(1000)]})
    packed = list(compress_batches(iter([batch, batch])))
    assert [each.num_rows for each in packed] == [1, 1]
    assert 0 < sum(each.nbytes for each in packed) < 2 * batch.nbytes / 10


def test_a_query_keeps_the_views_of_its_arguments_until_the_release(spark: Any) -> None:
    before = spark.catalog.listTables()
    engine = engine_of(spark)
    rows = spark.range(3).selectExpr("id", "id % 2 as parity")
    for _ in range(2):
        sums = engine.sql("select sum(id) as s from {p} group by parity", p=rows)
        assert sorted(row["s"] for row in engine.rows(sums)) == [1, 2]
    assert len(spark.catalog.listTables()) == len(before) + 1
    engine.release()
    assert spark.catalog.listTables() == before  # other tests share the session
