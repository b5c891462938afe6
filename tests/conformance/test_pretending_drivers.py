"""A driver that reports success without using its client, or other results, passes no case."""

import asyncio
import sys
from pathlib import Path

import pytest

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES

LYING = [sys.executable, str(Path(__file__).parent / "lying_driver.py")]
TRUE_LIES = {"kips.acls.delete-match-fails"}
"""Cases in which librdkafka reports an ACL as deleted that is not, and the lie leaves it out."""
LIES = ("offset", "longer", "shorter", "lost", "text", "number")
PRETENDING = [sys.executable, str(Path(__file__).parent / "pretending_driver.py")]


def passed_cases(mode: str, release: str) -> list[str]:
    results: list[CaseResult] = []
    asyncio.run(run_cases([*PRETENDING, mode], all_cases(), release, results.append, jobs=8))
    assert len(results) == sum(case.supports_release(release) for case in all_cases())
    return [result.case.id for result in results if result.outcome is CaseOutcome.PASSED]


@pytest.mark.timeout(180, func_only=True)
def test_a_driver_without_a_connection_passes_no_case() -> None:
    assert passed_cases("nothing", RELEASES[-1]) == []


@pytest.mark.heavy
@pytest.mark.timeout(600, func_only=True)
@pytest.mark.parametrize("mode", ["nothing", "connects", "denies"])
@pytest.mark.parametrize("release", [RELEASES[0], "2.7", RELEASES[-1]])
def test_a_driver_that_pretends_passes_no_case(mode: str, release: str) -> None:
    assert passed_cases(mode, release) == []


def cases_passed_with_lie(lie: str, told: Path, *patterns: str) -> list[str]:
    """Run cases with a driver that lies; return those that pass although it has told a lie."""
    told.touch()
    passed = []
    size_before = 0

    def add_if_passed_with_lie(result: CaseResult) -> None:
        nonlocal size_before
        size = told.stat().st_size
        if result.outcome is CaseOutcome.PASSED and size > size_before:
            passed.append(result.case.id)
        size_before = size

    cases = select_cases(all_cases(), patterns)
    asyncio.run(run_cases([*LYING, lie, str(told)], cases, RELEASES[-1], add_if_passed_with_lie))
    assert size_before > 0
    return passed


@pytest.mark.parametrize(
    ("lie", "pattern"),
    [
        ("offset", "trouble.list-offsets.*"),
        ("longer", "kips.acls.describe-*"),
        ("shorter", "kips.acls.describe-*"),
        ("lost", "denials.revoked.assigned.recovers"),
        ("text", "versions.basics.*"),
        ("number", "versions.basics.*"),
    ],
)
def test_a_driver_with_other_results_passes_no_case_about_them(
    lie: str, pattern: str, tmp_path: Path
) -> None:
    assert cases_passed_with_lie(lie, tmp_path / "told", pattern) == []


@pytest.mark.heavy
@pytest.mark.timeout(1200, func_only=True)
@pytest.mark.parametrize("lie", LIES)
def test_a_driver_with_other_results_passes_no_case(lie: str, tmp_path: Path) -> None:
    assert set(cases_passed_with_lie(lie, tmp_path / "told")) <= TRUE_LIES
