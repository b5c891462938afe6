"""docs/guides/migrating.md and testcontainers.md name only calls that other projects have."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kafka_shim.schemas.pins import read_pins
from tests.clients.toolchains import build, java, need
from tests.docs.shown import ROOT

GUIDES = ROOT / "docs" / "guides"
PAGE = (GUIDES / "migrating.md").read_text()
CODE = Path(__file__).parent / "migrating"
KFAKE = ROOT / "benchmarks" / "against" / "kfake"

pytestmark = [pytest.mark.client, pytest.mark.heavy, pytest.mark.timeout(600)]


def named(section: str) -> list[str]:
    """Return the calls in the first column of a section's table, each up to its `...`."""
    return _calls_of_first_column(PAGE.split(f"\n## {section}\n", 1)[1].strip().split("\n\n")[0])


def _calls_of_first_column(table: str) -> list[str]:
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return [call.split("...")[0] for cell in cells for call in re.findall(r"`([^`]+)`", cell)]


def _calls_of_testcontainers() -> list[str]:
    [table] = re.findall(
        r"^\|.*?\n\n", (GUIDES / "testcontainers.md").read_text(), re.MULTILINE | re.DOTALL
    )
    return _calls_of_first_column(table.strip())


def test_calls_of_kfake_exist(tmp_path: Path) -> None:
    need("kfake", "go")
    source = (CODE / "shown.go").read_text()
    assert [call for call in named("kfake") if call not in source] == []
    (tmp_path / "main.go").write_text(source)
    shutil.copy(KFAKE / "go.mod", tmp_path)
    build(["go", "build", "-mod=mod", "-o", "shown", "."], tmp_path)
    done = subprocess.run(
        [tmp_path / "shown"], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "3\n"


def test_calls_of_the_containers_and_of_spring_exist() -> None:
    need("Java", "java", "javac")
    source = (CODE / "Shown.java").read_text()
    shown = [*named("EmbeddedKafka"), *_calls_of_testcontainers()]
    java_calls = [call for call in shown if not re.search(r"[a-z]_[a-z]|\bas\b|^exec|^\$", call)]
    words = {word for call in java_calls for word in re.findall(r"[A-Za-z]\w{4,}", call)}
    assert [word for word in sorted(words) if word not in source] == []
    command = java(CODE / "pom.xml", [CODE], "Shown", read_pins().newest)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() in shown
