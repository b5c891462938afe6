"""Run the suite with copies of a client that have a bug."""

import asyncio
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES
from tests.mutants.mutant import Mutant, plant_bug

PACKAGES = {"kafka-python": "kafka", "aiokafka": "aiokafka"}
_DRIVERS = Path(__file__).parents[2] / "conformance" / "drivers"
_JOBS = 3
_ATTEMPTS = 2


def package_folder(client: str) -> Path:
    """Return the folder of the client's package as it is installed."""
    spec = importlib.util.find_spec(PACKAGES[client])
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def diagnosis_or_none(client: str, mutant: Mutant) -> str | None:
    """Return what the first case says that finds the bug; None if it survives.

    A case finds it that fails with the bug, passes without it, and fails with it again: on a busy
    machine, cases also fail without a bug. Try everything a second time.
    """
    with tempfile.TemporaryDirectory(prefix="kafka-shim-mutant-") as folder:
        python_path = plant_bug(mutant, package_folder(client), Path(folder))
        for _ in range(_ATTEMPTS):
            for result in _run_suite(client, mutant.cases, python_path):
                if result.outcome is not CaseOutcome.FAILED:
                    continue
                own_case = (result.case.id,)
                (without_bug,) = _run_suite(client, own_case, None)
                (again,) = _run_suite(client, own_case, python_path)
                if (without_bug.outcome, again.outcome) == (CaseOutcome.PASSED, CaseOutcome.FAILED):
                    return f"{again.case.id}: expected {again.expected}; {again.observed}"
    return None


def _run_suite(client: str, patterns: Sequence[str], python_path: Path | None) -> list[CaseResult]:
    driver = _DRIVERS / f"{client.replace('-', '_')}_driver.py"
    command = [sys.executable, str(driver)]
    if python_path is not None:
        command = ["env", f"PYTHONPATH={python_path}", *command]
    results: list[CaseResult] = []
    cases = select_cases(all_cases(), patterns)
    asyncio.run(run_cases(command, cases, RELEASES[-1], results.append, jobs=_JOBS))
    return results
