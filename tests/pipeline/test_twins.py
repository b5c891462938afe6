"""Every job's decisions equal those of plain loops, on random traces, for all releases' rules.

No JVM is needed: the functions that Spark would send to its workers are called directly.
"""

import random
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acl_decisions import AclDecider
from kafka_shim.pipeline.acl_signatures import split_by_signature
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.acls.authorizer_decisions import decide_access
from kafka_shim.pipeline.acls.matches import DecidingAclFinder, DecisionSignature
from kafka_shim.pipeline.acls.removable import AclUsage, CountedSignature, usage_of_each_acl
from kafka_shim.pipeline.acls.required_access import observed_access_of_row
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.rows.access_row import DECISION_COLUMNS
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.tables import OBSERVED
from kafka_shim.policy.formats.trace_rule import format_decision_rule, parse_acl_rule
from kafka_shim.policy.least.least_acls import least_grants
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, PatternType, Permission
from tests.pipeline import twin
from tests.pipeline.traces import HOSTS, PRINCIPALS, random_acls, random_trace
from tests.support.checked_folders import PIPELINE

pytestmark = PIPELINE

SUPERS = ("User:root",)
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Case:
    """A random trace of a release, with or without allow.everyone.if.no.acl.found."""

    def __init__(self, folder: Path, release: str, *, everyone: bool) -> None:
        rng = random.Random(f"{release} {everyone}")
        twin.RULES = acl_rules_of_release(release)
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
            for split in plan_splits([str(folder)])
            for batch in table_batches("observed", split, selection)
        ]
        self.rows: list[dict[str, Any]] = pa.Table.from_batches(self.batches, OBSERVED).to_pylist()

    def _made(self, rng: random.Random, count: int) -> list[Acl]:
        acls = random_acls(rng, count)
        if acl_rules_of_release(self.release).has_prefixed_patterns:
            return acls
        return [acl for acl in acls if acl.pattern_type is PatternType.LITERAL]

    def authorizer(self, acls: list[Acl]) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=SUPERS,
            allow_everyone=self.everyone,
            rules=acl_rules_of_release(self.release),
            store=AclStore(acls),
        )

    def acl_set(self, acls: list[Acl]) -> AclSet:
        return AclSet(tuple(acls), SUPERS, self.everyone, self.release)

    def changes(self, acls: list[Acl]) -> dict[tuple[str, ...], int]:
        """Return the number of requests of each change that `what-breaks` finds."""
        found: dict[tuple[str, ...], int] = defaultdict(int)
        acl_set, engine = self.acl_set(acls), DuckDbEngine()
        authorizer, decider = acl_set.build_authorizer(), AclDecider(engine, acl_set)
        accesses = engine.relation_from_arrow(pa.Table.from_batches(self.batches, OBSERVED))
        decided = decider.with_decisions(accesses, "would_be_")
        for row in engine.rows(decider.replace_rule_numbers(decided, "would_be_")):
            decision = decide_access(authorizer, row)
            assert row["would_be_allowed"] == decision.allowed
            assert row["would_be_rule"] == format_decision_rule(decision)
            if row["allowed"] != decision.allowed:
                change = "newly denied" if row["allowed"] else "newly allowed"
                key = ("principal", "operation", "resource_type", "resource_name")
                found[change, *(row[name] for name in key)] += row["requests"]
        return dict(found)

    def expected(self, acls: list[Acl]) -> dict[tuple[str, ...], int]:
        return twin.what_breaks(self.seen, acls, SUPERS, everyone=self.everyone)


FIRSTS = {acl_rules_of_release(release): release for release in reversed(RELEASES)}
PLAIN = [release for rules, release in FIRSTS.items() if not rules.prefix_search_stops_early]
"""The first release with each set of rules, except for the rules whose search misses some ACLs."""


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


def uses_of(case: Case) -> list[AclUsage]:
    engine, present = DuckDbEngine(), case.acl_set(case.present)
    accesses = engine.relation_from_arrow(pa.Table.from_batches(case.batches, OBSERVED))
    signatures, others = split_by_signature(engine, accesses, present)
    finder = DecidingAclFinder(present, present.build_authorizer().store)
    rows = [row for row in case.rows if row["principal"] not in SUPERS]
    by_store = {relevant_part(case, finder.find_signature(row)) for row in rows}
    assert {relevant_part(case, signature) for signature, *_ in signatures} == by_store
    return usage_of_each_acl(present, signatures, others)


def random_questions(rng: random.Random, count: int) -> list[dict[str, Any]]:
    """Return rows of `observed` with alternatives and accesses to any topic."""
    operations = ("READ", "WRITE", "CREATE", "DESCRIBE", "DESCRIBE_CONFIGS")
    names = ("orders-eu", "orders", "*eu", "*", "payments", "o|x", "team.a.log", "ü-1")

    def access() -> str:
        return f"{rng.choice(operations)}|TOPIC|{rng.choice(names)}"

    rows = []
    for number in range(count):
        operation, kind, name = access().split("|", 2)
        instead = [access() for _ in range(rng.choice((0, 0, 1, 2)))]
        api_key = rng.choice((ApiKey.FETCH, ApiKey.CREATE_TOPICS, ApiKey.INIT_PRODUCER_ID))
        rows.append(
            dict.fromkeys(OBSERVED.names)
            | {"principal": rng.choice((*PRINCIPALS, *SUPERS)), "host": rng.choice(MORE_HOSTS)}
            | {"api": "x", "api_key": int(api_key), "api_version": 1, "operation": operation}
            | {"resource_type": kind, "resource_name": name, "instead": instead}
            | {"allowed": True, "requests": 1, "example": str(number)}
        )
    return rows


MORE_HOSTS = (*HOSTS, "192.168.1.5", "2001:db8::1")


@pytest.mark.parametrize("everyone", [False, True], ids=["nobody", "everyone"])
@pytest.mark.parametrize("release", FIRSTS.values())
def test_joins_decide_like_the_authorizer(release: str, everyone: bool) -> None:
    """Also alternatives, accesses to any resource of a type, networks and unusual names."""
    rng = random.Random(f"{release} {everyone} joins")
    acls = random_acls(rng, 60)
    acls += [
        msgspec.structs.replace(acl, host=rng.choice(("10.0.0.0/8", "2001:db8::/32")))
        for acl in rng.sample(acls, 10)
    ]
    if not acl_rules_of_release(release).has_prefixed_patterns:
        acls = [acl for acl in acls if acl.pattern_type is PatternType.LITERAL]
    acl_set = AclSet(tuple(dict.fromkeys(acls)), SUPERS, everyone, release)
    rows = random_questions(rng, 400)
    engine, authorizer = DuckDbEngine(), acl_set.build_authorizer()
    decider = AclDecider(engine, acl_set)
    accesses = engine.relation_from_arrow(pa.Table.from_pylist(rows, OBSERVED))
    decided = engine.rows(
        decider.replace_rule_numbers(decider.with_decisions(accesses, "would_be_"), "would_be_")
    )
    assert len(decided) == len(rows)
    for row in decided:
        decision = decide_access(authorizer, row)
        found = row["would_be_allowed"], row["would_be_rule"]
        assert found == (decision.allowed, format_decision_rule(decision)), row
    assert everyone or {row["would_be_allowed"] for row in decided} == {True, False}


def relevant_part(case: Case, signature: DecisionSignature) -> DecisionSignature:
    """Return a signature without the ACLs that matter only if everyone is allowed without ACLs."""
    return signature if case.everyone else msgspec.structs.replace(signature, inapplicable=())


def test_unused_acls(case: Case) -> None:
    uses = uses_of(case)
    alone = twin.redundant(case.seen, case.present, SUPERS, everyone=case.everyone)
    others = [access for access in case.seen if access["principal"] not in SUPERS]
    for use in uses:
        mine = [access for access in others if twin.applies(use.acl, access)]
        assert use.requests == len(mine)
        assert (use.state == "never used") == (not mine)
        if use.state in ("needed", "redundant"):
            assert (use.state == "redundant") == (use.acl in alone)
    rest = [use.acl for use in uses if not use.can_be_removed_with_others]
    assert len(rest) < len(uses)
    assert case.expected(rest) == {}


def test_unused_acls_that_only_the_authorizer_can_decide(case: Case) -> None:
    """Accesses with alternatives, and checks of any resource of a type."""
    cluster = {"operation": "IDEMPOTENT_WRITE", "resource_type": "CLUSTER"}
    asked = {"host": HOSTS[0], "api_key": int(ApiKey.INIT_PRODUCER_ID), "instead": []}
    producers = [
        {**asked, "operation": "WRITE", "resource_type": "TOPIC", "resource_name": "*"},
        {**asked, **cluster, "resource_name": "kafka-cluster", "instead": ["WRITE|TOPIC|*"]},
    ]
    instead = {"operation": "READ", "resource_name": "orders", "instead": ["WRITE|TOPIC|payments"]}
    rows = [
        {**row, "principal": who}
        for row in (*producers, {**asked, "resource_type": "TOPIC", **instead})
        for who in PRINCIPALS
    ]
    checked_by_asking(case, rows)


def test_unused_acls_where_some_are_overlooked(early: Case) -> None:
    rows = [{name: row[name] for name in DECISION_COLUMNS} for row in early.rows]
    checked_by_asking(early, rows)


def checked_by_asking(case: Case, rows: list[dict[str, Any]]) -> None:
    """Compare the states of ACLs with the decisions after removing one, or all removable ones."""

    def decisions(acls: list[Acl]) -> list[bool]:
        authorizer = case.authorizer(acls)
        return [decide_access(authorizer, row).allowed for row in rows]

    before = decisions(case.present)
    present = case.acl_set(case.present)
    matcher = DecidingAclFinder(present, present.build_authorizer().store)
    seen = [
        CountedSignature(matcher.find_signature(row), 1, BEGIN)
        for row in rows
        if row["principal"] not in SUPERS
    ]
    uses = usage_of_each_acl(present, seen, [{**row, "has_effect": True} for row in rows])
    for use in uses:
        if use.state in ("needed", "redundant"):
            fewer = [acl for acl in case.present if acl != use.acl]
            assert (decisions(fewer) == before) == (use.state == "redundant"), use
    rest = [use.acl for use in uses if not use.can_be_removed_with_others]
    assert decisions(rest) == before
    assert len(rest) < len(uses)
    for acl in rest:  # no further ACL can be removed
        same_pattern = [other for other in rest if _pattern(other) == _pattern(acl)]
        if acl.permission is Permission.DENY or (case.everyone and same_pattern == [acl]):
            continue  # it keeps something closed, observed or not
        assert decisions([other for other in rest if other != acl]) != before, acl


def _pattern(acl: Acl) -> tuple[object, ...]:
    return acl.resource_type, acl.pattern_type, acl.resource_name


def test_least_acls(case: Case) -> None:
    by_principal: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in case.rows:
        by_principal[row["principal"]].append(row)
    least = [
        grant.acl
        for rows in by_principal.values()
        for grant in least_grants(
            observed_access_of_row(row) for row in rows if row["rule"] != "SuperUser"
        )
    ]
    assert twin.what_breaks(case.seen, least, SUPERS) == {}
    for acl in least:  # every ACL is needed
        rest = [other for other in least if other != acl]
        assert twin.what_breaks(case.seen, rest, SUPERS) != {}


@pytest.fixture(
    params=[
        release for release in RELEASES if acl_rules_of_release(release).prefix_search_stops_early
    ]
)
def early(tmp_path: Path, request: pytest.FixtureRequest) -> Case:
    return Case(tmp_path, request.param, everyone=False)


def test_an_early_search_is_decided_with_its_bugs(early: Case) -> None:
    assert early.changes(early.present) == {}


def test_an_acl_that_nobody_uses_may_hide_another(early: Case) -> None:
    """The search for `ab` finds the prefix `a` only if no other name lies between them."""
    texts = ("TOPIC|a|PREFIXED|User:alice|*|READ|ALLOW", "TOPIC|aa|LITERAL|User:bob|*|READ|ALLOW")
    early.present = [acl for text in texts if (acl := parse_acl_rule(text))]
    asked = {"principal": "User:alice", "host": HOSTS[0], "api_key": 1, "instead": []}
    row = {**asked, "operation": "READ", "resource_type": "TOPIC", "resource_name": "ab"}
    present = early.acl_set(early.present)
    assert not decide_access(present.build_authorizer(), row).allowed
    matcher = DecidingAclFinder(present, present.build_authorizer().store)
    seen = [CountedSignature(matcher.find_signature(row), 1, BEGIN)]
    uses = usage_of_each_acl(present, seen, [{**row, "has_effect": True}])
    assert [(use.state, use.can_be_removed_with_others) for use in uses] == [
        ("redundant", True),
        ("never used", False),
    ]
