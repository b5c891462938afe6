"""Tables in the format Delta, whose writer is in its own package."""

import os
import re
from importlib.metadata import PackageNotFoundError, distribution

from kafka_shim.pipeline.errors import PipelineError

_PACKAGE = "delta-spark"
_LATEST = re.compile(r"pyspark\b.*<=\s*([\d.]+)")


def must_load_delta_package(folder: str | None, remote: str | None) -> bool:
    """Return whether this program must load delta-spark to write a Delta table to the folder.

    A remote Spark has its own.
    """
    is_elsewhere = remote or "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ
    return folder is not None and not is_elsewhere


def check_delta_package() -> None:
    """Raise PipelineError if delta-spark is missing or is for another Spark."""
    try:
        delta = distribution(_PACKAGE)
    except PackageNotFoundError:
        raise PipelineError(
            f"--delta requires the package {_PACKAGE}, which is not installed"
        ) from None
    present = distribution("pyspark").version
    for requirement in delta.requires or ():
        found = _LATEST.match(requirement)
        if found and _version_numbers(present) > _version_numbers(found[1]):
            raise PipelineError(
                f"--delta: {_PACKAGE} {delta.version} requires PySpark {found[1]} at most, and this"
                f" is {present}"
            )


def delta_settings() -> dict[str, str]:
    """Return Spark settings for Delta; Spark downloads the jars from Maven."""
    spark = ".".join(distribution("pyspark").version.split(".")[:2])
    artifact = f"io.delta:delta-spark_{spark}_2.13:{distribution(_PACKAGE).version}"
    return {
        "spark.jars.packages": artifact,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }


def _version_numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)][:3]
