"""docs/guides/pipeline.md shows the first ten lines that each job prints."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.cli import main
from kafka_shim.pipeline.jobs import JOBS
from tests.docs.shown import ROOT
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.folders("docs/guides/pipeline.md", "examples")]

PAGE = (ROOT / "docs/guides/pipeline.md").read_text()
SHOWN = dict(
    re.findall(r"^`([^`\n]+)`[^\n]*:\n\n```text\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL)
)
"""The printed lines, by the command without `kafka-shim pipeline`."""
ON_SPARK = ("ingest", "watch")


def job_of(command: str) -> str:
    return command.split(maxsplit=1)[0]


def test_each_job_is_shown() -> None:
    assert {job_of(command) for command in SHOWN} == {*JOBS}


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=[pytest.mark.spark] * (job_of(command) in ON_SPARK))
        for command in SHOWN
    ],
)
def test_the_guide_shows_what_is_printed(
    command: str, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: Any
) -> None:
    if job_of(command) in ON_SPARK:
        request.getfixturevalue("spark")
    monkeypatch.chdir(ROOT)
    text = SHOWN[command].replace(" lake", f" {tmp_path / 'lake'}")
    words = [
        str(tmp_path / word) if word in ("lake", "findings.json") else word
        for word in shlex.split(command)
    ]
    assert main(["pipeline", *words]) == 0
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if not line.startswith("engine: ")][:10]
    assert [line.rstrip() for line in text.rstrip().splitlines()] == [
        line.rstrip() for line in "\n".join(lines).rstrip().splitlines()
    ]
