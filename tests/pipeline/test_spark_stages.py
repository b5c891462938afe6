"""How many stages of Spark a question takes: it reads and counts accesses, and DuckDB decides."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline import cli
from kafka_shim.policy.formats import format_acls_losslessly
from tests.pipeline.asking import parsed
from tests.pipeline.stage_log import STAGES_MAX
from tests.pipeline.traces import random_acls, random_trace
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a trace, the ACLs that decided it, and others."""
    folder = tmp_path_factory.mktemp("stages")
    rng = random.Random(5)
    acls = random_acls(rng, 30)
    random_trace(folder / "trace", rng, StandardAuthorizer(store=AclStore(acls)), 400, 2)
    (folder / "now.csv").write_text(format_acls_losslessly(acls, "csv"))
    (folder / "new.csv").write_text(format_acls_losslessly(random_acls(rng, 30), "csv"))
    return folder


QUESTIONS = (
    ("what-breaks", "--acls", "new.csv"),
    ("what-breaks", "--acls", "new.csv", "--baseline", "now.csv", "--lists"),
    ("denials", "--interval", "1 hour"),
    ("unused-acls", "--acls", "now.csv"),
    ("least-acls", "--over-grant", "1", "--against", "now.csv"),
    ("readiness", "--from-release", "3.9", "--to-release", "4.4", "--acls", "now.csv"),
)


@pytest.mark.parametrize("words", QUESTIONS, ids=" ".join)
def test_a_question_takes_few_stages_and_has_the_answer_of_duckdb(
    spark: Any, folder: Path, words: tuple[str, ...], capsys: Any
) -> None:
    job, *options = (str(folder / word) if word.endswith(".csv") else word for word in words)

    def answer(engine: str) -> dict[str, Any]:
        asked = (job, str(folder / "trace"), *options, "--engine", engine, "--json")
        assert cli.run(parsed(*asked)) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    on_spark, stages = with_completed_stages(spark, lambda: answer("spark"))
    on_duckdb = answer("duckdb")
    assert 0 < stages <= STAGES_MAX
    assert on_spark["rows"] == on_duckdb["rows"]
    assert on_duckdb["rows"] or job == "readiness"


def with_completed_stages(
    spark: Any, ask: Callable[[], dict[str, Any]]
) -> tuple[dict[str, Any], int]:
    """Return the answer, and the number of stages that ran for it, as Spark's own page has it."""
    before = completed_stages(spark)
    return ask(), completed_stages(spark) - before


def completed_stages(spark: Any) -> int:
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    return sum(jobs.apply(number).numCompletedStages() for number in range(jobs.size()))
