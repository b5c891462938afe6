"""Every job's decisions against plain loops, on random traces, by the rules of all releases.

Without a JVM: the functions that Spark sends to its workers are called here as they are.
"""

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from authorizer.acl_releases import rules_of
from authorizer.authorizer import StandardAuthorizer
from authorizer.model import Acl
from authorizer.store import AclStore
from pipeline.acl_set import AclSet
from pipeline.batches import batches, plan
from pipeline.matches import speaks
from pipeline.removable import Signature, acl_uses
from pipeline.rows import Selection
from pipeline.synthesis import least_for
from pipeline.tables import OBSERVED
from pipeline.verdict import judge
from protocol.api_versions import RELEASES
from protocol.enums import PatternType
from tests.pipeline import twin
from tests.pipeline.traces import random_acls, random_trace

SUPERS = ("User:root",)


class Case:
    """A random trace of one release, with and without everyone allowed where there is no ACL."""

    def __init__(self, folder: Path, release: str, *, everyone: bool) -> None:
        rng = random.Random(f"{release} {everyone}")
        twin.RULES = rules_of(release)
        self.release, self.everyone = release, everyone
        self.present = self._made(rng, 25)
        self.candidate = list(
            dict.fromkeys([*rng.sample(self.present, len(self.present) // 2), *self._made(rng, 8)])
        )
        random_trace(folder, rng, self.authorizer(self.present), 300)
        self.seen = twin.accesses(folder)
        selection = Selection(release=release)
        self.batches = [
            batch
            for split in plan([str(folder)])
            for batch in batches("observed", split, selection)
        ]
        self.rows: list[dict[str, Any]] = pa.Table.from_batches(self.batches, OBSERVED).to_pylist()

    def _made(self, rng: random.Random, count: int) -> list[Acl]:
        acls = random_acls(rng, count)
        if rules_of(self.release).prefixed_patterns:
            return acls
        return [acl for acl in acls if acl.pattern_type is PatternType.LITERAL]

    def authorizer(self, acls: list[Acl]) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=SUPERS,
            allow_everyone=self.everyone,
            rules=rules_of(self.release),
            store=AclStore(acls),
        )

    def acl_set(self, acls: list[Acl]) -> AclSet:
        return AclSet(tuple(acls), SUPERS, self.everyone, self.release)

    def changes(self, acls: list[Acl]) -> dict[tuple[str, ...], int]:
        """What `what-breaks` finds, added up."""
        found: dict[tuple[str, ...], int] = defaultdict(int)
        for batch in judge(self.acl_set(acls))(iter(self.batches)):
            for row in batch.to_pylist():
                if row["allowed"] != row["would_be_allowed"]:
                    change = "newly denied" if row["allowed"] else "newly allowed"
                    key = ("principal", "operation", "resource_type", "resource_name")
                    found[change, *(row[name] for name in key)] += row["requests"]
        return dict(found)

    def expected(self, acls: list[Acl]) -> dict[tuple[str, ...], int]:
        return twin.what_breaks(self.seen, acls, SUPERS, everyone=self.everyone)


FIRSTS = {rules_of(one): one for one in reversed(RELEASES)}
PLAIN = [one for rules, one in FIRSTS.items() if not rules.search_stops_early]
"""The first release with each set of rules. One has a search that misses some ACLs, which is no
plain reading of the rules."""


@pytest.fixture(params=PLAIN)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["nobody", "everyone"])
def case(tmp_path: Path, release: str, request: pytest.FixtureRequest) -> Case:
    return Case(tmp_path, release, everyone=request.param)


def test_what_breaks(case: Case) -> None:
    expected = case.expected(case.candidate)
    assert case.changes(case.candidate) == expected
    assert expected
    assert case.changes(case.present) == {}


def test_unused_acls(case: Case) -> None:
    spoken = [b.to_pylist() for b in speaks(case.acl_set(case.present))(iter(case.batches))]
    seen = [
        (
            Signature(r["is_simple"], tuple(r["allows"]), tuple(r["denies"]), tuple(r["others"])),
            r["requests"],
            r["last_seen"],
        )
        for rows in spoken
        for r in rows
    ]
    uses = acl_uses(case.acl_set(case.present), seen, [])
    alone = twin.redundant(case.seen, case.present, SUPERS, everyone=case.everyone)
    others = [one for one in case.seen if one["principal"] not in SUPERS]
    for use in uses:
        mine = [one for one in others if twin.applies(use.acl, one)]
        assert use.requests == len(mine)
        assert (use.state == "never used") == (not mine)
        if use.state in ("needed", "redundant"):
            assert (use.state == "redundant") == (use.acl in alone)
    rest = [use.acl for use in uses if not use.can_go]
    assert len(rest) < len(uses)
    assert case.expected(rest) == {}


def test_least_acls(case: Case) -> None:
    by_principal: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in case.rows:
        by_principal[row["principal"]].append(row)
    least = [grant.acl for who, rows in by_principal.items() for grant in least_for(who, rows)]
    assert twin.what_breaks(case.seen, least, SUPERS) == {}
    for acl in least:  # none of them is superfluous
        rest = [other for other in least if other != acl]
        assert twin.what_breaks(case.seen, rest, SUPERS) != {}


def test_a_search_that_stops_early_is_asked_as_it_is(tmp_path: Path) -> None:
    early = [one for one in RELEASES if rules_of(one).search_stops_early]
    assert early
    for number, release in enumerate(early):
        case = Case(tmp_path / str(number), release, everyone=False)
        assert case.changes(case.present) == {}
