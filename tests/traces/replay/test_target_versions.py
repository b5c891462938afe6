"""A replay to a target of another release sends versions that it has, or names the field."""

from pathlib import Path
from typing import Any

import pytest

from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_cluster import DescribeClusterRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.records.batches import BatchOptions, Record, encode_batch
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.protocol.records.message_sets import write_message_set
from kafka_shim.shim.config import parse_address
from kafka_shim.traces.replay.offset_mapping import OffsetMapping
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from kafka_shim.traces.replay.target_versions import TargetVersions, UntranslatableRequestError
from kafka_shim.traces.replay.topology import TargetTopology
from tests.support.frames import request_frame
from tests.support.record_requests import fetch_request, produce_request
from tests.traces.replay.planted_changes import Change, changed_broker
from tests.traces.replay.recorded_clients import replay, shims

pytestmark = pytest.mark.usefixtures("short_waits")
NEW, OLD, WITH_NAMES, OLDEST = "4.4", "3.9", "2.8", "2.3"
WRITTEN, COMMITTED = 2, 3
MEMBER = "AAAAAAAAAAAAAAAAAAAAAA"


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record a client of the newest versions: with topic ids, transactions, and a share group."""
    folder = tmp_path_factory.mktemp("trace")
    with shims(1, seed=1, release=NEW) as broker:
        broker.record(folder)
        with Client(*parse_address(broker.plaintext, "")) as client:
            topic_id = create_topic(client)
            for number in range(WRITTEN):
                write(client, topic_id, b"plain %d" % number)
            write_in_transactions(client, topic_id)
            read(client, topic_id)
            client.send_request(ApiKey.DESCRIBE_CLUSTER, DescribeClusterRequest())
            fenced = DescribeClusterRequest(include_fenced_brokers=True)
            client.send_request(ApiKey.DESCRIBE_CLUSTER, fenced)
            member = ShareGroupHeartbeatRequest("s", "m", 0, None, ["orders"])
            client.send_request(ApiKey.SHARE_GROUP_HEARTBEAT, member)
            commit_as_member(client, topic_id)
    return folder


def commit_as_member(client: Client, topic_id: bytes) -> None:
    """Commit an offset as a member of a group of the new protocol (KIP-848)."""
    asked = FindCoordinatorRequest(coordinator_keys=["new"])
    client.send_request(ApiKey.FIND_COORDINATOR, asked)
    joined = ConsumerGroupHeartbeatRequest(
        "new", MEMBER, 0, rebalance_timeout_ms=1000, subscribed_topic_names=["orders"]
    )
    joined.topic_partitions = []
    epoch = client.send_request(ApiKey.CONSUMER_GROUP_HEARTBEAT, joined).member_epoch
    rows = [OffsetCommitRequestPartition(0, 1)]
    topics = [OffsetCommitRequestTopic(topic_id=topic_id, partitions=rows)]
    committed = client.send_request(
        ApiKey.OFFSET_COMMIT, OffsetCommitRequest("new", epoch, MEMBER, topics=topics)
    )
    assert committed.topics[0].partitions[0].error_code == 0


def create_topic(client: Client) -> bytes:
    topic = CreatableTopic("orders", num_partitions=1, replication_factor=1)
    client.send_request(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic]))
    named = MetadataRequest([MetadataRequestTopic(name="orders")])
    topic_id: bytes = client.send_request(ApiKey.METADATA, named).topics[0].topic_id
    assert any(topic_id) == (client.negotiated_version(ApiKey.METADATA) >= 10)
    return topic_id


def write(client: Client, topic: str | bytes, value: bytes, **options: Any) -> None:
    batch = encode_batch([Record(0, 0, b"k", value)], BatchOptions(**options))
    request = produce_request(topic, batch)
    if options:
        request.transactional_id = "tx"
    response = client.send_request(ApiKey.PRODUCE, request)
    assert response.responses[0].partition_responses[0].error_code == 0


def write_in_transactions(client: Client, topic_id: bytes) -> None:
    """Write without AddPartitionsToTxn, and with a new epoch for each transaction (KIP-890)."""
    client.send_request(
        ApiKey.FIND_COORDINATOR, FindCoordinatorRequest(coordinator_keys=["tx"], key_type=1)
    )
    producer = client.send_request(ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest("tx", 60_000))
    for number in range(COMMITTED):
        ids = {"producer_id": producer.producer_id, "producer_epoch": producer.producer_epoch}
        options = {**ids, "base_sequence": 0, "is_transactional": True}
        write(client, topic_id, b"committed %d" % number, **options)
        producer = client.send_request(ApiKey.END_TXN, EndTxnRequest("tx", **ids, committed=True))
        assert (producer.error_code, producer.producer_epoch) == (0, ids["producer_epoch"] + 1)


def read(client: Client, topic: str | bytes) -> None:
    request = fetch_request(topic, session_epoch=-1, max_wait_ms=10, min_bytes=1)
    assert client.send_request(ApiKey.FETCH, request).responses[0].partitions[0].records


def kinds_of(report: ReplayReport) -> set[tuple[str, str]]:
    return {(kind.api, kind.cause) for kind in report.counts_by_kind}


RELEASE = {
    ("ApiVersions", "release"), ("ShareGroupHeartbeat", "release"), ("CreateTopics", "settings"),
    ("ConsumerGroupHeartbeat", "release"),
}  # fmt: skip
"""What the releases differ in."""


def test_requests_of_newer_clients_are_sent_in_versions_of_the_target(trace: Path) -> None:
    with shims(1, seed=2, release=OLD) as target:
        report = replay(trace, target.plaintext, target.sasl)
    text = "\n".join(report_lines(report))
    assert kinds_of(report) == RELEASE, text
    assert report.skipped["the target lacks the API"] == 1
    (missed,) = report.unreplayable_requests
    assert "field `IncludeFencedBrokers` needs version 2+" in missed[1]
    assert report.compared_records == WRITTEN + COMMITTED, text
    assert report.unreached_requests == 0
    assert report.consequences == 1, text  # the member of a group that the target rejects commits
    assert "ShareGroupHeartbeat v1   api" in text


def test_what_differs_in_another_version_is_found(trace: Path) -> None:
    def change(api: ApiKey, _: Any, response: Any) -> bool:
        if api != ApiKey.FETCH:
            return False
        row = response.responses[0].partitions[0]
        first, *others = [batch.blob for batch in complete_batches(row.records)]
        row.records = b"".join([first.replace(b"plain 0", b"plain x"), *others])
        return True

    report, text = changed(trace, change, OLD)
    assert kinds_of(report) == RELEASE | {("Fetch", "data")}, text


def changed(trace: Path, change: Change, release: str) -> tuple[ReplayReport, str]:
    with (
        shims(1, seed=2, release=release) as target,
        changed_broker(parse_address(target.plaintext, ""), change) as broker,
    ):
        report = replay(trace, "{}:{}".format(*broker.address), target.sasl)
    return report, "\n".join(report_lines(report))


def test_an_unknown_topic_id_is_an_unknown_name(tmp_path: Path) -> None:
    """UNKNOWN_TOPIC_ID (100) is UNKNOWN_TOPIC_OR_PARTITION (3) in versions with names."""
    with shims(1, seed=1, release=NEW) as recorded:
        recorded.record(tmp_path)
        with Client(*parse_address(recorded.plaintext, "")) as client:
            topic_id = create_topic(client)
            client.send_request(
                ApiKey.DELETE_TOPICS, DeleteTopicsRequest([DeleteTopicState("orders")])
            )
            fetch = fetch_request(topic_id, session_epoch=-1)
            (row,) = client.send_request(ApiKey.FETCH, fetch).responses[0].partitions
            assert row.error_code == 100
    with shims(1, seed=2, release=WITH_NAMES) as target:
        report = replay(tmp_path, target.plaintext, target.sasl)
    text = "\n".join(report_lines(report))
    assert "Fetch" not in {kind.api for kind in report.counts_by_kind}, text
    assert report.unreplayable_count == 0, text


def test_messages_of_old_clients_become_batches(tmp_path: Path) -> None:
    with shims(1, seed=1, release=OLDEST) as recorded:
        recorded.record(tmp_path)
        with Client(*parse_address(recorded.plaintext, "")) as client:
            create_topic(client)
            for version in (0, 2, 3):
                records = [Record(0, 0, b"k", b"of v%d" % version), Record(1, 0, None, b"x")]
                blob = (
                    encode_batch(records)
                    if version == 3
                    else write_message_set(records, magic=min(version, 1))
                )
                response = client.send_request(
                    ApiKey.PRODUCE, produce_request("orders", blob), version
                )
                assert response.responses[0].partition_responses[0].error_code == 0
            for version in (0, 3, 11):
                request = fetch_request(
                    "orders", max_wait_ms=10, min_bytes=1, session_epoch=-1 if version > 6 else 0
                )
                client.send_request(ApiKey.FETCH, request, version)
    with shims(1, seed=2, release=NEW) as target:
        report = replay(tmp_path, target.plaintext, target.sasl)
    text = "\n".join(report_lines(report))
    apis = ("ApiVersions", "Metadata", "Produce", "Fetch")
    assert kinds_of(report) == {(api, "release") for api in apis}, text
    assert report.removed_versions == 4  # Produce 0 and 2, and Fetch 0 and 3
    assert ", 4 requests in versions that the target lacks" in text
    assert report.compared_records == 3 * 6, text
    assert not report.unreplayable_requests


def test_a_topic_without_a_known_name_is_named() -> None:
    topology = TargetTopology()
    topology.versions = {ApiKey.PRODUCE: (0, 11)}
    versions = TargetVersions(topology, OffsetMapping())
    frame = request_frame(ApiKey.PRODUCE, 13, produce_request(b"\1" * 16, None))
    header, at = read_request_header(frame)
    assert versions.nearest(ApiKey.PRODUCE, 13) == 11
    assert versions.nearest(ApiKey.SHARE_FETCH, 1) is None
    with pytest.raises(UntranslatableRequestError, match="topic id 01010101-0101-0101"):
        versions.translate_request(header, frame, at, 11)
