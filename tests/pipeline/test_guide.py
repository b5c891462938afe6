"""docs/guides/pipeline.md shows the first ten lines that its first commands print."""

import shlex
from typing import Any

import pytest

from kafka_shim.cli import main
from tests.docs.shown import ROOT, blocks

PAGE = "docs/guides/pipeline.md"
COMMANDS = (
    "denials examples/trace",
    "unused-acls examples/trace --acls examples/demo.yaml --accept-incomplete",
    "what-breaks examples/trace --acls examples/pipeline_demo_candidate.yaml",
    "least-acls examples/trace",
)


def test_the_guide_shows_what_is_printed(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    page = (ROOT / PAGE).read_text()
    shown = [block.text for block in blocks() if block.page == PAGE and "accesses" in block.text]
    assert len(shown) == len(COMMANDS)
    for command, text in zip(COMMANDS, shown, strict=True):
        assert f"$ kafka-shim pipeline {command}\n" in page or command == COMMANDS[-1]
        assert main(["pipeline", *shlex.split(command)]) == 0
        printed = capsys.readouterr().out.splitlines()[1:11]  # after the line about the engine
        assert [line.rstrip() for line in text.rstrip().splitlines()] == [
            line.rstrip() for line in "\n".join(printed).rstrip().splitlines()
        ]
