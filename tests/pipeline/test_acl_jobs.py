"""The jobs about ACLs have the same results as plain Python loops, whichever engine reads."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acls.acl_set import AclSet
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.jobs.denials import denials
from kafka_shim.pipeline.jobs.least_acls import (
    collect_sorted_acls,
    least_acls,
    probable_super_users,
)
from kafka_shim.pipeline.jobs.unused_acls import unused_acls
from kafka_shim.pipeline.jobs.what_breaks import (
    COLUMNS,
    add_changed_request_counts,
    possibly_changed_accesses,
    sum_changed_decisions,
    what_breaks,
)
from kafka_shim.pipeline.least_grants import UNSEEN
from kafka_shim.pipeline.request_accesses import (
    accesses_of_requests,
    observed_settings,
)
from kafka_shim.pipeline.rows.access_roles import REFUSED
from kafka_shim.pipeline.tables import OBSERVED
from kafka_shim.pipeline.trace_input import TraceInput, local_trace_input, spark_trace_input
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import format_acl_rule, parse_acl_rule
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.trace_format.entries import AUDIT, Access, BlockBody, Connection, Entry
from kafka_shim.trace_format.segments import SegmentWriter
from tests.pipeline import twin
from tests.pipeline.asking import response
from tests.pipeline.traces import (
    START_US,
    TraceMaker,
    create_frame,
    random_acls,
    random_trace,
)
from tests.support.checked_folders import PIPELINE
from tests.support.printed_steps import parse_steps

pytestmark = [PIPELINE, pytest.mark.timeout(600)]
SUPERS = ("User:root",)
START = datetime(2026, 1, 1, tzinfo=UTC)
CASES = ((0, RELEASES[-1], False), (1, "2.8", True))
"""Seed, release, and the value of allow.everyone.if.no.acl.found."""


@pytest.fixture
def engine() -> DuckDbEngine:
    return DuckDbEngine()


class Case:
    """A random trace, the ACLs that decided it, other ACLs, and the accesses that were read."""

    def __init__(
        self, read: Callable[..., TraceInput], folder: Path, seed: int, release: str, everyone: bool
    ) -> None:
        rng = random.Random(seed)
        self.release = release
        self.everyone = everyone
        twin.RULES = acl_rules_of_release(release)
        self.present = random_acls(rng, 25)
        self.candidate = rng.sample(self.present, 15) + random_acls(rng, 5)
        authorizer = StandardAuthorizer(
            super_users=SUPERS,
            allow_everyone=self.everyone,
            rules=acl_rules_of_release(release),
            store=AclStore(self.present),
        )
        random_trace(folder, rng, authorizer, 300, names=3)
        self.seen = twin.accesses(folder)
        trace = read([str(folder)], {"splitBytes": "8000", "release": release})
        self.engine = engine = trace.engine
        self.frame = accesses_of_requests(
            engine, trace.to_deciding_engine(trace.distinct_accesses())
        )
        requested = trace.to_deciding_engine(trace.accesses_by_request(*COLUMNS))
        self.accesses = accesses_of_requests(engine, requested)
        assert observed_settings(engine, self.frame) == (
            SUPERS,
            self.everyone and self._has_open(),
        )

    def _has_open(self) -> bool:
        return any(access["rule"] == "DefaultAllow" for access in self.seen)

    def acl_set(self, acls: list[Any]) -> AclSet:
        return AclSet(tuple(dict.fromkeys(acls)), SUPERS, self.everyone, self.release)

    def rows(self, relation: Any) -> list[dict[str, Any]]:
        return self.engine.rows(relation)

    def least_acls(self, *options: Any, **further: Any) -> list[Acl]:
        least = least_acls(self.engine, self.frame, *options, **further)
        return collect_sorted_acls(self.engine, least)


CASES_OF_READERS = (  # Spark is slow to start each query, and the last case has every part of them
    *(("duckdb", *of) for of in CASES),
    pytest.param(("spark", *CASES[-1]), marks=pytest.mark.spark),
)


@pytest.fixture(scope="module", params=CASES_OF_READERS, ids=lambda of: f"{of[0]}-{of[2]}")
def case(tmp_path_factory: pytest.TempPathFactory, request: Any) -> Case:
    reader, *of = request.param
    read: Callable[..., TraceInput] = local_trace_input
    if reader == "spark":
        read = partial(spark_trace_input, request.getfixturevalue("spark"))
    made = Case(read, tmp_path_factory.mktemp("trace"), *of)
    twin.RULES = acl_rules_of_release(made.release)
    return made


def test_what_breaks_agrees_with_plain_loops(case: Case) -> None:
    rows = case.rows(what_breaks(case.engine, case.frame, case.acl_set(case.candidate)))
    found = {
        (r["change"], r["principal"], r["operation"], r["resource_type"], r["resource_name"]): r
        for r in rows
    }
    expected = twin.what_breaks(case.seen, case.candidate, SUPERS, everyone=case.everyone)
    assert {key: row["requests"] for key, row in found.items()} == expected
    assert {key[0] for key in expected} == {"newly denied", "newly allowed"}
    for (change, *key), row in found.items():
        mine = [access for access in case.seen if twin.key(access) == tuple(key)]
        mine = [access for access in mine if access["allowed"] == (change == "newly denied")]
        assert row["hosts"]
        assert set(row["hosts"]) <= {access["host"] for access in mine}
        assert row["rule"] in {access["rule"] for access in mine}
        assert row["example"].startswith("broker-1/")


@pytest.mark.parametrize("hosts", ["ab", "aa"], ids=["single", "repeated"])
def test_changes_are_single_or_summed(engine: DuckDbEngine, hosts: str) -> None:
    """A change of a principal is one row, with the hosts of all its accesses."""
    columns: dict[str, list[Any]] = {name: [None, None] for name in OBSERVED.names}
    columns |= {
        "principal": ["User:a", f"User:{hosts[1]}"],
        "host": ["h1", "h2"],
        "api": ["Fetch", "Fetch"],
        "api_key": [1, 1],
        "operation": ["READ", "READ"],
        "resource_type": ["TOPIC", "TOPIC"],
        "resource_name": ["t", "t"],
        "role": ["required", "required"],
        "instead": [[], []],
        "allowed": [True, True],
        "requests": [2, 3],
        "first_seen": [START, START],
        "last_seen": [START, START],
    }
    accesses = engine.relation_from_arrow(pa.Table.from_pydict(columns, OBSERVED))
    rows = engine.rows(what_breaks(engine, accesses, AclSet(())))
    expected = (
        {"User:a": (["h1", "h2"], 5)}
        if hosts == "aa"
        else {"User:a": (["h1"], 2), "User:b": (["h2"], 3)}
    )
    assert {row["principal"]: (row["hosts"], row["requests"]) for row in rows} == expected


@pytest.mark.parametrize("by_baseline", [False, True])
def test_changed_requests_agree_with_plain_loops(case: Case, by_baseline: bool) -> None:
    baseline = [*case.present[3:], *case.candidate[-2:]] if by_baseline else None
    before = None if baseline is None else case.acl_set(baseline)
    engine = case.engine
    decided = engine.materialize(
        possibly_changed_accesses(engine, case.frame, case.acl_set(case.candidate), before)
    )
    changes = sum_changed_decisions(engine, decided)
    rows = case.rows(
        add_changed_request_counts(engine, changes, decided, case.accesses, by_baseline=by_baseline)
    )
    expected = twin.changed_requests(
        case.seen, case.candidate, SUPERS, everyone=case.everyone, baseline=baseline
    )
    for row in rows:
        key = (row["change"], row["principal"])
        whole = (*key, row["operation"], row["resource_type"], row["resource_name"])
        assert row["requests_changed"] == len(expected.pop(whole, ())), whole
        assert row["requests_changed_of_principal"] == len(expected.get(key, ())), key
    assert {len(key) for key in expected} == {2}
    assert {key[0] for key in expected} == {"newly denied", "newly allowed"}
    # some changed accesses do not change the result of their requests
    assert any(row["requests_changed"] < row["requests"] for row in rows)


def test_a_request_with_alternatives_fails_if_none_is_left(tmp_path: Path, capsys: Any) -> None:
    """One request creates two topics: CREATE on the cluster replaces CREATE on both topics."""
    texts = (
        "TOPIC|orders|PREFIXED|User:alice|*|CREATE|ALLOW",
        "CLUSTER|kafka-cluster|LITERAL|User:alice|*|CREATE|ALLOW",
    )
    by_topic, by_cluster = (acl for text in texts if (acl := parse_acl_rule(text)))
    trace = str(tmp_path / "trace")
    maker = TraceMaker(Path(trace), StandardAuthorizer(store=AclStore([by_topic])))
    cluster = (Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    topics = [(Operation.CREATE, ResourceType.TOPIC, name) for name in ("orders-1", "orders-2")]
    names = [name for _, _, name in topics]
    for _ in range(3):
        maker.ask(
            *("User:alice", "h", ApiKey.CREATE_TOPICS, [cluster, *topics]),
            create_frame(*names),
            version=5,
        )
    maker.close()
    for acls, requests in (([by_cluster], 0), ([by_topic], 0), ([], 3)):
        candidate = tmp_path / "candidate.csv"
        candidate.write_text(format_acls_losslessly(acls, "csv"))
        found = response(
            capsys, "what-breaks", trace, "--acls", str(candidate), "--engine", "duckdb"
        )
        assert found["requests_newly_failing"] == requests
        assert found["requests_newly_succeeding"] == 0
        assert found["newly_denied"] == len(found["rows"]) == (2 if requests else 0)
        assert [row["requests_changed"] for row in found["rows"]] == [3] * found["newly_denied"]


def test_lines_of_an_authorizer_log_are_grouped_by_time_and_api(
    tmp_path: Path, capsys: Any
) -> None:
    """The log does not identify requests; here, two of three denials have the same time."""
    who = Connection(0, 0, 1, "SASL", "h", 1, "User:a", access_source=AUDIT)
    asked = (ApiKey.FETCH, 0, Operation.READ, ResourceType.TOPIC)
    lines: list[Entry] = [
        Access(0, n, START_US + when, *asked, f"t{n}", True, "x")
        for n, when in enumerate((0, 0, 5, 7))
    ]
    writer = SegmentWriter(tmp_path / "trace", "log")
    writer.write_block(BlockBody([who], lines))
    writer.close()
    candidate = tmp_path / "candidate.yaml"
    candidate.write_text("- {principal: User:a, allow: Read, topic: t3}")
    found = response(capsys, "what-breaks", str(tmp_path / "trace"), "--acls", str(candidate))
    assert (found["newly_denied"], found["requests_newly_failing"]) == (3, 2)
    person = {"change": "newly denied", "principal": "User:a", "accesses": 3, "requests": 2}
    assert found["principals"] == [person]


def test_nothing_changes_with_the_same_acls(case: Case) -> None:
    present = case.acl_set(case.present)
    other = case.acl_set(case.candidate)

    def changes(candidate: AclSet, baseline: AclSet | None = None) -> list[dict[str, Any]]:
        return case.rows(what_breaks(case.engine, case.frame, candidate, baseline))

    assert changes(present) == []
    assert len(changes(other, present)) == len(changes(other))
    assert changes(other, other) == []


def test_without_a_certain_effect_no_acl_is_known_to_be_needed(case: Case) -> None:
    columns = ", ".join(name for name in case.engine.columns(case.frame) if name != "role")
    refused = case.engine.sql(
        f"select {columns}, '{REFUSED}' as role from {{accesses}}", accesses=case.frame
    )
    certain, uncertain = (
        {
            row["acl"]: row["state"]
            for row in case.rows(unused_acls(case.engine, frame, case.acl_set(case.present)))
        }
        for frame in (case.frame, refused)
    )
    assert "needed" in certain.values()
    assert uncertain == {
        acl: "not known" if state == "needed" else state for acl, state in certain.items()
    }


def test_unused_acls_agree_with_plain_loops(case: Case) -> None:
    usage = unused_acls(case.engine, case.frame, case.acl_set(case.present))
    rows = {row["acl"]: row for row in case.rows(usage)}
    assert len(rows) == len(case.present)
    alone = twin.redundant(case.seen, case.present, SUPERS, everyone=case.everyone)
    others = [access for access in case.seen if access["principal"] not in SUPERS]
    for acl in case.present:
        row = rows[format_acl_rule(acl)]
        uses = [access for access in others if twin.applies(acl, access)]
        assert row["requests"] == len(uses)
        assert (row["state"] == "never used") == (not uses)
        if row["state"] == "needed":
            assert acl not in alone
        elif row["state"] == "redundant":
            assert acl in alone
        if row["shadowed_by"]:
            assert covered(acl, parse_acl_rule(row["shadowed_by"])), row
    rest = [acl for acl in case.present if not rows[format_acl_rule(acl)]["can_go"]]
    assert len(rest) < len(case.present)
    assert twin.what_breaks(case.seen, rest, SUPERS, everyone=case.everyone) == {}
    for acl in rest:  # no further ACL can be removed
        fewer = [other for other in rest if other != acl]
        patterns = {(each.resource_type, each.pattern_type, each.resource_name) for each in fewer}
        is_last = (acl.resource_type, acl.pattern_type, acl.resource_name) not in patterns
        if acl.permission is Permission.DENY or (case.everyone and is_last):
            continue  # it keeps something closed, observed or not
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
    least = case.least_acls()
    assert twin.what_breaks(case.seen, least, SUPERS) == {}
    assert all(acl.pattern_type is PatternType.LITERAL for acl in least)
    for acl in least:
        rest = [other for other in least if other != acl]
        assert twin.what_breaks(case.seen, rest, SUPERS) != {}, acl
    without = case.least_acls(super_users=["User:alice"])
    assert without == [acl for acl in least if acl.principal != "User:alice"]
    assert len(without) < len(least)


def test_super_users_are_guessed_without_rules(engine: DuckDbEngine) -> None:
    alter, read = ("ALTER", "CLUSTER"), ("READ", "TOPIC")
    rows = [
        ("User:ops", *alter, True, ""),
        ("User:ops", *read, True, ""),
        ("User:denied", *alter, True, ""),
        ("User:denied", *read, False, ""),
        ("User:reader", *read, True, ""),
        ("User:granted", *alter, True, "CLUSTER|kafka-cluster|LITERAL|User:granted|*|ALTER|ALLOW"),
    ]
    names = ("principal", "operation", "resource_type", "allowed", "rule")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    found = probable_super_users(engine, engine.relation_from_arrow(table))
    assert found == ["User:ops"]


def test_prefixes_stay_within_their_budget(case: Case) -> None:
    exact = case.least_acls()
    for budget in (0, 3):
        relation = least_acls(case.engine, case.frame, budget)
        least = collect_sorted_acls(case.engine, relation)
        assert twin.what_breaks(case.seen, least, SUPERS) == {}
        assert len(least) <= len(exact)
        over: dict[str, int] = {}
        for row in case.rows(relation):
            unseen = [name for name in row["over_grants"] if name.endswith(UNSEEN)]
            assert bool(unseen) == ("|PREFIXED|" in row["acl"])
            known = len(row["over_grants"]) - len(unseen)
            over[row["principal"]] = over.get(row["principal"], 0) + known
        assert max(over.values()) <= budget


def test_denials_agree_with_plain_loops(case: Case) -> None:
    expected: dict[tuple[str, ...], int] = {}
    for denial in case.seen:
        if not denial["allowed"]:
            expected[twin.key(denial)] = expected.get(twin.key(denial), 0) + 1
    rows = case.rows(denials(case.engine, case.frame))
    found = {
        (r["principal"], r["operation"], r["resource_type"], r["resource_name"]): r["requests"]
        for r in rows
    }
    assert found == expected
    told = {row["remedy"].split(" ")[0] for row in rows if not row["not_known"]}
    assert told == {"add"}


def test_a_remedy_with_the_acls_known_allows_all_that_was_denied(case: Case) -> None:
    for row in case.rows(denials(case.engine, case.frame, case.acl_set(case.present))):
        acls = list(case.present)
        for verb, acl in parse_steps(row["remedy"]):
            if verb == "add":
                acls.append(acl)
            else:
                acls.remove(acl)
        mine = [a for a in case.seen if not a["allowed"] and twin.key(a) == key_of(row)]
        assert mine
        assert row["not_known"] == ""
        assert all(twin.decide(acls, SUPERS, a, everyone=case.everyone) for a in mine)


def key_of(row: Any) -> tuple[str, ...]:
    return tuple(row[name] for name in ("principal", "operation", "resource_type", "resource_name"))
