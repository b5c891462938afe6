"""The cases pass for librdkafka, and fail if its driver has a defect.

librdkafka's own DescribeAcls does not report CLUSTER_AUTHORIZATION_FAILED (31), see tests/clients.
"""

import asyncio
import sys
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from kafka_shim.conformance.case import Case, CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES

DRIVERS = Path(__file__).parents[2] / "conformance" / "drivers"
LIBRDKAFKA = [sys.executable, str(DRIVERS / "confluent_kafka_driver.py")]
MUTANT = [sys.executable, str(Path(__file__).parent / "mutant_driver.py")]
Ended = tuple[set[str], set[str]]
"""Ids of the failed cases, and of the passed cases."""
SWALLOWED = {"denials.describe-acls.reports-error", "denials.describe-acls.recovers"}


def failed(words: list[str], *patterns: str) -> set[str]:
    """Play the cases that match the patterns; return the ids of those that the client fails."""
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), patterns)
    asyncio.run(run_cases(words, cases, RELEASES[-1], results.append))
    assert len(results) == len(cases)
    assert all(result.outcome is not CaseOutcome.UNSUPPORTED for result in results)
    return {result.case.id for result in results if result.outcome is CaseOutcome.FAILED}


def test_a_correct_client_passes() -> None:
    patterns = ("denials.*e-topic.*", "denials.*e-group.*", "logins.signed-token.works")
    assert failed(LIBRDKAFKA, *patterns) == set()


def test_a_denial_that_the_client_does_not_report_is_found() -> None:
    assert failed(LIBRDKAFKA, "denials.*-acls.*") == SWALLOWED


ABOUT: dict[str, Callable[[Case], bool]] = {
    "swallows": lambda case: "TOPIC_AUTHORIZATION_FAILED" in case.expected_response,
    "retries": lambda case: "GROUP_AUTHORIZATION_FAILED" in case.expected_response,
    "stale": lambda case: case.id.endswith("recovers"),
    "minimum": lambda case: case.id.endswith("-minimum"),
    "unknown": lambda case: "unknown-code" in case.id,
}
SEEN: dict[str, Callable[[Case], bool]] = ABOUT | {
    "retries": lambda case: (
        ABOUT["retries"](case)
        and case.expected_requests.startswith("at most")
        and "transactions" not in case.capabilities
    ),
    "unknown": lambda case: case.id.startswith("versions.unknown-code"),
}
"""The cases that must find a defect. Only cases that may send many requests find repetitions: a
failed transaction sends none. The error of a log-in has no code.
"""
ANY_ANSWER = {"logins.session.principal-changed"}
"""Cases that accept any error, but not an answer that violates the contract."""


def all_ended(words: list[str], ids: Collection[str] = ("*",), jobs: int = 4) -> Ended:
    """Play the cases; return the ids that the client fails, and the ids that it passes."""
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), list(ids))
    asyncio.run(run_cases(words, cases, RELEASES[-1], results.append, jobs=jobs))
    ended: dict[CaseOutcome, set[str]] = {outcome: set() for outcome in CaseOutcome}
    for result in results:
        ended[result.outcome].add(result.case.id)
    return ended[CaseOutcome.FAILED], ended[CaseOutcome.PASSED]


def odd_ones(mutant: str, own: Ended) -> set[str]:
    """Return the cases with an unexpected outcome for this defect, also if run one at a time."""
    words = [*MUTANT, mutant]
    about = {case.id for case in all_cases() if ABOUT[mutant](case)} | ANY_ANSWER
    seen = {case.id for case in all_cases() if SEEN[mutant](case)} & own[1]
    failed, passed = all_ended(words)
    assert failed - own[0], mutant
    unseen, besides = seen & passed, failed - own[0] - about
    if unseen or besides:
        failed, passed = all_ended(words, unseen | besides, jobs=1)
    return (unseen & passed) | (besides & failed)


@pytest.mark.heavy
@pytest.mark.timeout(1200, func_only=True)
def test_a_defect_fails_only_the_cases_about_it() -> None:
    own = all_ended(LIBRDKAFKA)
    assert {mutant: odd_ones(mutant, own) for mutant in ABOUT} == {
        mutant: set() for mutant in ABOUT
    }


@pytest.mark.parametrize(
    ("mutant", "patterns", "found"),
    [
        (
            "swallows",
            ["denials.delete-topic.*", "denials.delete-group.*"],
            {
                f"denials.delete-topic.{aspect}"
                for aspect in ("reports-error", "partial-success", "recovers")
            },
        ),
        (
            "retries",
            ["denials.delete-topic.*", "denials.delete-group.reports-error"],
            {"denials.delete-group.reports-error"},
        ),
        (
            "behind",
            ["denials.consume-by-topic.reports-error", "denials.delete-records.reports-error"],
            {"denials.consume-by-topic.reports-error"},
        ),
        (
            "no-name",
            ["denials.delete-records.reports-error", "denials.delete-topic.reports-error"],
            {"denials.delete-records.reports-error"},
        ),
        (
            "stale",
            ["denials.delete-topic.*"],
            {"denials.delete-topic.recovers"},
        ),
        (
            "minimum",
            ["kips.operations.*-minimum", "kips.operations.*-not-asked"],
            {f"kips.operations.{kind}-minimum" for kind in ("topic", "group", "cluster")},
        ),
        (
            "unknown",
            ["versions.unknown-code.*topics", "trouble.create-topics*.reports-final-error"],
            {f"versions.unknown-code.{api}" for api in ("createtopics", "deletetopics")},
        ),
    ],
)
def test_a_defect_fails_the_cases_about_it(
    mutant: str, patterns: list[str], found: set[str]
) -> None:
    assert failed([*MUTANT, mutant], *patterns) == found
