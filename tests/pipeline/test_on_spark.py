"""All that runs on Spark, in one file and so in one session; jobs against plain Python twins."""

import argparse
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from authorizer.acl_formats import FORMATS, read, write
from authorizer.acl_formats.rules import parse_rule
from authorizer.acl_formats.trace_rule import acl_rule, parse_acl_rule
from authorizer.acl_releases import rules_of
from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from pipeline import cli
from pipeline.acls.acl_set import AclSet, read_acls
from protocol.api_versions import RELEASES, served
from protocol.enums import ApiKey, Operation, PatternType, ResourceType
from protocol.messages.fetch_request import FetchRequest, FetchTopic
from protocol.trace.entries import AUDIT, Access, Body, Connection, Entry, Response
from protocol.trace.segments import SegmentWriter
from tests.pipeline import twin
from tests.pipeline.traces import (
    HOSTS,
    PRINCIPALS,
    START_US,
    TOPICS,
    TraceMaker,
    create_frame,
    frame,
    random_acls,
    random_trace,
)

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]
SUPERS = ("User:root",)
CASES = ((0, RELEASES[-1], False), (1, "2.8", True))
"""Seed, release, and whether everyone is allowed where there is no ACL."""


class Case:
    """A random trace, the ACLs it was made with, another set, and the accesses on Spark."""

    def __init__(self, spark: Any, folder: Path, seed: int, release: str, everyone: bool) -> None:
        from pipeline.jobs.changed_requests import COLUMNS
        from pipeline.spark.observed import asked, observed, setting
        from pipeline.spark.source import trace_table

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
        random_trace(folder, rng, authorizer, 300, names=3)
        self.seen = twin.accesses(folder)
        options = {"splitBytes": "8000", "release": release}
        self.frame = asked(observed(spark, [str(folder)], options)).persist()
        self.rows = asked(trace_table(spark, "accesses", [str(folder)], options, COLUMNS))
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


@pytest.mark.parametrize("by_baseline", [False, True])
def test_requests_that_change_are_those_of_plain_loops(case: Case, by_baseline: bool) -> None:
    from pipeline.jobs.changed_requests import with_requests
    from pipeline.jobs.what_breaks import changes, doubtful

    baseline = [*case.present[3:], *case.candidate[-2:]] if by_baseline else None
    before = None if baseline is None else case.acl_set(baseline)
    judged = doubtful(case.frame, case.acl_set(case.candidate), before)
    rows = with_requests(changes(judged), judged, case.rows, by_baseline=by_baseline).collect()
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
    # some accesses change in requests that fail all the same, or succeeded but for another
    assert any(row["requests_changed"] < row["requests"] for row in rows)


def test_a_request_with_alternatives_fails_if_none_is_left(
    spark: Any, tmp_path: Path, capsys: Any
) -> None:
    """Two topics are one request; CREATE on the cluster does as well as on each of the topics."""
    texts = (
        "TOPIC|orders|PREFIXED|User:alice|*|CREATE|ALLOW",
        "CLUSTER|kafka-cluster|LITERAL|User:alice|*|CREATE|ALLOW",
    )
    by_topic, by_cluster = (acl for text in texts if (acl := parse_acl_rule(text)))
    assert spark
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
        candidate.write_text(write(acls, "csv"))
        assert cli.run(parsed("what-breaks", trace, "--acls", str(candidate), "--json")) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["requests_newly_failing"] == requests
        assert found["requests_newly_succeeding"] == 0
        assert found["newly_denied"] == len(found["rows"]) == (2 if requests else 0)
        assert [row["requests_changed"] for row in found["rows"]] == [3] * found["newly_denied"]


def test_lines_of_an_authorizer_log_are_put_together_by_time_and_api(
    spark: Any, tmp_path: Path, capsys: Any
) -> None:
    """Such a log names no requests: of three denied lines, two are of one time."""
    assert spark
    who = Connection(0, 0, 1, "SASL", "h", 1, "User:a", accesses=AUDIT)
    asked = (ApiKey.FETCH, 0, Operation.READ, ResourceType.TOPIC)
    lines: list[Entry] = [
        Access(0, n, START_US + when, *asked, f"t{n}", True, "x")
        for n, when in enumerate((0, 0, 5, 7))
    ]
    writer = SegmentWriter(tmp_path / "trace", "log")
    writer.write(Body([who], lines))
    writer.close()
    candidate = tmp_path / "candidate.yaml"
    candidate.write_text("- {principal: User:a, allow: Read, topic: t3}")
    found = answer(capsys, "what-breaks", str(tmp_path / "trace"), "--acls", str(candidate))
    assert (found["newly_denied"], found["requests_newly_failing"]) == (3, 2)
    person = {"change": "newly denied", "principal": "User:a", "accesses": 3, "requests": 2}
    assert found["principals"] == [person]


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
        row = rows[acl_rule(acl)]
        uses = [one for one in others if twin.applies(acl, one)]
        assert row["requests"] == len(uses)
        assert (row["state"] == "never used") == (not uses)
        if row["state"] == "needed":
            assert acl not in alone
        elif row["state"] == "redundant":
            assert acl in alone
        if row["shadowed_by"]:
            assert covered(acl, parse_acl_rule(row["shadowed_by"])), row
    rest = [acl for acl in case.present if not rows[acl_rule(acl)]["can_go"]]
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
        acl = parse_acl_rule(text)
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
        if verb == "add":  # and then it is allowed, from wherever
            mine = [one for one in case.seen if not one["allowed"] and twin.key(one) == key_of(row)]
            now = [*case.present, acl]
            assert all(
                twin.decide(now, SUPERS, one, everyone=case.everyone)
                for one in mine
                if not one["rule"].endswith("|DENY")
            )


def key_of(row: Any) -> tuple[str, ...]:
    return tuple(row[name] for name in ("principal", "operation", "resource_type", "resource_name"))


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(words)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, AclSet]:
    folder = tmp_path_factory.mktemp("cli")
    twin.RULES = rules_of(RELEASES[-1])
    rng = random.Random(9)
    acls = random_acls(rng, 20)
    authorizer = StandardAuthorizer(super_users=["User:root"], store=AclStore(acls))
    random_trace(folder / "trace", rng, authorizer, 200)
    candidate = folder / "candidate.yaml"
    candidate.write_text(write(acls[3:], "yaml"))
    return folder / "trace", candidate, AclSet(tuple(acls[3:]), ("User:root",))


def test_what_breaks_prints_what_is_found_and_fails_if_asked(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    trace, candidate, acl_set = traced
    words = ("what-breaks", str(trace), "--acls", str(candidate))
    expected = twin.what_breaks(twin.accesses(trace), list(acl_set.acls), acl_set.super_users)
    assert cli.run(parsed(*words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accesses"] == 200
    assert found["super_users"] == ["User:root"]
    assert len(found["rows"]) == len(expected)
    assert found["newly_denied"] == sum(key[0] == "newly denied" for key in expected)
    assert cli.run(parsed(*words, "--fail")) == (3 if found["newly_denied"] else 0)
    out = capsys.readouterr().out
    assert f"{found['newly_denied']} newly denied, {found['newly_allowed']} newly allowed" in out
    assert cli.run(parsed(*words, "--csv")) == 0
    assert capsys.readouterr().out.count("\n") == len(expected) + 1
    assert cli.run(parsed(*words, "--parquet", str(tmp_path / "out"))) == 0
    assert spark.read.parquet(str(tmp_path / "out")).count() == len(expected)


def test_least_acls_can_be_used_as_they_are_printed(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace, _, _ = traced
    assert cli.run(parsed("least-acls", str(trace), "--to", "yaml")) == 0
    printed = capsys.readouterr()
    path = tmp_path / "least.yaml"
    path.write_text(printed.out)
    assert "all observed decisions are the same" in printed.err
    again = read_acls(str(path))
    assert all(set(read(write(again, form))) == set(again) for form in FORMATS)
    assert twin.what_breaks(twin.accesses(trace), again, ("User:root",)) == {}


def test_least_acls_say_what_to_add_to_others_and_what_to_remove(
    spark: Any, tmp_path: Path, capsys: Any
) -> None:
    assert spark
    trace, present = tmp_path / "trace", tmp_path / "present.txt"
    rules: list[dict[str, Any]] = [
        {"principal": "User:a", "allow": "All", "topic": "orders"},
        {"principal": "User:b", "allow": "Read", "topic": "orders"},
    ]
    made(trace, *rules)
    present.write_text(write([acl for rule in rules for acl in parse_rule(rule)], "list"))
    assert cli.run(parsed("least-acls", str(trace), "--against", str(present))) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("1 to add and 2 to remove")
    tail = "--topic orders"
    assert [line.strip() for line in lines[at + 1 : at + 4]] == [
        f"kafka-acls --add --allow-principal User:a --operation Read {tail}",
        f"kafka-acls --remove --force --allow-principal User:a --operation All {tail}",
        f"kafka-acls --remove --force --allow-principal User:b --operation Read {tail}",
    ]
    present.write_text(write(read_acls(str(trace.parent / "present.txt"))[1:], "yaml"))
    assert cli.run(parsed("least-acls", str(trace), "--against", str(present), "--json")) == 0
    assert "1 to add and 1 to remove" in capsys.readouterr().err


def test_mistakes_are_said_before_spark_works(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace = str(traced[0])
    garbage = tmp_path / "garbage" / "broker-1-00000000.ktrace"
    garbage.parent.mkdir()
    garbage.write_bytes(b"no trace" * 100)
    two_years = ("--since", "2026-01-01", "--until", "2025-01-01")
    for words, text in (
        (("denials", str(tmp_path)), "there are no segments in"),
        (("denials", str(garbage)), "not one whole block of a trace"),
        (("diff", trace, "--with", str(garbage)), "not one whole block of a trace"),
        (("denials", trace, "--super-user", "root"), "--super-user `root`: expected Type:name"),
        (("denials", trace, *two_years), "--until 2025-01-01 is not after --since 2026-01-01"),
        (("denials", trace, "--parquet", trace), "there is a trace in it; name another folder"),
        (("denials", trace, "--parquet", f"{garbage}/x"), "Not a directory"),
        (("denials", trace, "--parquet", "nosuch://x/y"), 'No FileSystem for scheme "nosuch"'),
        (("ingest", trace, "-o", trace), "there is a trace in it; name another folder"),
        (("least-acls", trace, "--to", "yaml", "--json"), "leave out --json and --csv"),
        (("denials", trace, "--since", "yesterday"), "since is `yesterday`"),
        (("denials", trace, "--apis", "Fetsch"), "there is no API `Fetsch`"),
        (("denials", trace, "--kafka-version", "7.7"), "`7.7` is no release known here"),
    ):
        assert cli.run(parsed(*words)) == 1
        assert text in capsys.readouterr().err


OLD, NEW = "3.9", "4.0"


def made(folder: Path, *rules: dict[str, Any]) -> Path:
    acls = [acl for rule in rules for acl in parse_rule(rule)]
    maker = TraceMaker(folder, StandardAuthorizer(store=AclStore(acls)))
    asked = [(Operation.READ, ResourceType.TOPIC, "orders")]
    for version in (3, 12):
        request = FetchRequest(topics=[FetchTopic(topic="orders")])
        maker.ask("User:a", "h", ApiKey.FETCH, asked, frame(ApiKey.FETCH, version, request))
    error = 0 if rules else 29
    for n in range(2):  # throttle, error, session, no topics: a fetch answer of version 7
        answer = bytes(4) + bytes(4) + error.to_bytes(2, "big") + bytes(8)
        when = START_US + n * 1000 + 250 * (n + 1)
        maker.entries.append(Response(0, n, when, ApiKey.FETCH, 7, answer))
    maker.close()
    return folder


def test_readiness_names_the_versions_that_are_gone(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.readiness import DROPPED, findings, readiness
    from pipeline.spark.source import trace_table

    low, high = served(NEW)[ApiKey.FETCH]
    assert low > 3
    trace = made(tmp_path)
    rows = readiness(trace_table(spark, "clients", [str(trace)]), OLD, NEW).collect()
    assert [(r["finding"], r["api"], r["api_version"], r["requests"]) for r in rows] == [
        (DROPPED, "Fetch", 3, 1)
    ]
    assert rows[0]["detail"] == f"{NEW} has versions {low} to {high}"
    assert rows[0]["software_name"] == "lib"
    same = trace_table(spark, "clients", [str(trace)])
    assert readiness(same, OLD, OLD).collect() == []
    (found,) = findings(ApiKey.OFFSET_FETCH, 1, "0.11", "1.0")
    assert found[1].startswith("OffsetFetch.group: READ on GROUP -> DESCRIBE on GROUP")
    texts = [text for _, text in findings(ApiKey.PRODUCE, 3, "2.7", "2.8")]
    assert "Produce.idempotent: IDEMPOTENT_WRITE on CLUSTER -> nothing" in texts


def test_readiness_is_what_plain_loops_find(spark: Any) -> None:
    from pipeline.jobs.readiness import DROPPED, readiness
    from pipeline.tables import CLIENTS, ddl

    rng = random.Random(7)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    keys = (ApiKey.FETCH, ApiKey.PRODUCE, ApiKey.CREATE_TOPICS, ApiKey.OFFSET_FETCH)
    rows = []
    for _ in range(120):
        key, who = rng.choice(keys), rng.choice(PRINCIPALS)
        name = ("lib", "1", rng.choice(("app", None)))
        rows.append((who, "h", *name, key.wire_name, int(key), rng.randrange(14), 1, when, when))
    table = spark.createDataFrame(rows, ddl(CLIENTS))
    for present, target in (("2.7", "2.8"), ("3.9", "4.0"), ("4.0", "2.0")):
        expected: dict[tuple[str, ...], int] = {}
        for who, *_, client_id, api, code, version, requests, _, _ in rows:
            low, high = served(target).get(ApiKey(code), (1, 0))
            if not low <= version <= high:
                at = (who, str(client_id), api, str(version))
                expected[at] = expected.get(at, 0) + requests
        found = {
            (r["principal"], str(r["client_id"]), r["api"], str(r["api_version"])): r["requests"]
            for r in readiness(table, present, target).collect()
            if r["finding"] == DROPPED
        }
        assert found == expected, (present, target)
        assert expected


def test_timeline_counts_and_measures(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.timeline import timeline
    from pipeline.spark.source import trace_table

    trace = made(tmp_path)
    (row,) = timeline(trace_table(spark, "responses", [str(trace)])).collect()
    assert (row["principal"], row["api"], row["requests"]) == ("User:a", "Fetch", 2)
    assert (row["errors"], row["latency_us_median"], row["latency_us_max"]) == (2, 250, 500)
    assert row["client_id"] == "app"


def test_diff_tells_what_was_lost(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.diff import diff
    from pipeline.spark.observed import asked, observed
    from pipeline.spark.source import trace_table

    allow = {"principal": "User:a", "allow": "Read", "topic": "orders"}
    one, two = made(tmp_path / "one", allow), made(tmp_path / "two")

    def side(path: Path) -> Any:
        return asked(observed(spark, [str(path)])), trace_table(spark, "responses", [str(path)])

    assert diff(side(one), side(one)).collect() == []
    rows = [tuple(row) for row in diff(side(one), side(two)).collect()]
    assert rows == [
        ("access", "User:a", "READ TOPIC:orders", "allowed", "denied"),
        ("answers", "User:a", "Fetch", "0", "29"),
    ]


def test_trends_clients_damage_and_a_page_of_all(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    from pipeline.jobs.ingest import ingest

    trace, candidate, _ = traced
    denied = [one["time_us"] // 50_000 for one in twin.accesses(trace) if not one["allowed"]]
    lake, page = tmp_path / "lake", tmp_path / "page.html"
    ingest(spark, [str(trace)], lake, RELEASES[-1])
    for source in (trace, lake):
        found = answer(capsys, "denials", str(source), "--interval", "1 second")
        assert sum(row["requests"] for row in found["rows"]) == len(denied)
    since = f"{datetime.fromtimestamp((START_US + 100_000) / 1e6, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    limits = ("--since", since, "--apis", "Fetch,Produce")
    some = [answer(capsys, "denials", str(one), *limits)["accesses"] for one in (trace, lake)]
    assert 0 < some[0] == some[1] < 100
    assert answer(capsys, "damage", str(trace))["rows"] == []
    words = ("report", str(lake), "--acls", str(candidate), "--from", OLD, "--to", NEW)
    report = answer(capsys, *words, "--html", str(page))
    jobs = [part["job"] for part in report["parts"]]
    assert {"timeline", "denials", "least-acls", "what-breaks", "unused-acls"} <= set(jobs)
    shown = page.read_text()
    assert all(f'-title">{job}</h2>' in shown for job in jobs)
    assert "Denials in each 1 seconds, by principal" in shown


def answer(capsys: Any, *words: str) -> dict[str, Any]:
    assert cli.run(parsed(*words, "--json")) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_clients_are_told_with_their_software_from_a_lake_too(spark: Any, tmp_path: Path) -> None:
    from pipeline.commands.reading import Source
    from pipeline.jobs.clients import clients
    from pipeline.jobs.ingest import ingest, lake_table
    from pipeline.spark.source import trace_table
    from pipeline.tables import TABLES

    trace, lake = made(tmp_path / "trace"), tmp_path / "lake"
    ingest(spark, [str(trace)], lake, RELEASES[-1])
    for path in (trace, lake):
        (row,) = clients(Source(spark, [str(path)], {}).table("clients")).collect()
        assert (row["software_name"], row["client_id"], row["requests"]) == ("lib", "app", 2)
        assert (row["api"], row["versions"]) == ("Fetch", [3, 12])
    for table in (
        trace_table(spark, "clients", [str(trace)]),
        lake_table(spark, "clients", lake),
    ):
        rows = sorted(table.select(*TABLES["clients"].names).collect())
        assert [tuple(row) for row in rows] == [
            ("User:a", "h", "lib", "", "app", "Fetch", 1, version, 1, when, when)
            for version, when in ((3, local(START_US)), (12, local(START_US + 1000)))
        ]


def local(time_us: int) -> datetime:
    """A time as Spark gives it: local, and without saying so."""
    return datetime.fromtimestamp(time_us / 1e6)  # noqa: DTZ006


def random_traffic(folder: Path, seed: int) -> list[dict[str, Any]]:
    """Fetch requests with their accesses and answers over some seconds, and what they were."""
    rng = random.Random(seed)
    acls = random_acls(rng, 20)
    maker = TraceMaker(folder, StandardAuthorizer(store=AclStore(acls)))
    seen = []
    for n in range(200):
        who, host, topic = rng.choice(PRINCIPALS[:3]), rng.choice(HOSTS), rng.choice(TOPICS)
        version, error, took = rng.choice((7, 8)), rng.choice((0, 0, 29)), rng.randrange(1, 900)
        maker.sequence = n
        request = FetchRequest(topics=[FetchTopic(topic=topic)])
        asked = [(Operation.READ, ResourceType.TOPIC, topic)]
        maker.ask(who, host, ApiKey.FETCH, asked, frame(ApiKey.FETCH, version, request))
        begun = START_US + n * 1000
        answer = bytes(4) + bytes(4) + error.to_bytes(2, "big") + bytes(8)
        number = maker.people[who, host]
        maker.entries.append(Response(number, n, begun + took, ApiKey.FETCH, version, answer))
        allowed = next(e.allowed for e in reversed(maker.entries) if isinstance(e, Access))
        seen.append(
            {"who": who, "topic": topic, "version": version, "error": error, "took": took}
            | {"time": (begun + took) // 50_000, "allowed": allowed}
        )
    maker.close()
    return seen


def test_timeline_clients_and_diff_are_what_plain_loops_find(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.clients import clients
    from pipeline.jobs.diff import diff
    from pipeline.jobs.timeline import timeline
    from pipeline.spark.observed import asked, observed
    from pipeline.spark.source import trace_table

    seen = random_traffic(tmp_path / "one", 1)
    other = random_traffic(tmp_path / "two", 2)
    one, two = [str(tmp_path / "one")], [str(tmp_path / "two")]
    took: dict[tuple[int, str], list[int]] = {}
    errors: dict[tuple[int, str], int] = {}
    for row in seen:
        key = (row["time"], row["who"])
        took.setdefault(key, []).append(row["took"])
        errors[key] = errors.get(key, 0) + (row["error"] != 0)
    found = timeline(trace_table(spark, "responses", one), "50 milliseconds").collect()
    assert {
        (round(r["time"].timestamp() * 20), r["principal"]): (
            *(r["requests"], r["errors"], r["latency_us_max"], r["latency_us_median"]),
        )
        for r in found
    } == {
        key: (len(all_), errors[key], max(all_), sorted(all_)[(len(all_) + 1) // 2 - 1])
        for key, all_ in took.items()
    }
    versions = {
        r["principal"]: (r["versions"], r["requests"])
        for r in clients(trace_table(spark, "clients", one)).collect()
    }
    for who in PRINCIPALS[:3]:
        mine = [row for row in seen if row["who"] == who]
        assert versions[who] == (sorted({row["version"] for row in mine}), len(mine))

    def outcomes(rows: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
        decided: dict[tuple[str, str], set[bool]] = {}
        for row in rows:
            decided.setdefault((row["who"], f"READ TOPIC:{row['topic']}"), set()).add(
                row["allowed"]
            )
        return {
            key: "both" if len(all_) > 1 else "allowed" if True in all_ else "denied"
            for key, all_ in decided.items()
        }

    first, second = outcomes(seen), outcomes(other)
    expected = {
        (*key, first.get(key), second.get(key))
        for key in first.keys() | second.keys()
        if first.get(key) != second.get(key)
    }
    sides = [
        (asked(observed(spark, path)), trace_table(spark, "responses", path)) for path in (one, two)
    ]
    rows = diff(sides[0], sides[1]).where("difference = 'access'").collect()
    assert {tuple(row)[1:] for row in rows} == expected
    assert expected
