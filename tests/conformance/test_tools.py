"""The profile for tools: a right tool passes, and each mistake is found by the cases about it."""

import asyncio
import sys
from pathlib import Path

import pytest

from kafka_shim.conformance import TOOLS
from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES

TOOL = str(Path(__file__).parent / "false_tool.py")
MANY = "tools.many-acls.shows-others"
DENIED = {
    f"tools.{name}" for name in ("listed-group", "denied-topic", "denied-change", "denied-broker")
}
SHOWS_OTHERS = {f"{name}.shows-others" for name in DENIED}
NAMES_DENIED = {f"{name}.names-denied" for name in DENIED}
ALL = {case.id for case in all_cases(TOOLS)}
FOUND = {
    "right": set[str](),
    "all-or-nothing": {*SHOWS_OTHERS, *NAMES_DENIED, "tools.vanished-topic.shows-others"},
    "first-error": {*SHOWS_OTHERS, "tools.vanished-topic.shows-others"},
    "silent": NAMES_DENIED,
    "blind": ALL,
    "optimistic": NAMES_DENIED,
    "strict": {"tools.odd-principals.shows-others"},
    "needs-operations": {"tools.no-operations.shows-others"},
}
"""The cases that fail, by mistake."""

pytestmark = pytest.mark.folders("src/kafka_shim/conformance", "conformance", "tests/conformance")


def results(mistake: str, *patterns: str) -> list[CaseResult]:
    found: list[CaseResult] = []
    cases = select_cases(all_cases(TOOLS), patterns)
    words = [sys.executable, TOOL, mistake, "confluent_kafka_driver"]
    asyncio.run(run_cases(words, cases, RELEASES[-1], found.append, jobs=4))
    return found


@pytest.mark.parametrize("mistake", FOUND)
def test_a_mistake_is_found_by_the_cases_about_it(mistake: str) -> None:
    found = results(mistake, *sorted(ALL - {MANY}))
    assert {each.case.id for each in found} == ALL - {MANY}
    failed = {each.case.id for each in found if each.outcome is CaseOutcome.FAILED}
    assert failed == FOUND[mistake] - {MANY}
    others = {each.outcome for each in found if each.case.id not in failed}
    assert others <= {CaseOutcome.PASSED}


@pytest.mark.parametrize(
    ("mistake", "outcome"), [("right", CaseOutcome.PASSED), ("first-page", CaseOutcome.FAILED)]
)
def test_a_tool_shows_all_of_many_acls(mistake: str, outcome: CaseOutcome) -> None:
    [result] = results(mistake, MANY)
    assert result.outcome is outcome, result.observed
