"""pipeline.jobs against plain Python twins, on random traces with everything that ACLs can be."""

import random
from pathlib import Path
from typing import Any

import pytest

from authorizer.acl_releases import rules_of
from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from pipeline.acl_set import AclSet, acl_text, parse_rule
from protocol.api_versions import RELEASES
from protocol.enums import Operation, PatternType
from tests.pipeline import twin
from tests.pipeline.traces import random_acls, random_trace

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]
SUPERS = ("User:root",)
CASES = ((0, RELEASES[-1], False), (1, "2.8", True))
"""Seed, release, and whether everyone is allowed where there is no ACL."""


class Case:
    """A random trace, the ACLs it was made with, another set, and the accesses on Spark."""

    def __init__(self, spark: Any, folder: Path, seed: int, release: str, everyone: bool) -> None:
        from pipeline.observed import asked, observed, setting

        rng = random.Random(seed)
        self.release = release
        self.everyone = everyone
        twin.RULES = rules_of(release)
        self.present = random_acls(rng, 25)
        self.candidate = rng.sample(self.present, 15) + random_acls(rng, 5)
        authorizer = StandardAuthorizer(
            super_users=SUPERS,
            allow_everyone=self.everyone,
            rules=rules_of(release),
            store=AclStore(self.present),
        )
        random_trace(folder, rng, authorizer, 500)
        self.seen = twin.accesses(folder)
        self.frame = asked(
            observed(spark, [str(folder)], {"splitBytes": "8000", "release": release})
        ).persist()
        assert setting(self.frame) == (SUPERS, self.everyone and self._has_open())

    def _has_open(self) -> bool:
        return any(one["rule"] == "DefaultAllow" for one in self.seen)

    def acl_set(self, acls: list[Any]) -> AclSet:
        return AclSet(tuple(dict.fromkeys(acls)), SUPERS, self.everyone, self.release)


@pytest.fixture(scope="module", params=CASES, ids=lambda of: of[1])
def case(spark: Any, tmp_path_factory: pytest.TempPathFactory, request: Any) -> Any:
    made = Case(spark, tmp_path_factory.mktemp("trace"), *request.param)
    yield made
    made.frame.unpersist()


def test_what_breaks_is_what_plain_loops_find(case: Case) -> None:
    from pipeline.jobs.what_breaks import what_breaks

    rows = what_breaks(case.frame, case.acl_set(case.candidate)).collect()
    found = {
        (r["change"], r["principal"], r["operation"], r["resource_type"], r["resource_name"]): r
        for r in rows
    }
    expected = twin.what_breaks(case.seen, case.candidate, SUPERS, everyone=case.everyone)
    assert {key: row["requests"] for key, row in found.items()} == expected
    assert {key[0] for key in expected} == {"newly denied", "newly allowed"}
    for (change, *key), row in found.items():
        mine = [one for one in case.seen if twin.key(one) == tuple(key)]
        mine = [one for one in mine if one["allowed"] == (change == "newly denied")]
        assert row["hosts"]
        assert set(row["hosts"]) <= {one["host"] for one in mine}
        assert row["rule"] in {one["rule"] for one in mine}
        assert row["example"].startswith("broker-1/")


def test_nothing_changes_with_the_same_acls(case: Case) -> None:
    from pipeline.jobs.what_breaks import what_breaks

    present = case.acl_set(case.present)
    assert what_breaks(case.frame, present).collect() == []
    other = case.acl_set(case.candidate)
    there = what_breaks(case.frame, other, baseline=present).count()
    assert there == what_breaks(case.frame, other).count()
    assert what_breaks(case.frame, other, baseline=other).count() == 0


def test_unused_acls_are_what_plain_loops_find(case: Case) -> None:
    from pipeline.jobs.unused_acls import unused_acls

    rows = {
        row["acl"]: row for row in unused_acls(case.frame, case.acl_set(case.present)).collect()
    }
    assert len(rows) == len(case.present)
    alone = twin.redundant(case.seen, case.present, SUPERS, everyone=case.everyone)
    others = [one for one in case.seen if one["principal"] not in SUPERS]
    for acl in case.present:
        row = rows[acl_text(acl)]
        uses = [one for one in others if twin.applies(acl, one)]
        assert row["requests"] == len(uses)
        assert (row["state"] == "never used") == (not uses)
        if row["state"] == "needed":
            assert acl not in alone
        elif row["state"] == "redundant":
            assert acl in alone
        if row["shadowed_by"]:
            assert covered(acl, parse_rule(row["shadowed_by"])), row
    rest = [acl for acl in case.present if not rows[acl_text(acl)]["can_go"]]
    assert len(rest) < len(case.present)
    assert twin.what_breaks(case.seen, rest, SUPERS, everyone=case.everyone) == {}
    for acl in rest:  # none more could go
        fewer = [other for other in rest if other != acl]
        assert twin.what_breaks(case.seen, fewer, SUPERS, everyone=case.everyone) != {}


def covered(acl: Any, by: Any) -> bool:
    prefixed = by.pattern_type is PatternType.PREFIXED
    same = by.resource_name in (acl.resource_name, "*")
    return (
        acl != by
        and by.principal in (acl.principal, "User:*")
        and by.host in (acl.host, "*")
        and (acl.resource_name.startswith(by.resource_name) if prefixed else same)
    )


def test_the_least_acls_allow_exactly_what_was_allowed(case: Case) -> None:
    from pipeline.jobs.least_acls import collected, least_acls

    least = collected(least_acls(case.frame))
    assert twin.what_breaks(case.seen, least, SUPERS) == {}
    assert all(acl.pattern_type is PatternType.LITERAL for acl in least)
    for acl in least:
        rest = [other for other in least if other != acl]
        assert twin.what_breaks(case.seen, rest, SUPERS) != {}, acl


def test_prefixes_stay_within_their_budget(case: Case) -> None:
    from pipeline.jobs.least_acls import collected, least_acls

    exact = collected(least_acls(case.frame))
    for budget in (0, 3):
        frame = least_acls(case.frame, budget)
        least = collected(frame)
        assert twin.what_breaks(case.seen, least, SUPERS) == {}
        assert len(least) <= len(exact)
        over: dict[str, int] = {}
        for row in frame.collect():
            over[row["principal"]] = over.get(row["principal"], 0) + len(row["over_grants"])
        assert max(over.values()) <= budget


def test_denials_are_what_plain_loops_find(case: Case) -> None:
    from pipeline.jobs.denials import denials

    expected: dict[tuple[str, ...], int] = {}
    for one in case.seen:
        if not one["allowed"]:
            expected[twin.key(one)] = expected.get(twin.key(one), 0) + 1
    rows = denials(case.frame).collect()
    found = {
        (r["principal"], r["operation"], r["resource_type"], r["resource_name"]): r["requests"]
        for r in rows
    }
    assert found == expected
    for row in rows:
        verb, text = row["remedy"].split(" ", 1)
        acl = parse_rule(text)
        assert acl is not None
        access = (
            next(
                one
                for one in case.seen
                if not one["allowed"]
                and twin.key(one)[0] == row["principal"]
                and one["rule"] == text
            )
            if verb == "remove"
            else None
        )
        assert (access is not None) == (verb == "remove")
        assert verb == "remove" or acl.operation is Operation[row["operation"]]
