"""The results on the page about tools are those of the suite."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pytest

from kafka_shim.conformance import TOOLS
from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.runner import run_cases
from kafka_shim.protocol.api_versions import RELEASES
from tests.clients.toolchains import need
from tests.docs.shown import ROOT

PAGE = ROOT / "docs" / "guides" / "tools.md"
DRIVERS = ROOT / "conformance" / "drivers"
ADMINS = {
    "confluent-kafka": "confluent_kafka_driver",
    "kafka-python": "kafka_python_driver",
}
pytestmark = [
    pytest.mark.folders(
        "docs/guides/tools.md", "src/kafka_shim/conformance", "conformance", "tests/docs"
    ),
    pytest.mark.client,
]


def shown_results() -> dict[str, dict[str, str]]:
    """Return the cells of the table by tool and situation."""
    text = PAGE.read_text().partition("## Results")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", text, re.MULTILINE)
    header, *rows = [line.split(" | ") for line in lines]
    return {
        tool: {row[0].strip("`"): row[column] for row in rows}
        for column, tool in enumerate(header)
        if column
    }


def cells(results: Sequence[CaseResult]) -> dict[str, str]:
    """Return the cell of each situation."""
    outcome = {each.case.id: each.outcome for each in results}
    found = {}
    for case_id, shown in outcome.items():
        _, situation, check = case_id.split(".")
        if check != "shows-others":
            continue
        named = outcome.get(f"tools.{situation}.names-denied")
        match shown:
            case CaseOutcome.UNSUPPORTED:
                found[situation] = "none"
            case CaseOutcome.PASSED:
                found[situation] = "shown, named" if named is CaseOutcome.PASSED else "shown"
            case _:
                found[situation] = "fails"
    return found


def results_of_driver(words: Sequence[str]) -> dict[str, str]:
    found: list[CaseResult] = []
    asyncio.run(run_cases(words, all_cases(TOOLS), RELEASES[-1], found.append, jobs=1))
    return cells(found)


@pytest.mark.parametrize("library", ADMINS)
def test_the_results_of_an_admin_client(library: str) -> None:
    shown = shown_results().get(f"{library} {version(library)}")
    if shown is None:
        pytest.skip(f"the page has another version than {version(library)}")
    words = [sys.executable, str(DRIVERS / "admin_tool.py"), ADMINS[library]]
    assert results_of_driver(words) == shown


@pytest.mark.heavy
@pytest.mark.parametrize("release", ["5.1.0", "5.0.1"])
def test_the_results_of_kaskade(tmp_path: Path, release: str) -> None:
    """5.0.2 fixed what the profile finds in 5.0.1."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path)], check=True)
    python = str(tmp_path / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", f"kaskade=={release}"], check=True)
    found = results_of_driver([python, str(DRIVERS / "kaskade_tool.py")])
    assert found == shown_results()[f"kaskade {release}"]


@pytest.mark.heavy
def test_the_results_of_kafka_console(tmp_path: Path) -> None:
    need("kafka-console", "npm")
    [name] = [tool for tool in shown_results() if tool.startswith("kafka-console ")]
    install = ["npm", "install", "--silent", "--no-audit", "--no-fund", name.replace(" ", "@")]
    subprocess.run(install, cwd=tmp_path, check=True)
    tool = str(tmp_path / "node_modules" / ".bin" / "kafka-console")
    found = results_of_driver([sys.executable, str(DRIVERS / "kafka_console_tool.py"), tool])
    assert found == shown_results()[name]


def test_the_page_has_all_situations() -> None:
    page = PAGE.read_text().partition("## A driver")[0]
    situations = dict.fromkeys(case.id.split(".")[1] for case in all_cases(TOOLS))
    assert re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE) == [*situations] * 2
