"""A Spark session for all tests that need it; without Java they are skipped with a reason."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from kafka_shim.pipeline.spark_requirements import missing_requirement

    problem = missing_requirement()
    if problem is not None:
        pytest.skip(problem)
    from kafka_shim.pipeline.spark.session import spark_session

    session = spark_session("local[2]")
    yield session
    session.stop()


@pytest.fixture(autouse=True, scope="module")
def nothing_persisted_for_the_next_module() -> Iterator[None]:
    """Drop what engines persisted and no test released: it takes memory of the session."""
    yield
    if "pyspark.sql" not in sys.modules:
        return
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        return
    session.catalog.clearCache()
    for table in session.catalog.listTables():
        if table.isTemporary and table.name.startswith("relation_"):
            session.catalog.dropTempView(table.name)
