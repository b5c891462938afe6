"""The contract of drivers: what the page shows keeps to it, and so do the drivers of this house."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.shim.traffic.suite.contract import COMMANDS, schema

ROOT = Path(__file__).parents[4]


def test_the_lines_of_the_page_keep_to_it() -> None:
    page = (ROOT / "docs" / "conformance.md").read_text()
    block = re.search(r"^```json\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block is not None
    asked, answered = (json.loads(line) for line in block[1].splitlines())
    fields = COMMANDS[asked.pop("command")].fields
    assert asked.keys() == {"id", "client", *fields}
    assert answered["id"] == asked["id"]
    assert answered["error"].keys() <= {name.rstrip("?") for name in schema()["error"]}


@pytest.mark.parametrize("driver", sorted((ROOT / "conformance/drivers").glob("*_driver.py")))
def test_a_driver_knows_commands_of_the_contract_alone(driver: Path) -> None:
    line = '{"id": 1, "command": "hello"}\n'
    done = subprocess.run(
        [sys.executable, str(driver)], input=line, capture_output=True, text=True, check=True
    )
    assert set(json.loads(done.stdout)["ok"]["commands"]) == COMMANDS.keys() - {"hello"}
