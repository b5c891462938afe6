"""The cases held against librdkafka as it is, and with defects put into its driver.

That librdkafka's own DescribeAcls swallows 31 is seen by its users, too (tests/clients).
"""

import asyncio
import sys
from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.traffic.suite.case import Outcome, Result
from kafka_shim.shim.traffic.suite.cases import all_cases
from kafka_shim.shim.traffic.suite.play import chosen, play

DRIVERS = Path(__file__).parents[4] / "conformance" / "drivers"
LIBRDKAFKA = [sys.executable, str(DRIVERS / "confluent_kafka_driver.py")]
MUTANT = [sys.executable, str(Path(__file__).parent / "mutant_driver.py")]
BREAKING = {"trouble.group-offsets-not-coordinator.retried", "trouble.begin-invalid-request.told"}
"""The first ends librdkafka 2.16.0 with a segmentation fault, the second it sends again."""
SWALLOWED = {"denials.describe-acls.tells", "denials.describe-acls.goes-on"}


def failed(
    words: list[str], *patterns: str, release: str = RELEASES[-1], musts: bool = False
) -> set[str]:
    """Which of these cases the client fails, or which make the run fail; each was played."""
    results: list[Result] = []
    cases = chosen(all_cases(), patterns)
    asyncio.run(play(words, cases, release, results.append))
    assert len(results) == len(cases)
    assert all(result.outcome is not Outcome.UNSUPPORTED for result in results)
    return {
        result.case.id
        for result in results
        if (result.breaks if musts else result.outcome is Outcome.FAILED)
    }


def test_a_client_that_is_right_passes() -> None:
    assert failed(LIBRDKAFKA, "denials.*e-topic.*", "denials.*e-group.*") == set()


def test_a_denial_that_the_client_swallows_is_seen() -> None:
    assert failed(LIBRDKAFKA, "denials.*-acls.*") == SWALLOWED


@pytest.mark.heavy
@pytest.mark.parametrize("release", ["2.8", "3.9", RELEASES[-1]])
def test_all_cases(release: str) -> None:
    assert failed(LIBRDKAFKA, "denials.*", release=release) <= SWALLOWED


@pytest.mark.heavy
def test_errors_that_come_once() -> None:
    assert failed(LIBRDKAFKA, "trouble.*", musts=True) == BREAKING


@pytest.mark.parametrize(
    ("mutant", "patterns", "found"),
    [
        (
            "swallows",
            ["denials.delete-topic.*", "denials.delete-group.*"],
            {f"denials.delete-topic.{aspect}" for aspect in ("tells", "half", "goes-on")},
        ),
        (
            "retries",
            ["denials.delete-topic.*", "denials.delete-group.tells"],
            {"denials.delete-group.tells"},
        ),
        (
            "no-name",
            ["denials.delete-records.tells", "denials.delete-topic.tells"],
            {"denials.delete-records.tells"},
        ),
        (
            "stale",
            ["denials.delete-topic.*"],
            {"denials.delete-topic.goes-on"},
        ),
        (
            "minimum",
            ["kips.operations.*-minimum", "kips.operations.*-not-asked"],
            {f"kips.operations.{kind}-minimum" for kind in ("topic", "group", "cluster")},
        ),
        (
            "unknown",
            ["versions.unknown-code.*topics", "trouble.create-topics*.told"],
            {f"versions.unknown-code.{api}" for api in ("createtopics", "deletetopics")},
        ),
    ],
)
def test_a_defect_fails_the_cases_that_are_about_it(
    mutant: str, patterns: list[str], found: set[str]
) -> None:
    assert failed([*MUTANT, mutant], *patterns) == found
