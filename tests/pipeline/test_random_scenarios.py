"""What jobs predict and propose is what happens when the same requests are sent again.

Random requests of all APIs are recorded with a set of ACLs. They are then sent to a shim with other
ACLs: the candidate, the fewest, and those without each one.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from tests.pipeline.random_scenarios import (
    RELEASE,
    Policies,
    accesses_empty_name,
    is_refused,
    without_authorized_operations,
)
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.folders("src/kafka_shim/shim")]

SEEDS = (
    *range(6),
    *(pytest.param(seed, marks=pytest.mark.heavy) for seed in range(6, 206)),
)
SEEDS_OF_ACLS = (range(6), pytest.param(range(6, 56), marks=pytest.mark.heavy))
UNKNOWN_SHARE_MAX = 0.03
"""Of all ACLs without which a response changes: those of which `unused-acls` does not know it."""
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(tmp_path: Path, capsys: Any) -> Ask:
    """Return a function that runs a job on the recorded trace, with ACLs."""

    def answer(job: str, *words: str, acls: list[Acl] | None = None) -> dict[str, Any]:
        words = (*words, "--kafka-version", RELEASE, "--engine", "duckdb", "--json")
        for user in ("ANONYMOUS", "admin"):
            words += ("--super-user", f"User:{user}")
        if acls is not None:
            file = tmp_path / "acls.json"
            file.write_text(format_acls_losslessly(acls, "json"))
            words += ("--acls", str(file))
        assert main(["pipeline", job, str(tmp_path / "trace"), *words]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return answer


@pytest.mark.parametrize("seed", SEEDS)
def test_as_many_requests_newly_fail_as_predicted(seed: int, tmp_path: Path, ask: Ask) -> None:
    policies = Policies(seed)
    before = policies.play(policies.present, tmp_path / "trace")
    after = policies.play(policies.candidate)
    failing = sum(
        is_refused(new) and not is_refused(old) for old, new in zip(before, after, strict=True)
    )
    assert ask("what-breaks", acls=policies.candidate)["requests_newly_failing"] == failing


@pytest.mark.parametrize("seeds", SEEDS_OF_ACLS)
def test_the_fewest_acls_refuse_the_same_requests_and_are_needed(
    seeds: range, tmp_path: Path, ask: Ask
) -> None:
    needless = []
    for seed in seeds:
        policies = Policies(seed)
        trace = new_folder(tmp_path / "trace")
        before = policies.play(policies.present, trace)
        least = acls_of(row["acl"] for row in ask("least-acls")["rows"])
        after = policies.play(least)
        without_acl = {n for n in range(len(before)) if accesses_empty_name(trace, n)}
        for number, (old, new) in enumerate(zip(before, after, strict=True)):
            assert is_refused(old) == is_refused(new) or number in without_acl, seed
        needless += [
            (seed, format_acl_rule(acl))
            for acl in least
            if not without_acl and not policies.changes_without(least, acl, after)
        ]
    assert not needless


@pytest.mark.parametrize("seeds", SEEDS_OF_ACLS)
def test_an_acl_is_needed_if_a_response_changes_without_it(
    seeds: range, tmp_path: Path, ask: Ask
) -> None:
    needed, wrong, unknown = 0, [], []
    for seed in seeds:
        policies = Policies(seed)
        present = policies.present
        before = policies.play(present, new_folder(tmp_path / "trace"))
        rows = ask("unused-acls", "--accept-incomplete", acls=present)["rows"]
        for row in rows:
            (acl,) = acls_of([row["acl"]])
            changes = policies.changes_without(present, acl, before)
            needed += changes
            if row["state"] == "not known":
                assert row["not_known"]
                unknown += [(seed, row["acl"])] * changes
            elif changes != (row["state"] == "needed"):
                wrong.append((seed, row["acl"], row["state"]))
        removed = set(acls_of(row["acl"] for row in rows if row["can_go"]))
        after = policies.play([acl for acl in present if acl not in removed])
        assert without_authorized_operations(after) == without_authorized_operations(before), seed
    assert not wrong
    assert len(unknown) <= UNKNOWN_SHARE_MAX * needed, unknown


def new_folder(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir()
    return path


def acls_of(rules: Any) -> list[Acl]:
    return [acl for rule in rules if (acl := parse_acl_rule(rule)) is not None]
