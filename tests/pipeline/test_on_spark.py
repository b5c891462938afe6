"""All that runs on Spark, in one file and so in one session; jobs against plain Python twins."""

import argparse
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from authorizer.acl_formats import write
from authorizer.acl_formats.rules import parse_rule
from authorizer.acl_formats.trace_rule import acl_rule, parse_acl_rule
from authorizer.acl_releases import rules_of
from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from pipeline import cli
from pipeline.acl_set import AclSet, read_acls
from protocol.api_versions import RELEASES, served
from protocol.enums import ApiKey, Operation, PatternType, ResourceType
from protocol.messages.fetch_request import FetchRequest, FetchTopic
from protocol.trace.entries import Access, Response
from tests.pipeline import twin
from tests.pipeline.traces import (
    HOSTS,
    PRINCIPALS,
    START_US,
    TOPICS,
    TraceMaker,
    frame,
    random_acls,
    random_trace,
)

pytestmark = [pytest.mark.spark, pytest.mark.timeout(240)]
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
        assert verb == "remove" or acl.operation is Operation[row["operation"]]


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
    assert cli.run(parsed("least-acls", str(trace), "--format", "yaml")) == 0
    printed = capsys.readouterr()
    path = tmp_path / "least.yaml"
    path.write_text(printed.out)
    assert "all observed decisions are the same" in printed.err
    again = read_acls(str(path))
    assert twin.what_breaks(twin.accesses(trace), again, ("User:root",)) == {}


def test_mistakes_are_said_before_spark_works(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace = str(traced[0])
    for words, text in (
        (("denials", str(tmp_path)), "there are no segments in"),
        (("denials", trace, "--since", "yesterday"), "since is `yesterday`"),
        (("denials", trace, "--apis", "Fetsch"), "there is no API `Fetsch`"),
        (("denials", trace, "--kafka-version", "7.7"), "`7.7` is no release known here"),
    ):
        assert cli.run(parsed(*words)) == 1
        assert text in capsys.readouterr().err


OLD, NEW = "3.9", "4.0"


def made(folder: Path, *rules: dict[str, object]) -> Path:
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
    from pipeline.source import trace_table

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


def test_timeline_counts_and_measures(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.timeline import timeline
    from pipeline.source import trace_table

    trace = made(tmp_path)
    (row,) = timeline(trace_table(spark, "responses", [str(trace)])).collect()
    assert (row["principal"], row["api"], row["requests"]) == ("User:a", "Fetch", 2)
    assert (row["errors"], row["latency_us_median"], row["latency_us_max"]) == (2, 250, 500)


def test_diff_tells_what_was_lost(spark: Any, tmp_path: Path) -> None:
    from pipeline.jobs.diff import diff
    from pipeline.observed import asked, observed
    from pipeline.source import trace_table

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
    from pipeline.jobs.clients import clients
    from pipeline.jobs.ingest import ingest
    from pipeline.reading import Source

    trace, lake = made(tmp_path / "trace"), tmp_path / "lake"
    ingest(spark, [str(trace)], lake, RELEASES[-1])
    for path in (trace, lake):
        (row,) = clients(Source(spark, [str(path)], {}).table("clients")).collect()
        assert (row["software_name"], row["client_id"], row["requests"]) == ("lib", "app", 2)
        assert (row["api"], row["versions"]) == ("Fetch", [3, 12])


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
    from pipeline.observed import asked, observed
    from pipeline.source import trace_table

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
