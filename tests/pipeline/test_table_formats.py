"""`--delta` writes a Delta table with delta-spark, and is an error without it."""

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.spark_requirements import missing_requirement
from tests.pipeline.traces import made

pytest.importorskip("pyspark")

READ = """
import sys
from kafka_shim.pipeline.spark.session import spark_session
from kafka_shim.pipeline.spark.table_formats import delta_settings
spark = spark_session("local[1]", settings=delta_settings())
print(spark.read.format("delta").load(sys.argv[1]).select("principal", "requests").collect())
"""


def test_a_package_for_another_spark_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    from kafka_shim.pipeline.spark import table_formats

    versions = {"pyspark": "4.3.0"}

    def distribution(name: str) -> Any:
        if name not in versions:
            raise PackageNotFoundError
        return SimpleNamespace(
            version=versions[name], requires=["importlib_metadata>=1", "pyspark<=4.2.0,>=4.0.1"]
        )

    monkeypatch.setattr(table_formats, "distribution", distribution)
    assert table_formats.must_load_delta_package("folder", None)
    for folder, remote in ((None, None), ("folder", "sc://h:1")):
        assert not table_formats.must_load_delta_package(folder, remote)
    with pytest.raises(PipelineError, match=r"requires the package delta-spark, which is not"):
        table_formats.check_delta_package()
    versions["delta-spark"] = "4.4.0"
    with pytest.raises(PipelineError, match=r"requires PySpark 4\.2\.0 at most, and this is 4\.3"):
        table_formats.check_delta_package()
    versions["pyspark"] = "4.2.0"
    table_formats.check_delta_package()
    settings = table_formats.delta_settings()
    assert settings["spark.jars.packages"] == "io.delta:delta-spark_4.2_2.13:4.4.0"


def unusable() -> str | None:
    """Return why Delta cannot be written here, e.g. because Spark is too new for it."""
    from kafka_shim.pipeline.spark.table_formats import check_delta_package

    try:
        check_delta_package()
    except PipelineError as error:
        return str(error)
    return missing_requirement()


def written(trace: str, target: str) -> str:
    """Write denials as Delta, and return the messages."""
    pipeline = [sys.executable, "-P", "-m", "kafka_shim", "pipeline"]
    done = subprocess.run(
        [*pipeline, "denials", trace, "--delta", target],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.spark
@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.skipif(unusable() is not None, reason=str(unusable()))
def test_delta_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace, target = str(made(tmp_path / "trace")), str(tmp_path / "table")
    assert "1 row written" in written(trace, target)
    assert "1 row written" in written(trace, target)  # replaces the first table
    assert len(list((tmp_path / "table" / "_delta_log").glob("*.json"))) == 2
    done = subprocess.run(
        [sys.executable, "-c", READ, target], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[Row(principal='User:a', requests=2)]\n"
