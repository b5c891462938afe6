"""The jobs about clients and responses have the same results as plain Python loops."""

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline import cli
from kafka_shim.pipeline.jobs import timeline
from kafka_shim.pipeline.jobs.clients import versions_by_client
from kafka_shim.pipeline.jobs.diff import ComparedTrace, diff
from kafka_shim.pipeline.jobs.readiness import DROPPED, readiness, rows_with_dropped_versions
from kafka_shim.pipeline.tables import CLIENTS
from kafka_shim.pipeline.trace_input import TraceInput, local_trace_input, spark_trace_input
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.trace_rule import parse_acl_rule
from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.fetch import FetchRequest, FetchTopic
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.trace_format.entries import Access, BlockBody, Connection, Request, Response
from kafka_shim.trace_format.segments import SegmentWriter
from tests.pipeline.asking import parsed
from tests.pipeline.traces import (
    HOSTS,
    PRINCIPALS,
    START_US,
    TOPICS,
    TraceMaker,
    frame,
    made,
    random_acls,
)
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.timeout(600)]
OLD, NEW = "3.9", "4.0"
OpenTrace = Callable[[Path], TraceInput]


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def open_trace(request: pytest.FixtureRequest) -> OpenTrace:
    """Return a function that reads a trace with the engine."""
    if request.param == "duckdb":
        return lambda path: local_trace_input([str(path)])
    spark = request.getfixturevalue("spark")
    return lambda path: spark_trace_input(spark, [str(path)])


def rows_of(trace: TraceInput, relation: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in trace.engine.rows(relation)]


def test_readiness_names_dropped_versions(open_trace: OpenTrace, tmp_path: Path) -> None:
    low, high = served_versions(NEW)[ApiKey.FETCH]
    assert low > 3
    trace = open_trace(made(tmp_path))
    engine, clients = trace.engine, trace.to_deciding_engine(trace.table("clients"))
    rows = engine.rows(readiness(engine, clients, None, OLD, NEW))
    assert [(r["finding"], r["api"], r["api_version"], r["requests"]) for r in rows] == [
        (DROPPED, "Fetch", 3, 1)
    ]
    assert rows[0]["detail"] == f"{NEW} has versions {low} to {high}"
    assert (rows[0]["software_name"], rows[0]["hosts"]) == ("lib", ["h"])
    assert engine.rows(readiness(engine, clients, None, OLD, OLD)) == []


def test_readiness_agrees_with_plain_loops(open_trace: OpenTrace, tmp_path: Path) -> None:
    rng = random.Random(7)
    when = datetime(2026, 1, 1, tzinfo=UTC)
    keys = (ApiKey.FETCH, ApiKey.PRODUCE, ApiKey.CREATE_TOPICS, ApiKey.API_VERSIONS)
    rows = []
    for _ in range(120):
        key, who = rng.choice(keys), rng.choice(PRINCIPALS)
        name = ("lib", "1", rng.choice(("app", None)))
        rows.append((who, "h", *name, key.wire_name, int(key), rng.randrange(14), 1, when, when))
    engine = open_trace(made(tmp_path)).engine
    columns = dict(zip(CLIENTS.names, zip(*rows, strict=True), strict=True))
    table = engine.relation_from_arrow(pa.Table.from_pydict(columns, CLIENTS))
    for present, target in (("0.11", "4.0"), ("3.9", "4.0"), ("4.0", "2.0")):
        expected: dict[tuple[str, ...], int] = {}
        unknown = 0
        for who, *_, client_id, api, code, version, requests, _, _ in rows:
            low, high = served_versions(target).get(ApiKey(code), (1, 0))
            if low <= version <= high or code == ApiKey.API_VERSIONS:
                continue
            if served_versions(present)[ApiKey(code)][1] == version:  # clients may support more
                unknown += 1
                continue
            at = (who, str(client_id), api, str(version))
            expected[at] = expected.get(at, 0) + requests
        found = {
            (r["principal"], str(r["client_id"]), r["api"], str(r["api_version"])): r["requests"]
            for r in engine.rows(readiness(engine, table, None, present, target))
        }
        assert found == expected, (present, target)
        assert expected
        latest = rows_with_dropped_versions(
            engine, table, present, target, version_is_latest_of_present=True
        )
        assert engine.count_rows(latest) == unknown


@pytest.mark.parametrize(
    "on_engine", [(), pytest.param(("--engine", "spark"), marks=pytest.mark.spark)]
)
@pytest.mark.parametrize(("acl", "is_denied"), [("READ", False), ("", True)])
def test_readiness_decides_added_checks(
    tmp_path: Path, capsys: Any, acl: str, is_denied: bool, on_engine: tuple[str, ...]
) -> None:
    """Since 4.0 ConsumerGroupHeartbeat requires DESCRIBE on its topics."""
    rule = f"TOPIC|orders|LITERAL|User:a|*|{acl}|ALLOW"
    acls = [found for found in (parse_acl_rule(rule) if acl else None,) if found]
    heartbeat = ConsumerGroupHeartbeatRequest(group_id="g", subscribed_topic_names=["orders"])
    maker = TraceMaker(tmp_path / "trace", StandardAuthorizer(store=AclStore(acls)))
    asked = [(Operation.READ, ResourceType.GROUP, "g")]
    api = ApiKey.CONSUMER_GROUP_HEARTBEAT
    maker.ask("User:a", "h", api, asked, frame(api, 0, heartbeat))
    maker.close()
    trace = str(tmp_path / "trace")
    words = ("readiness", trace, *on_engine, "--from-release", "3.9", "--to-release", "4.0")
    if not is_denied:  # without ACLs the decision is unknown, which is no finding
        assert cli.run(parsed(*words, "--fail-on", "any")) == 0
        assert "the decisions of 1 checks that are new in 4.0" in capsys.readouterr().out
    present = tmp_path / "acls.csv"
    present.write_text(format_acls_losslessly(acls, "csv"))
    code = cli.run(parsed(*words, "--acls", str(present), "--fail-on", "any", "--json"))
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert (code, len(rows)) == ((3, 1) if is_denied else (0, 0))
    for row in rows:
        assert row["finding"] == "newly denied"
        assert row["detail"] == "ConsumerGroupHeartbeat.topic (4.0): asks DESCRIBE TOPIC orders"


def test_timeline_counts_and_measures(open_trace: OpenTrace, tmp_path: Path) -> None:
    trace = open_trace(made(tmp_path))
    reader = trace.reader
    responses = trace.table("responses")
    (row,) = reader.rows(timeline.timeline_by_client(reader, responses, 60_000_000))
    assert (row["principal"], row["api"], row["requests"]) == ("User:a", "Fetch", 2)
    assert (row["errors"], row["latency_us_median"], row["latency_us_max"]) == (2, 250, 500)
    assert row["client_id"] == "app"


def test_requests_without_a_response_are_counted(open_trace: OpenTrace, tmp_path: Path) -> None:
    trace = made(tmp_path)
    writer = SegmentWriter(trace, "broker-2")
    who = Connection(0, 0, 1, "SASL", "h", 5000, "User:b", "PLAIN", "lib")
    silent = frame(ApiKey.PRODUCE, 9, ProduceRequest(acks=0))
    writer.write_block(BlockBody([who], [Request(0, n, START_US + n, silent) for n in range(3)]))
    writer.close()
    outcome = timeline.JOB.run(parsed("timeline", str(trace)), open_trace(trace))
    found = {
        (row["principal"], row["api"]): (row["requests"], row["errors"], row["latency_us_max"])
        for row in outcome.rows
    }
    assert found == {("User:a", "Fetch"): (2, 2, 500), ("User:b", "Produce"): (3, 0, None)}


def compared(trace: TraceInput) -> ComparedTrace:
    responses = trace.to_deciding_engine(trace.table("responses"))
    return ComparedTrace(trace.accesses_of_requests(), responses)


def test_diff_reports_lost_access(open_trace: OpenTrace, tmp_path: Path) -> None:
    allow = {"principal": "User:a", "allow": "Read", "topic": "orders"}
    trace = open_trace(made(tmp_path / "granted", allow))
    granted, bare = compared(trace), compared(trace.of_paths([str(made(tmp_path / "bare"))]))
    assert trace.engine.rows(diff(trace.engine, granted, granted)) == []
    assert rows_of(trace, diff(trace.engine, granted, bare)) == [
        ("access", "User:a", "READ TOPIC:orders", "allowed", "denied"),
        ("responses", "User:a", "Fetch", "0", "29"),
    ]


@pytest.mark.spark
def test_clients_of_a_lake_have_their_software(spark: Any, tmp_path: Path) -> None:
    from kafka_shim.pipeline.jobs.ingest import ingest_new_data
    from kafka_shim.pipeline.spark.data_source import trace_table
    from kafka_shim.pipeline.spark.trace_tables import lake_table
    from kafka_shim.pipeline.tables import TABLES

    trace, lake = made(tmp_path / "trace"), tmp_path / "lake"
    ingest_new_data(spark, [str(trace)], lake, RELEASES[-1])
    for path in (trace, lake):
        source = spark_trace_input(spark, [str(path)], {})
        (row,) = versions_by_client(source.reader, source.table("clients")).collect()
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
    """Return a time as Spark does: local, without a time zone."""
    return datetime.fromtimestamp(time_us / 1e6)  # noqa: DTZ006


def random_traffic(folder: Path, seed: int) -> list[dict[str, Any]]:
    """Write a trace of random Fetch requests; return the values that jobs must find."""
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
        response = bytes(4) + bytes(4) + error.to_bytes(2, "big") + bytes(8)
        number = maker.people[who, host]
        maker.entries.append(Response(number, n, begun + took, ApiKey.FETCH, version, response))
        allowed = next(e.allowed for e in reversed(maker.entries) if isinstance(e, Access))
        seen.append(
            {"who": who, "topic": topic, "version": version, "error": error, "took": took}
            | {"time": (begun + took) // 50_000, "allowed": allowed}
        )
    maker.close()
    return seen


def decisions_by_access(rows: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    decided: dict[tuple[str, str], set[bool]] = {}
    for row in rows:
        decided.setdefault((row["who"], f"READ TOPIC:{row['topic']}"), set()).add(row["allowed"])
    return {
        key: "both" if len(all_) > 1 else "allowed" if True in all_ else "denied"
        for key, all_ in decided.items()
    }


def test_timeline_clients_and_diff_agree_with_plain_loops(
    open_trace: OpenTrace, tmp_path: Path
) -> None:
    seen = random_traffic(tmp_path / "one", 1)
    other = random_traffic(tmp_path / "two", 2)
    trace = open_trace(tmp_path / "one")
    reader, engine = trace.reader, trace.engine
    took: dict[tuple[int, str], list[int]] = {}
    errors: dict[tuple[int, str], int] = {}
    for row in seen:
        key = (row["time"], row["who"])
        took.setdefault(key, []).append(row["took"])
        errors[key] = errors.get(key, 0) + (row["error"] != 0)
    found = reader.rows(timeline.timeline_by_client(reader, trace.table("responses"), 50_000))
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
        for r in reader.rows(versions_by_client(reader, trace.table("clients")))
    }
    for who in PRINCIPALS[:3]:
        mine = [row for row in seen if row["who"] == who]
        assert versions[who] == (sorted({row["version"] for row in mine}), len(mine))

    first, second = decisions_by_access(seen), decisions_by_access(other)
    expected = {
        (*key, first.get(key), second.get(key))
        for key in first.keys() | second.keys()
        if first.get(key) != second.get(key)
    }
    after = compared(trace.of_paths([str(tmp_path / "two")]))
    rows = rows_of(trace, diff(engine, compared(trace), after))
    assert {row[1:] for row in rows if row[0] == "access"} == expected
    assert expected
    codes = [codes_by_principal(rows) for rows in (seen, other)]
    assert {row[1:] for row in rows if row[0] == "responses"} == {
        (who, "Fetch", codes[0][who], codes[1][who])
        for who in PRINCIPALS[:3]
        if codes[0][who] != codes[1][who]
    }


def codes_by_principal(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {
        who: ",".join(map(str, sorted({row["error"] for row in rows if row["who"] == who})))
        for who in PRINCIPALS[:3]
    }
