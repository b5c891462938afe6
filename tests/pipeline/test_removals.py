"""Advice from a real broker's trace and log agrees with what failed when ACLs were removed."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.pipeline.rows.access_roles import LEFT_OUT, UNNAMED
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.kafka_commands import format_command
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from kafka_shim.protocol.enums import Permission
from tests.pipeline.removals import SOURCES, Trial, acls, fewest_acls, unpacked
from tests.recordings.traffic.recording import PROXY
from tests.support.checked_folders import PIPELINE

pytestmark = PIPELINE

RULES = [format_acl_rule(acl) for acl in acls()]
USERS = ("alice", "bob", "carol")

Recorded = tuple[Trial, dict[str, Path]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return unpacked(tmp_path_factory.mktemp("removals"))


def changed_users(trial: Trial, rule: str) -> set[str]:
    """Return the users whose programs did something else without this ACL."""
    outcomes = trial.without[rule]
    steps = {name for name, outcome in outcomes.items() if outcome != trial.before[name]}
    return {f"User:{name.split()[0]}" for name in steps}


def advice(
    capsys: pytest.CaptureFixture[str], job: str, trace: Path, file: Path, wanted: list[Acl]
) -> dict[str, Any]:
    file.write_text(format_acls_losslessly(wanted, "json"))
    words = ["pipeline", job, str(trace), "--acls", str(file), "--json"]
    for user in USERS:
        words += ["--principal", f"User:{user}"]
    assert main([*words, *(["--lists"] if job == "what-breaks" else [])]) == 0
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


def test_every_acl_was_removed(recorded: Recorded) -> None:
    trial, _ = recorded
    assert list(trial.without) == RULES
    assert sum(bool(changed_users(trial, rule)) for rule in RULES) >= 10
    assert not all(changed_users(trial, rule) for rule in RULES)


@pytest.mark.parametrize("source", SOURCES)
def test_an_acl_without_which_anything_changed_is_not_called_unused(
    source: str, recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, traces = recorded
    rows = advice(capsys, "unused-acls", traces[source], tmp_path / "acls.json", acls())["rows"]
    removable = {row["acl"] for row in rows if row["state"] == "never used" or row["remove"]}
    assert not {rule for rule in removable if changed_users(trial, rule)}
    if source != PROXY:  # the log names the ACL of each decision
        assert len(removable) >= 2


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("source", SOURCES)
def test_what_breaks_names_the_users_whose_programs_changed(
    source: str,
    rule: str,
    recorded: Recorded,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    trial, traces = recorded
    rest = [acl for acl in acls() if format_acl_rule(acl) != rule]
    result = advice(capsys, "what-breaks", traces[source], tmp_path / "acls.json", rest)
    predicted = {row["principal"] for row in result["principals"]}
    if source != PROXY:
        assert predicted == changed_users(trial, rule)
        return
    if rule.endswith("|DENY"):  # messages do not show what it hid, and the job says whose
        (note,) = (note for note in result["left_out"] if note["reason"] == LEFT_OUT[UNNAMED])
        predicted |= set(note["principals"])
    assert changed_users(trial, rule) <= predicted


@pytest.mark.parametrize("source", SOURCES)
def test_programs_do_the_same_with_the_fewest_acls(source: str, recorded: Recorded) -> None:
    """The fewest ACLs of today are those with which the programs ran on the real broker."""
    trial, traces = recorded
    assert fewest_acls(traces[source]) == trial.fewest[source]
    assert trial.with_fewest[source] == trial.before


@pytest.mark.parametrize("source", SOURCES)
def test_the_least_acls_do_not_replace_an_acl_without_which_anything_changed(
    source: str, recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trial, traces = recorded
    file = tmp_path / "acls.json"
    file.write_text(format_acls_losslessly(acls(), "json"))
    words = ["pipeline", "least-acls", str(traces[source]), "--against", str(file), "--json"]
    words.append("--accept-incomplete")
    assert main(words) == 0
    output = capsys.readouterr()
    rows: dict[str, Any] = json.loads(output.out)
    kept = [parse_acl_rule(row["acl"]) for row in rows["rows"]]
    commands = set(re.findall(r"kafka-acls --remove --force .*", "\n".join(rows["notes"])))
    removed = {
        format_acl_rule(acl)
        for acl in acls()
        if format_command("--remove --force", acl) in commands
    }
    assert commands == {
        format_command("--remove --force", acl) for acl in acls() if format_acl_rule(acl) in removed
    }
    for rule in (rule for rule in removed if changed_users(trial, rule)):
        acl = parse_acl_rule(rule)
        assert acl is not None
        smaller = [
            other
            for other in kept
            if other is not None
            and (other.principal, other.resource_type) == (acl.principal, acl.resource_type)
            and other.resource_name.startswith(acl.resource_name)
        ]
        assert bool(smaller) == (acl.permission is Permission.ALLOW), rule
