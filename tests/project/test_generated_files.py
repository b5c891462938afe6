"""Tables name every generated and recorded file, and each test of one names the same command."""

import re
from importlib.util import find_spec

import pytest

from kafka_shim.cli import COMMANDS
from tests.docs.shown import ROOT
from tests.project.test_tidy import tracked
from tests.support.generated_files import GENERATED, RECORDED, Row, outdated, rows

DATA = re.compile(r"\.(?:json|jsonl|gz|xz|txt|svg|png|frame|1)$|^src/.*/messages/")
BY_HAND = re.compile(
    r"\.(?:package|tsconfig)|package\.json$|^examples/|^tests/docs/migrating/|CMakeLists"
    r"|^src/kafka_shim/schemas/releases/jars\.json$|/conformance/contract\.txt$"
    r"|^src/kafka_shim/shim/state/settings/config_documentation\.json$"
    r"|^tests/suites/kafka_tools/sessions/|/inspector/favicon\.svg$"
    r"|^tests/checked_folders\.json$"
)
"""Data that a person writes, or that a passed run keeps. The output in sessions with Kafka's tools
is recorded, though.
"""
ROWS = (*rows(GENERATED), *rows(RECORDED))


def test_both_tables_have_rows() -> None:
    assert len(rows(GENERATED)) > 8
    assert len(rows(RECORDED)) > 8


def test_every_data_file_is_in_a_table() -> None:
    data = [name for name in tracked() if DATA.search(name) and not BY_HAND.search(name)]
    assert len(data) > 300
    assert [name for name in data if not any(row.has(name) for row in ROWS)] == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.patterns[0])
def test_the_files_and_commands_of_a_row_exist(row: Row) -> None:
    for pattern in row.patterns:
        assert any(Row((pattern,), "").has(name) for name in tracked()), pattern
    assert row.commands
    makefile = (ROOT / "Makefile").read_text()
    for command in row.commands:
        match command.split():
            case ["make", target, *_]:
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), command
            case ["python", "-m", module, *_]:
                assert find_spec(module) is not None, command
            case ["python", script, *_]:
                assert (ROOT / script).is_file(), command
            case ["kafka-shim", word, *_]:
                assert word in COMMANDS, command
            case _:
                pytest.fail(f"unknown command {command}")


def test_each_generated_file_has_a_test_that_names_the_command() -> None:
    calls = {
        path
        for name in tracked()
        if name.startswith("tests/") and name.endswith(".py")
        for path in re.findall(r'\boutdated\(\s*f?"([^"]+)"', (ROOT / name).read_text())
    }
    paths = {re.sub(r"\{.*?\}", "x", path) for path in calls}
    for row in rows(GENERATED):
        assert any(row.has(path) for path in paths), row.patterns
    for path in paths:
        assert any(row.has(path) for row in rows(GENERATED)), path


def test_a_message_has_the_file_and_the_command() -> None:
    assert outdated("docs/kafka-shim.1") == (
        "docs/kafka-shim.1 is out of date; if the change is right, run: "
        "`python -m kafka_shim.cli.man_page > docs/kafka-shim.1`"
    )
