"""Members of share groups have a session with each leader of the target, wherever that is."""

import time
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_shim.protocol.messages.share_fetch import FetchPartition, FetchTopic, ShareFetchRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.records.batches import Record, encode_batch
from kafka_shim.shim.config import parse_address
from kafka_shim.traces.replay.fetch_sessions import ShareSessions
from kafka_shim.traces.replay.report import report_lines
from tests.support.record_requests import produce_request
from tests.traces.replay.recorded_clients import replay, shims
from tests.traces.replay.test_planted_changes import RECORDS_FIELD, changed

pytestmark = pytest.mark.folders("src/kafka_shim/traces/replay", "tests/traces/replay")
GROUP, MEMBER, GROUP_CONFIGS = "sharing", "AAAAAAAAAAAAAAAAAAAAAA", 32
PARTITIONS = 6
HERE, THERE = ("127.0.0.1", 1), ("127.0.0.1", 2)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a member that reads from each of three leaders, and acknowledges."""
    folder = tmp_path_factory.mktemp("trace")
    with shims(3, seed=1) as broker:
        broker.record(folder)
        with Client(*parse_address(broker.plaintext.partition(",")[0], "")) as admin:
            metadata = create_topic(admin)
        addresses = {row.node_id: (row.host, row.port) for row in metadata.brokers}
        (topic,) = metadata.topics
        by_leader: dict[int, list[int]] = {}
        for row in topic.partitions:
            by_leader.setdefault(row.leader_id, []).append(row.partition_index)
        clients = {node_id: Client(*addresses[node_id]) for node_id in by_leader}
        for node_id, indexes in by_leader.items():
            blobs = [encode_batch([Record(0, 0, None, b"of %d" % index)]) for index in indexes]
            written = produce_request(topic.topic_id, *blobs, indexes=indexes)
            clients[node_id].send_request(ApiKey.PRODUCE, written)
        with Client(*coordinator(broker.plaintext)) as member:
            join(member)
        for node_id, indexes in by_leader.items():
            read(clients[node_id], topic.topic_id, indexes)
        for client in clients.values():
            end = ShareAcknowledgeRequest(GROUP, MEMBER, -1)
            assert not client.send_request(ApiKey.SHARE_ACKNOWLEDGE, end).error_code
            client.close()
    assert len(by_leader) > 1
    return folder


def create_topic(admin: Client) -> Any:
    topic = CreatableTopic("shared", num_partitions=PARTITIONS, replication_factor=1)
    admin.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]))
    earliest = AlterableConfig("share.auto.offset.reset", 0, "earliest")
    change = IncrementalAlterConfigsRequest(
        [AlterConfigsResource(GROUP_CONFIGS, GROUP, [earliest])]
    )
    admin.send_request(ApiKey.INCREMENTAL_ALTER_CONFIGS, change)
    named = MetadataRequest([MetadataRequestTopic(name="shared")])
    return admin.send_request(ApiKey.METADATA, named)


def coordinator(servers: str) -> tuple[str, int]:
    with Client(*parse_address(servers.partition(",")[0], "")) as client:
        asked = FindCoordinatorRequest(coordinator_keys=[GROUP])
        (row,) = client.send_request(ApiKey.FIND_COORDINATOR, asked).coordinators
        return row.host, row.port


def join(member: Client) -> None:
    """Join until the member has all partitions."""
    response = member.send_request(
        ApiKey.SHARE_GROUP_HEARTBEAT,
        ShareGroupHeartbeatRequest(GROUP, MEMBER, 0, None, ["shared"]),
    )
    while response.assignment is None or not response.assignment.topic_partitions:
        time.sleep(0.05)
        beat = ShareGroupHeartbeatRequest(GROUP, MEMBER, response.member_epoch)
        response = member.send_request(ApiKey.SHARE_GROUP_HEARTBEAT, beat)
        assert response.error_code == 0


def read(client: Client, topic_id: bytes, indexes: list[int]) -> None:
    topics = [FetchTopic(topic_id, [FetchPartition(index) for index in indexes])]
    fetch = ShareFetchRequest(
        GROUP, MEMBER, 0, 500, 1, max_records=100, batch_size=100, topics=topics
    )
    response = client.send_request(ApiKey.SHARE_FETCH, fetch)
    assert {row.error_code for row in response.responses[0].partitions} == {0}
    taken = [AcknowledgePartition(index, [AcknowledgementBatch(0, 0, [1])]) for index in indexes]
    taken_topics = [AcknowledgeTopic(topic_id, taken)]
    acknowledge = ShareAcknowledgeRequest(GROUP, MEMBER, 1, topics=taken_topics)
    client.send_request(ApiKey.SHARE_ACKNOWLEDGE, acknowledge)


@pytest.mark.parametrize(("brokers", "seed"), [(3, 2), (1, 2)])
def test_sessions_are_with_the_leaders_of_the_target(trace: Path, brokers: int, seed: int) -> None:
    with shims(brokers, seed=seed) as target:
        report = replay(trace, target.plaintext, target.sasl)
    text = "\n".join(report_lines(report))
    assert report.matches_recording, text
    assert report.compared_records == PARTITIONS, text


def test_a_changed_record_of_a_share_group_is_found(trace: Path) -> None:
    def change(api: ApiKey, _: Any, response: Any) -> bool:
        if api != ApiKey.SHARE_FETCH:
            return False
        for row in response.responses[0].partitions:
            row.records = (row.records or b"").replace(b"of 0", b"of x")
        return True

    report, text = changed(trace, change)
    assert {*report.counts_by_kind} == {("ShareFetch", RECORDS_FIELD[1], "data")}, text


def acknowledge(epoch: int) -> ShareAcknowledgeRequest:
    return ShareAcknowledgeRequest(GROUP, MEMBER, epoch)


def epochs(found: list[tuple[Any, Any]]) -> dict[Any, int]:
    return {address: message.share_session_epoch for address, message in found}


def test_two_recorded_sessions_with_one_broker_are_one() -> None:
    sessions = ShareSessions()
    first = acknowledge(0)
    for _ in range(2):
        sessions.note(first)
    found = [epochs(sessions.requests(first, {HERE: first}, HERE)) for _ in range(2)]
    assert found == [{HERE: 0}, {HERE: 1}]
    final = acknowledge(-1)
    sessions.note(final)
    assert epochs(sessions.requests(final, {}, THERE)) == {HERE: 2}
    sessions.note(final)
    assert epochs(sessions.requests(final, {}, THERE)) == {HERE: -1}


def test_one_recorded_session_is_one_with_each_leader() -> None:
    sessions = ShareSessions()
    first, again, final = (
        ShareFetchRequest(GROUP, MEMBER, 0),
        ShareFetchRequest(GROUP, MEMBER, 1),
        acknowledge(-1),
    )
    sessions.note(first)
    both = sessions.requests(first, {HERE: first, THERE: first}, HERE)
    assert epochs(both) == {HERE: 0, THERE: 0}
    assert epochs(sessions.requests(again, {HERE: again}, HERE)) == {HERE: 1, THERE: 1}
    sessions.note(final)
    assert epochs(sessions.requests(final, {}, HERE)) == {HERE: -1, THERE: -1}
