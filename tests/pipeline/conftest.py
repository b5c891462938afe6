"""A Spark session for all tests that need it; without Java they are skipped with a reason."""

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
