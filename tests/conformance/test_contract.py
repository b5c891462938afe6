"""The driver contract: the examples of its page and the drivers of this project satisfy it."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from kafka_shim.conformance import TOOLS, case_tables
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.commands import COMMANDS, answer_violation, read_contract
from kafka_shim.conformance.contract import contract_json_schema, contract_page_lines
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]


NAMED = {"items": {"a": {}, "b": {"class": "E", "code": 29, "text": "", "fatal": None}}}


def valid(line: Any, shape: str) -> bool:
    return Draft202012Validator(
        contract_json_schema() | {"anyOf": [{"$ref": f"#/$defs/{shape}"}]}
    ).is_valid(line)


def test_the_contract_is_a_valid_json_schema() -> None:
    schema = contract_json_schema()
    Draft202012Validator.check_schema(schema)
    assert set(re.findall(r"#/\$defs/(\w+)", json.dumps(schema))) <= schema["$defs"].keys()


def pairs(page: str) -> Iterator[tuple[Any, Any]]:
    """Yield each command in the JSON blocks of a page with its answer."""
    for block in re.findall(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        lines = [json.loads(line) for line in block.splitlines()]
        yield from zip(lines[::2], lines[1::2], strict=True)


@pytest.mark.parametrize(
    "name", ["guides/conformance.md", "guides/tools.md", "reference/driver-contract.md"]
)
def test_the_examples_of_the_pages_satisfy_the_contract(name: str) -> None:
    for asked, responded in pairs((ROOT / "docs" / name).read_text()):
        assert valid(asked, "request"), asked
        assert valid(responded, "response"), responded
        assert responded["id"] == asked["id"]
        if "ok" in responded:
            assert answer_violation(asked["command"], responded["ok"]) is None


def test_the_tables_of_the_pages_are_up_to_date() -> None:
    contract = (ROOT / "docs" / "reference" / "driver-contract.md").read_text()
    commands = "\n".join(contract_page_lines()) + "\n"
    assert contract.endswith(commands), outdated("docs/reference/driver-contract.md")
    page = (ROOT / "docs" / "reference" / "conformance" / "cases.md").read_text()
    tables = "\n".join(case_tables.real_cluster_coverage_tables(all_cases()))
    assert tables in page, outdated("docs/reference/conformance/cases.md")


def test_cases_that_cannot_run_on_a_real_broker_have_a_reason() -> None:
    for case in (*all_cases(), *all_cases(TOOLS)):
        reasons = [
            pattern for pattern, _ in case_tables.SHIM_ONLY_CASES if fnmatchcase(case.id, pattern)
        ]
        assert case.runs_on_real_cluster or reasons, case.id


@pytest.mark.parametrize(
    ("line", "is_valid"),
    [
        ({"id": 1, "ok": {}}, True),
        ({"id": 1, "unsupported": True}, True),
        ({"id": 1, "error": {"class": "E", "code": None, "text": ""}}, True),
        ({"id": 1, "error": {"class": "E", "text": ""}}, False),
        ({"id": 1}, False),
        ({"id": 1, "ok": {}, "unsupported": True}, False),
    ],
)
def test_an_answer_is_valid_by_the_schema(line: Any, is_valid: bool) -> None:
    assert valid(line, "response") is is_valid


@pytest.mark.parametrize(
    ("command", "ok"),
    [
        ("produce", {"offsets": [1, 2]}),
        ("produce", {"offsets": [True]}),
        ("produce", {"offsets": "1"}),
        ("produce", {}),
        ("delete_topics", NAMED),
        ("delete_topics", {"items": {"a": 1}}),
        ("describe_topics", NAMED),
        ("describe_topics", {"items": {"a": {"operations": None}}}),
        ("describe_cluster", {"operations": ["READ"], "brokers": [1]}),
        ("describe_cluster", {"operations": ["READ"], "brokers": [1.5]}),
        ("wait", {"event": None, "error": None}),
        ("wait", {"event": None}),
        ("describe_acls", {"acls": [{"name": "a"}]}),
    ],
)
def test_an_answer_is_checked_as_by_the_schema(command: str, ok: Any) -> None:
    shape = contract_json_schema() | {"anyOf": [COMMANDS[command].ok_schema()]}
    assert (answer_violation(command, ok) is None) is Draft202012Validator(shape).is_valid(ok)


def test_the_page_has_the_numbers_of_cases() -> None:
    page = (ROOT / "docs" / "guides" / "conformance.md").read_text()
    told = dict(re.findall(r"^\| `(\w+)` \| (\d+) \| [A-Za-z]", page, re.MULTILINE))
    counts = Counter(case.family_name for case in all_cases())
    assert told == {family: str(count) for family, count in counts.items()}
    assert f" {counts.total()} cases" in page


def test_cases_use_commands_and_capabilities_of_the_contract() -> None:
    ids = [case.id for case in all_cases()]
    assert len(ids) == len(set(ids)) >= 200
    for case in (*all_cases(), *all_cases(TOOLS)):
        assert case.title
        assert case.expected_response
        assert case.release_range
        assert case.commands <= COMMANDS.keys()
        assert case.capabilities <= read_contract().capabilities.keys()


@pytest.mark.parametrize("driver", sorted((ROOT / "conformance/drivers").glob("*_driver.py")))
def test_drivers_list_only_commands_and_capabilities_of_the_contract(driver: Path) -> None:
    line = '{"id": 1, "command": "hello"}\n'
    done = subprocess.run(
        [sys.executable, str(driver)], input=line, capture_output=True, text=True, check=True
    )
    said = json.loads(done.stdout)["ok"]
    assert set(said["commands"]) <= COMMANDS.keys() - {"hello"}
    assert set(said.get("capabilities", ())) <= read_contract().capabilities.keys()
