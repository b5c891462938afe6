"""Relations that are computed once: few rows are kept in Spark's plan, more in local files, or in
the memory of a cluster's workers.
"""

from threading import Event
from typing import Any

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def test_few_rows_are_kept_in_the_plan_and_many_persisted_in_a_cluster(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.engines import spark_engine

    engine: Any = spark_engine.SparkEngine(spark)
    rows = spark.range(3).selectExpr(
        "id",
        "array(named_struct('host', cast(id as string))) as hosts",
        "timestamp_micros(id) as t",
    )
    in_plan = engine.computed_once(rows)
    assert "LocalRelation" in plan_text(in_plan)
    assert "Range" not in plan_text(in_plan)
    assert in_plan.schema == rows.schema
    assert in_plan.collect() == rows.collect()
    assert not rows.is_cached
    monkeypatch.setattr(spark_engine, "PLAN_ROWS_MAX", 2)
    monkeypatch.setattr(engine, "has_local_workers", False)
    with engine.cached(rows) as persisted:
        assert persisted.is_cached
        assert persisted.collect() == rows.collect()
    assert not persisted.is_cached
    persisted = engine.computed_once(rows)
    assert persisted.is_cached
    engine.release()
    assert not persisted.is_cached


def test_many_rows_are_kept_in_files_of_local_workers(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.engines import spark_engine

    monkeypatch.setattr(spark_engine, "PLAN_ROWS_MAX", 2)
    engine = spark_engine.SparkEngine(spark)
    random = spark.range(3).selectExpr("id", "uuid() as name")
    kept = engine.computed_once(random)
    assert not kept.is_cached
    assert "Range" not in plan_text(kept)
    rows = engine.rows(engine.sql("select * from {k} order by id", k=kept))
    assert [row["id"] for row in rows] == [0, 1, 2]
    assert rows == engine.rows(engine.sql("select * from {k} order by id", k=kept))
    monkeypatch.setattr(engine, "has_local_workers", False)
    assert "Range" in plan_text(engine.computed_once(random))  # is computed again without a worker
    engine.release()


def test_the_number_of_kept_rows_is_known_without_reading_them(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.engines import spark_engine

    monkeypatch.setattr(spark_engine, "PLAN_ROWS_MAX", 2)
    engine = spark_engine.SparkEngine(spark)
    few, many = (engine.computed_once(spark.range(number)) for number in (0, 3))
    monkeypatch.setattr(type(few), "count", lambda _: pytest.fail("reads rows"))
    assert (engine.count_rows(few), engine.count_rows(many)) == (0, 3)


def test_relations_are_made_while_another_thread_waits(spark: Any) -> None:
    from kafka_shim.pipeline.engines import spark_engine

    before = spark.catalog.listTables()
    engine = spark_engine.SparkEngine(spark)
    rows = spark.range(3).toDF("id")
    may_end = Event()

    def count() -> list[dict[str, Any]]:
        assert may_end.wait(60)
        return engine.rows(engine.sql("select count(*) as n from {rows}", rows=rows))

    counting = engine.in_background(count)
    sums = engine.rows(engine.sql("select sum(id) as s from {rows}", rows=rows))
    assert not counting.done()
    may_end.set()
    assert (sums, counting.result()) == ([{"s": 3}], [{"n": 3}])
    with pytest.raises(ZeroDivisionError):
        engine.in_background(lambda: 1 / 0).result()
    engine.release()
    assert spark.catalog.listTables() == before  # both queries read one view


def test_a_query_reads_a_persisted_relation_instead_of_computing_it_again(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.engines import spark_engine

    monkeypatch.setattr(spark_engine, "PLAN_ROWS_MAX", 2)
    before = spark.catalog.listTables()
    engine = spark_engine.SparkEngine(spark)
    monkeypatch.setattr(engine, "has_local_workers", False)
    persisted = engine.computed_once(spark.range(3).selectExpr("id", "id % 2 as parity"))
    for _ in range(2):  # the first query must not unpersist what the second one reads
        sums = engine.sql("select sum(id) as s from {p} group by parity", p=persisted)
        assert "InMemoryTableScan" in executed_plan(sums)
        assert sorted(row["s"] for row in engine.rows(sums)) == [1, 2]
    engine.release()
    assert not persisted.is_cached
    assert spark.catalog.listTables() == before  # other tests share the session


def executed_plan(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def plan_text(frame: Any) -> str:
    return str(frame._jdf.queryExecution().analyzed().toString())
