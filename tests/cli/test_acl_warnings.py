"""ACLs that can neither allow nor deny anything are warnings with their line, wherever ACLs come
from.
"""

import json
from pathlib import Path

import pytest

from kafka_shim.cli import main

RULES = """\
acls:
  - {principal: alice, allow: Read, group: g}
  - {principal: alice, allow: [Read, Write], group: g}
  - {principal: alice, allow: All, group: g}
  - {principal: bob, deny: Delete, cluster: kafka-cluster}
  - {principal: User:bob, deny: Read, transactional_id: t}
"""
WARNINGS = (
    (
        "line 3: the ACL of `User:alice` for Write on Group `g` has no effect: Group has no such"
        " operation; it has Read, Delete, Describe, DescribeConfigs, AlterConfigs"
    ),
    (
        "line 6: the ACL of `User:bob` for Read on TransactionalId `t` has no effect:"
        " TransactionalId has no such operation; it has Write, Describe, TwoPhaseCommit"
    ),
)


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES.replace("principal: alice", "principal: User:alice").replace(
        "principal: bob", "principal: User:bob"))  # fmt: skip
    return str(path)


@pytest.mark.parametrize("option", ["--acls", "--state"])
def test_ineffective_initial_acls_are_warnings(
    rules: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", option, rules, "--", "true"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "no effect" in line]
    assert lines == [f"kafka-shim: note: {rules}, {warning}" for warning in WARNINGS]


def test_ineffective_acls_of_a_converted_file_are_warnings(
    rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["acls", "--acls", rules, "--format", "json"]) == 0
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) == 5
    assert captured.err.splitlines() == [
        f"kafka-shim: note: {rules}, {warning}" for warning in WARNINGS
    ]


def test_operations_of_the_release_count(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Brokers before 3.0 do not check Delete on the cluster."""
    assert main(["run", "--kafka-version", "2.7", "--acls", rules, "--", "true"]) == 0
    assert "line 5: the ACL of `User:bob` for Delete on Cluster" in capsys.readouterr().err


def test_policy_lint_names_the_line(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "lint", rules]) == 3
    printed = capsys.readouterr().out
    assert f"{rules}:3: " in printed or f"{rules}, line 3" in printed
    assert "Group has no such operation" in printed
