"""readiness, timeline and diff, on traces of which the answers are known."""

from pathlib import Path
from typing import Any

import pytest

from authorizer.acl_text import parse_short
from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from protocol.api_versions import served
from protocol.enums import ApiKey, Operation, ResourceType
from protocol.messages.fetch_request import FetchRequest, FetchTopic
from protocol.trace.entries import Response
from tests.pipeline.traces import START_US, TraceMaker, frame

pytestmark = [pytest.mark.spark, pytest.mark.timeout(180)]
OLD, NEW = "3.9", "4.0"


def made(folder: Path, *rules: dict[str, object]) -> Path:
    acls = [acl for rule in rules for acl in parse_short(rule)]
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
