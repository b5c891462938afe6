"""Each part of `report` uses the ACLs that it is about: those in force, or the new ones."""

import random
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.api_versions import RELEASES
from tests.pipeline import twin
from tests.pipeline.asking import response
from tests.pipeline.traces import random_acls, random_trace
from tests.support.printed_steps import parse_steps

SUPERS = ("User:root",)
Parts = dict[str, list[dict[str, Any]]]


class Reported:
    """A trace, the ACLs in force, which are not those that decided it, and new ones."""

    def __init__(self, folder: Path, capsys: Any) -> None:
        twin.RULES = acl_rules_of_release(RELEASES[-1])
        rng = random.Random(12)
        acls = random_acls(rng, 25)
        authorizer = StandardAuthorizer(super_users=SUPERS, store=AclStore(acls))
        random_trace(folder / "trace", rng, authorizer, 300)
        self.seen = twin.accesses(folder / "trace")
        self.present, self.new = acls[8:], [*acls[:-6], *random_acls(rng, 8)]
        words = ["report", str(folder / "trace"), "--engine", "duckdb"]
        for option, given in (("--acls", self.present), ("--candidate", self.new)):
            file = folder / f"{option}.csv"
            file.write_text(format_acls_losslessly(given, "csv"))
            words += [option, str(file)]
        found = response(capsys, *words)
        self.parts: Parts = {part["job"]: part["rows"] for part in found["parts"]}

    def is_allowed(self, acls: list[Acl], access: dict[str, Any]) -> bool:
        return twin.decide(acls, SUPERS, access)


@pytest.fixture
def reported(tmp_path: Path, capsys: Any) -> Reported:
    return Reported(tmp_path, capsys)


def test_what_breaks_compares_the_new_acls_with_those_in_force(reported: Reported) -> None:
    expected: dict[tuple[str, ...], int] = {}
    for access in reported.seen:
        before, after = (
            reported.is_allowed(acls, access) for acls in (reported.present, reported.new)
        )
        if before != after:
            change = "newly denied" if before else "newly allowed"
            at = (change, *twin.key(access))
            expected[at] = expected.get(at, 0) + 1
    assert {change for change, *_ in expected} == {"newly denied", "newly allowed"}
    names = ("change", "principal", "operation", "resource_type", "resource_name")
    found = {
        tuple(row[name] for name in names): row["requests"] for row in reported.parts["what-breaks"]
    }
    assert found == expected


def test_unused_acls_are_of_those_in_force(reported: Reported) -> None:
    others = [access for access in reported.seen if access["principal"] not in SUPERS]
    assert {row["acl"]: row["requests"] for row in reported.parts["unused-acls"]} == {
        format_acl_rule(acl): sum(twin.applies(acl, access) for access in others)
        for acl in reported.present
    }


def test_a_remedy_changes_the_acls_in_force(reported: Reported) -> None:
    rows = reported.parts["denials"]
    assert rows
    for row in rows:
        acls = list(reported.present)
        for verb, acl in parse_steps(row["remedy"]):
            (acls.append if verb == "add" else acls.remove)(acl)
        key = (row["principal"], row["operation"], row["resource_type"], row["resource_name"])
        denied = [a for a in reported.seen if twin.key(a) == key and not a["allowed"]]
        assert denied
        assert all(reported.is_allowed(acls, access) for access in denied), row["remedy"]
