"""A driver that reports success without using its client passes no case."""

import asyncio
import sys
from pathlib import Path

import pytest

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.shim.conformance.cases import all_cases
from kafka_shim.shim.conformance.runner import run_cases

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
