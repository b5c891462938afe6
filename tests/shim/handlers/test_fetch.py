"""Fetch: permissions, sessions, and how long a response waits."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ReplicaState,
)
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from tests.recordings.records.batches import TRANSACTIONAL, batch, summary
from tests.shim.handlers.records import ALICE, fetch_request, fetched, produce
from tests.shim.play import ADMIN, Stage
from tests.support import record_requests


def stage_with(*topics: str, release: str = "") -> Stage:
    stage = Stage(release)
    for name in topics:
        stage.topic(name)
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "mine")
    return stage


def ask(stage: Stage, request: FetchRequest, version: int = 12, principal: str = ALICE) -> Any:
    return stage.ask(ApiKey.FETCH, version, request, principal)


@pytest.mark.parametrize("release", ["1.0", "2.7", ""])
def test_read_is_checked_for_each_topic_before_its_existence(release: str) -> None:
    stage = stage_with("mine", "others", release=release)
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "may-but-missing")
    names = ("mine", "others", "missing", "may-but-missing")
    response = ask(stage, fetch_request(*names), version=6)
    codes = {"mine": 0, "others": 29, "missing": 29, "may-but-missing": 3}
    assert fetched(response) == codes


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    stage = stage_with("mine", "others", "hidden", release="0.11")
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "others")
    response = ask(stage, fetch_request("mine", "others", "hidden", "missing"), version=5)
    assert fetched(response) == {"mine": 0, "others": 29, "hidden": 3, "missing": 3}


def test_an_unknown_topic_id_is_not_reported_as_denied() -> None:
    stage = stage_with("others")
    others = stage.found("others").topic_id
    partition = FetchPartition(0)
    rows = [
        FetchTopic(topic_id=topic_id, partitions=[partition]) for topic_id in (others, b"\x01" * 16)
    ]
    response = ask(stage, FetchRequest(max_wait_ms=0, topics=rows), version=13)
    codes = {topic.topic_id: topic.partitions[0].error_code for topic in response.responses}
    assert codes == {others: 29, b"\x01" * 16: 100}


@pytest.mark.parametrize(("release", "code"), [("1.1", 29), ("3.9", 29)])
def test_a_follower_needs_cluster_action_and_no_permission_on_topics(
    release: str, code: int
) -> None:
    stage = stage_with("mine", "others", release=release)
    request = fetch_request("mine", "missing", replica_id=3)
    assert fetched(ask(stage, request, version=6)) == {"mine": code, "missing": code}
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    assert fetched(ask(stage, request, version=6))["missing"] == 3


def test_before_1_1_a_follower_needs_read_on_its_topics_too() -> None:
    stage = stage_with("mine", "others", release="1.0")
    request = fetch_request("mine", "others", replica_id=3)
    assert fetched(ask(stage, request, version=6)) == {"mine": 31, "others": 31}
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    assert fetched(ask(stage, request, version=6))["others"] == 29


def test_since_version_15_a_follower_is_known_by_its_replica_state() -> None:
    stage = stage_with("mine")
    topic_id = stage.found("mine").topic_id
    request = record_requests.fetch_request(topic_id, replica_state=ReplicaState(replica_id=3))
    response = ask(stage, request, version=15)
    assert response.responses[0].partitions[0].error_code == 29


def test_permissions_on_partitions_of_a_session_are_checked_again() -> None:
    stage = stage_with("mine")
    first = ask(stage, fetch_request("mine", session_epoch=0))
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "mine", deny=True)
    again = fetch_request(session_id=first.session_id, session_epoch=1)
    assert fetched(ask(stage, again)) == {"mine": 29}


def test_a_wait_ends_with_the_first_record() -> None:
    stage = stage_with("mine")
    waiting = ask(stage, fetch_request("mine", max_wait_ms=5000, min_bytes=1))
    assert isinstance(waiting, PendingExchange)
    assert not waiting.wait.is_finished
    produce(stage, "mine")
    response = stage.outcome(ApiKey.FETCH, 12, waiting)
    assert len(summary(response.responses[0].partitions[0].records) or []) == 1


def test_a_wait_goes_on_until_there_is_enough() -> None:
    stage = stage_with("mine")
    request = fetch_request("mine", max_wait_ms=5000, min_bytes=100)
    waiting = ask(stage, request)
    produce(stage, "mine")
    assert not waiting.wait.is_finished
    produce(stage, "mine")
    assert waiting.wait.is_finished
    assert len(batch()) < 100 <= 2 * len(batch())


def test_a_wait_ends_when_time_is_up() -> None:
    stage = stage_with("mine")
    waiting = ask(stage, fetch_request("mine", max_wait_ms=500, min_bytes=1))
    stage.clock.advance(499)
    assert not waiting.wait.is_finished
    stage.clock.advance(1)
    response = stage.outcome(ApiKey.FETCH, 12, waiting)
    assert fetched(response) == {"mine": 0}


def test_a_wait_ends_when_the_topic_is_deleted() -> None:
    stage = stage_with("mine")
    waiting = ask(stage, fetch_request("mine", max_wait_ms=5000, min_bytes=1))
    stage.cluster.topics.delete_topic("mine")
    assert fetched(stage.outcome(ApiKey.FETCH, 12, waiting)) == {"mine": 3}


def test_errors_are_returned_at_once() -> None:
    stage = stage_with("mine", "others")
    request = fetch_request("mine", "others", max_wait_ms=5000, min_bytes=1)
    assert fetched(stage.ask(ApiKey.FETCH, 12, fetch_request("mine", offset=9), ADMIN)) == {
        "mine": 1
    }
    waiting = ask(stage, request)
    assert isinstance(waiting, PendingExchange)  # a denial alone does not end the wait for the rest


def test_a_disconnected_client_no_longer_waits_for_records() -> None:
    stage = stage_with("mine")
    waiting = ask(stage, fetch_request("mine", max_wait_ms=5000, min_bytes=1))
    log = stage.found("mine").partitions[0].log
    watched = [log.has_watchers]
    waiting.wait.cancel()
    watched.append(log.has_watchers)
    assert watched == [True, False]
    produce(stage, "mine")


def test_read_committed_waits_for_the_end_of_the_transaction() -> None:
    stage = stage_with("mine", release="3.5")
    records = batch(producer=(5, 0, 0), attributes=TRANSACTIONAL)
    stage.cluster.transactions.init_producer_id("x", 60_000, -1, -1)
    found = stage.cluster.transactions.touch("x")
    assert found is not None
    found.producer_id = 5
    stage.cluster.transactions.add_partitions("x", 5, 0, [("mine", 0)])
    request = fetch_request("mine", max_wait_ms=5000, min_bytes=1, isolation_level=1)
    waiting = ask(stage, request)
    produce(stage, "mine", records=records, transactional_id="x")
    assert not waiting.wait.is_finished
    stage.cluster.transactions.end_transaction("x", 5, 0, commit=True, bumps_epoch=False)
    response = stage.outcome(ApiKey.FETCH, 12, waiting)
    assert len(summary(response.responses[0].partitions[0].records) or []) == 2


def test_followers_serve_consumers_since_version_11() -> None:
    stage = Stage(brokers=3)
    stage.cluster.topics.create_topic("t", [[2, 1]], {})
    assert fetched(ask(stage, fetch_request("t"), version=10, principal=ADMIN)) == {"t": 6}
    assert fetched(ask(stage, fetch_request("t"), version=11, principal=ADMIN)) == {"t": 0}
    stage.session(ADMIN).node_id = 3
    assert fetched(ask(stage, fetch_request("t"), version=11, principal=ADMIN)) == {"t": 6}


@pytest.mark.parametrize(
    ("replica", "rows"),
    [(-1, ["topic", "unknown", "unknown", "topic"]), (7, ["topic", "unknown", "topic", "unknown"])],
)
def test_brokers_get_failed_partitions_in_the_order_of_the_request(
    replica: int, rows: list[str]
) -> None:
    """A real 3.9.1 returns the same; for consumers, it collects unknown ids first."""
    stage = Stage("3.9")
    names = {stage.topic("a").topic_id: "topic", b"\x77" * 16: "unknown"}
    topic, unknown = names
    request = FetchRequest(
        replica_state=ReplicaState(replica_id=replica),
        max_bytes=1000,
        topics=[
            FetchTopic(topic_id=topic_id, partitions=[FetchPartition(partition=index)])
            for topic_id, index in ((unknown, 0), (topic, 0), (topic, 7), (unknown, 1))
        ],
    )
    response = stage.ask(ApiKey.FETCH, 15, request)
    found = [names[row.topic_id] for row in response.responses for _ in row.partitions]
    assert found == rows
