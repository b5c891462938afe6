"""Deliberate differences from a real broker, one test each.

docs/explanation/differences.md has the reasons.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka_shim.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from kafka_shim.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_fetch import OffsetFetchRequest
from kafka_shim.protocol.messages.remove_raft_voter import RemoveRaftVoterRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.protocol.releases.facts import REBALANCE_PROTOCOLS
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.coordinators import KeyType
from kafka_shim.shim.state.groups.group_records import NOTES_MAX
from tests.recordings.conformance.deviations import LATER_SETTING, is_meant
from tests.recordings.conformance.scenario import Step
from tests.recordings.records.batches import batch
from tests.shim.play import SASL_LISTENER, Stage
from tests.support.record_requests import produce_request

ALICE = "User:alice"


def described(stage: Stage, name: str, principal: str) -> int:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=name)])
    code: int = stage.ask(ApiKey.METADATA, 9, request, principal).topics[0].error_code
    return code


def test_produce_without_records_is_answered() -> None:
    stage = Stage()
    topic = stage.topic("orders", 2)
    request = produce_request(topic.topic_id, batch(), None, acks=1)
    response = stage.ask(ApiKey.PRODUCE, 13, request)
    assert [row.error_code for row in response.responses[0].partition_responses] == [-1, -1]
    assert topic.partitions[0].log.end_offset == 0


@pytest.mark.parametrize("release", ["1.1", "3.0", "3.2"])
def test_odd_replicas_make_plain_partitions(release: str) -> None:
    """Real brokers, also 3.0.2 and 3.2.3, create the partitions 0 and 2."""
    stage = Stage(release)
    rows = [
        CreatableReplicaAssignment(partition_index=index, broker_ids=[node])
        for index, node in ((0, 1), (2, 1))
    ]
    topic = CreatableTopic(
        name="orders", num_partitions=-1, replication_factor=-1, assignments=rows
    )
    stage.ask(ApiKey.CREATE_TOPICS, 2, CreateTopicsRequest(topics=[topic]))
    request = MetadataRequest(topics=[MetadataRequestTopic(name="orders")])
    shown = stage.ask(ApiKey.METADATA, 5, request).topics[0].partitions
    assert [(partition.partition_index, partition.leader_id) for partition in shown] == [
        (0, 1),
        (1, 1),
    ]


def test_an_unknown_operation_leaves_the_controller() -> None:
    stage = Stage("4.4")
    stage.topic("orders")
    resource = AlterConfigsResource(2, "orders", [AlterableConfig("retention.ms", 99, "1")])
    request = IncrementalAlterConfigsRequest([resource])
    response = stage.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
    assert response.responses[0].error_code == -1
    voter = RemoveRaftVoterRequest(None, voter_id=77, voter_directory_id=b"\x22" * 16)
    assert stage.ask(ApiKey.REMOVE_RAFT_VOTER, 0, voter).error_code == 35


def test_partitions_of_an_unknown_topic_keep_their_order() -> None:
    request = produce_request(b"\x22" * 16, *3 * [batch()], indexes=(2, 0, 1), acks=1)
    response = Stage().ask(ApiKey.PRODUCE, 13, request)
    found = response.responses[0].partition_responses
    assert [(partition.index, partition.error_code) for partition in found] == [
        (2, 100),
        (0, 100),
        (1, 100),
    ]


def test_acls_are_in_force_when_they_have_been_created() -> None:
    stage = Stage()
    stage.topic("orders")
    assert described(stage, "orders", ALICE) == 29
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "orders")
    assert described(stage, "orders", ALICE) == 0


@pytest.mark.parametrize("release", ["0.11", "2.8", "4.3"])
def test_coordinators_are_available_at_the_first_request(release: str) -> None:
    request = FindCoordinatorRequest(key="group")
    assert Stage(release).ask(ApiKey.FIND_COORDINATOR, 0, request).error_code == 0


def joined(stage: Stage, protocol_names: Sequence[str] = ("range",)) -> Any:
    request = JoinGroupRequest(
        group_id="group",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name=name, metadata=b"") for name in protocol_names],
    )
    response = stage.ask(ApiKey.JOIN_GROUP, 3, request)
    if isinstance(response, PendingExchange):
        stage.clock.advance(0)
        if response.wait.is_finished:
            return stage.outcome(ApiKey.JOIN_GROUP, 3, response)
    return response


def heartbeat(
    stage: Stage, member: str, epoch: int, names: list[str] | None, version: int
) -> ConsumerGroupHeartbeatResponse:
    request = ConsumerGroupHeartbeatRequest(
        group_id="group", member_id=member, member_epoch=epoch, subscribed_topic_names=names
    )
    if epoch == 0:
        request.rebalance_timeout_ms, request.topic_partitions = 10_000, []
    response: ConsumerGroupHeartbeatResponse = stage.ask(
        ApiKey.CONSUMER_GROUP_HEARTBEAT, version, request
    )
    assert response.error_code == 0
    return response


def test_mixed_subscriptions_are_assigned_as_by_later_releases() -> None:
    def targets(release: str) -> list[Any]:
        stage = Stage(release, properties={REBALANCE_PROTOCOLS: "classic,consumer"})
        for topic, partitions in (("orders", 5), ("payments", 3)):
            stage.topic(topic, partitions)
        heartbeat(stage, "a", 0, ["orders"], 0)
        heartbeat(stage, "b", 0, ["orders", "payments"], 0)
        described = stage.ask(
            ApiKey.CONSUMER_GROUP_DESCRIBE, 0, ConsumerGroupDescribeRequest(group_ids=["group"])
        )
        return [
            (topic.topic_name, topic.partitions)
            for member in described.groups[0].members
            for topic in member.target_assignment.topic_partitions
        ]

    assert targets("3.9") == targets("4.0")


def test_a_member_without_topics_takes_no_partitions_away() -> None:
    stage = Stage("4.1")
    stage.topic("orders", 2)
    beat = partial(heartbeat, stage, version=1)
    first = beat("first", 0, ["orders"])
    beat("second", 0, ["missing"])
    beat("second", -1, None)
    idle = beat("second", 0, [])
    assert idle.assignment is not None
    assert idle.assignment.topic_partitions == []
    found = beat("first", first.member_epoch, ["orders"]).assignment
    assert found is None or len(found.topic_partitions[0].partitions) == 2


def test_a_replica_is_in_its_new_directory_at_once() -> None:
    """On a real broker, it is listed as a future replica until it is copied."""
    stage = Stage(properties={"log.dirs": "/a,/b"})
    stage.topic("orders", 2)

    def places() -> list[tuple[str, list[int], bool]]:
        response = stage.ask(ApiKey.DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None))
        return [
            (
                result.log_dir,
                [row.partition_index for topic in result.topics for row in topic.partitions],
                any(row.is_future_key for topic in result.topics for row in topic.partitions),
            )
            for result in response.results
        ]

    assert places() == [("/a", [0], False), ("/b", [1], False)]
    moved = AlterReplicaLogDirTopic(name="orders", partitions=[0])
    request = AlterReplicaLogDirsRequest([AlterReplicaLogDir(path="/b", topics=[moved])])
    response = stage.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, 2, request)
    assert response.results[0].partitions[0].error_code == 0
    assert places() == [("/a", [], False), ("/b", [0, 1], False)]


def test_the_first_member_of_a_group_does_not_wait() -> None:
    delay = {"group.initial.rebalance.delay.ms": "3000"}
    assert isinstance(joined(Stage(properties=delay)), PendingExchange)
    assert joined(Stage()).error_code == 0


def created_token(stage: Stage) -> int:
    session = Session(SASL_LISTENER, 1, "127.0.0.1", 50_000)
    session.phase, session.is_authenticated, session.principal = (
        AuthenticationPhase.READY,
        True,
        ALICE,
    )
    request = CreateDelegationTokenRequest(max_lifetime_ms=-1)
    frame = stage.send(ApiKey.CREATE_DELEGATION_TOKEN, 3, request, session)
    assert isinstance(frame, bytes)
    code: int = stage.read(ApiKey.CREATE_DELEGATION_TOKEN, 3, frame).error_code
    return code


def test_tokens_work_without_a_secret() -> None:
    assert created_token(Stage()) == 0
    assert created_token(Stage(properties={"delegation.token.secret.key": ""})) == 61


@pytest.mark.parametrize("name", ["#foo", " foo", "!foo", "(foo"])
def test_names_that_sort_before_an_asterisk_are_decided(name: str) -> None:
    stage = Stage()
    stage.allow("User:bob", Operation.READ, ResourceType.GROUP, f"{name[0]}zzz")
    stage.allow("User:bob", Operation.READ, ResourceType.GROUP, f"{name[:-1]}b")
    find = FindCoordinatorRequest(key=name)
    assert stage.ask(ApiKey.FIND_COORDINATOR, 0, find, ALICE).error_code == 30
    stage.allow(ALICE, Operation.READ, ResourceType.GROUP, name)
    assert stage.ask(ApiKey.FIND_COORDINATOR, 0, find, ALICE).error_code == 0


def commit(stage: Stage, group: str, *offsets: tuple[int, int]) -> None:
    rows = [OffsetCommitRequestPartition(index, offset) for index, offset in offsets]
    topics = [OffsetCommitRequestTopic("orders", partitions=rows)]
    response = stage.ask(
        ApiKey.OFFSET_COMMIT, 8, OffsetCommitRequest(group_id=group, topics=topics)
    )
    assert response.topics[0].partitions[0].error_code == 0


def keys_and_ends(stage: Stage) -> tuple[list[bytes], int]:
    """Return what the keys in the topic of groups begin with, and the number of all records."""
    partitions = stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP).partitions
    keys = [
        (record.key or b"")[:2]
        for partition in partitions
        for stored in partition.log.batches
        for batch in iterate_batches(stored.payload)
        for record in batch.records()
    ]
    return keys, sum(partition.log.end_offset for partition in partitions)


def test_records_of_members_have_a_hash_of_their_own() -> None:
    stage = Stage("4.4", properties={"offsets.topic.num.partitions": "1"})
    stage.topic("orders")
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=1000,
        subscribed_topic_names=["orders"],
        topic_partitions=[],
    )
    assert stage.ask(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, heartbeat).error_code == 0
    types, end = keys_and_ends(stage)
    assert types == [b"\0\5", b"\0\3", b"\0\7", b"\0\6", b"\0\b"]
    assert end == len(types)
    (partition,) = stage.cluster.coordinators.get_or_create_topic(KeyType.GROUP).partitions
    (stored,) = partition.log.batches
    _, group, *_ = (
        record for batch in iterate_batches(stored.payload) for record in batch.records()
    )
    value = codecs.read_message("ConsumerGroupMetadataValue", 0, group.value or b"", 2)
    assert value.metadata_hash & 1


def test_replaced_records_of_the_topic_of_groups_are_not_made() -> None:
    stage = Stage("4.4", properties={"offsets.topic.num.partitions": "1"})
    stage.topic("orders")
    for offset in range(NOTES_MAX + 1):
        commit(stage, "g", (0, offset))
    assert keys_and_ends(stage) == ([b"\0\1"], NOTES_MAX + 1)


def test_topics_of_transactions_and_share_partitions_are_empty() -> None:
    stage = Stage("4.4")
    request = InitProducerIdRequest(transactional_id="t", transaction_timeout_ms=1000)
    assert stage.ask(ApiKey.INIT_PRODUCER_ID, 4, request).error_code == 0
    key = ("g", stage.topic("orders").topic_id, 0)
    assert stage.cluster.share_states.reset_state(key, 1, 0) == 0
    for name in ("__transaction_state", "__share_group_state"):
        partitions = stage.found(name).partitions
        assert not any(partition.log.end_offset for partition in partitions)


def test_members_of_share_groups_have_no_records() -> None:
    stage = Stage("4.4", properties={"offsets.topic.num.partitions": "1"})
    stage.topic("orders")
    heartbeat = ShareGroupHeartbeatRequest(
        group_id="g",
        member_id="AAAAAAAAAAAAAAAAAAAAAQ",
        member_epoch=0,
        subscribed_topic_names=["orders"],
    )
    assert stage.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, heartbeat).error_code == 0
    assert keys_and_ends(stage) == ([], 0)
    commit(stage, "c", (0, 1))
    assert keys_and_ends(stage) == ([b"\0\1"], 1)


def test_a_client_may_have_the_name_of_the_wildcard_principal() -> None:
    stage = Stage()
    stage.topic("orders")
    stage.allow(ALICE, Operation.READ, ResourceType.TOPIC, "orders")
    assert described(stage, "orders", "User:*") == 29
    stage.allow("User:*", Operation.READ, ResourceType.TOPIC, "orders")
    assert described(stage, "orders", "User:*") == 0
    assert described(stage, "orders", "User:bob") == 0


def test_error_messages_are_not_kafkas() -> None:
    """Kafka's message is `Topic 'orders' already exists.`"""
    stage = Stage()
    stage.topic("orders")
    topic = CreatableTopic(name="orders", num_partitions=1, replication_factor=1)
    response = stage.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics=[topic]))
    message = response.topics[0].error_message
    assert message
    assert message[0].islower()
    assert message != "Topic 'orders' already exists."


def test_a_missing_partition_has_no_offset_in_share_groups() -> None:
    stage = Stage()
    stage.topic("orders")
    topic = DescribeShareGroupOffsetsRequestTopic(topic_name="orders", partitions=[7])
    group = DescribeShareGroupOffsetsRequestGroup(group_id="group", topics=[topic])
    request = DescribeShareGroupOffsetsRequest(groups=[group])
    response = stage.ask(ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS, 1, request)
    found = response.groups[0].topics[0].partitions[0]
    assert (found.partition_index, found.start_offset, found.error_code) == (7, -1, 0)


def test_markers_for_missing_partitions_are_answered() -> None:
    """They are answered even after a marker for an existing partition."""
    stage = Stage()
    stage.topic("orders")
    markers = [
        WritableTxnMarker(
            producer_id=number, topics=[WritableTxnMarkerTopic(name=name, partition_indexes=[0])]
        )
        for number, name in enumerate(("orders", "missing"))
    ]
    request = WriteTxnMarkersRequest(markers=markers)
    response = stage.ask(ApiKey.WRITE_TXN_MARKERS, 1, request)
    codes = [marker.topics[0].partitions[0].error_code for marker in response.markers]
    assert codes == [0, 3]


def test_markers_for_a_repeated_partition_are_answered() -> None:
    stage = Stage()
    stage.topic("orders")
    marker = WritableTxnMarker(
        producer_id=7, topics=[WritableTxnMarkerTopic(name="orders", partition_indexes=[0, 0])]
    )
    response = stage.ask(ApiKey.WRITE_TXN_MARKERS, 1, WriteTxnMarkersRequest(markers=[marker]))
    assert [row.error_code for row in response.markers[0].topics[0].partitions] == [0]


def test_offset_fetch_without_groups_is_answered() -> None:
    assert Stage("3.9").ask(ApiKey.OFFSET_FETCH, 8, OffsetFetchRequest(groups=[])).groups == []


def test_no_transactions_are_answered() -> None:
    request = AddPartitionsToTxnRequest(transactions=[])
    response = Stage().ask(ApiKey.ADD_PARTITIONS_TO_TXN, 4, request)
    assert response.results_by_transaction == []


@pytest.mark.parametrize("release", ["2.8", "4.4"])
def test_a_member_that_names_each_protocol_twice_joins(release: str) -> None:
    response = joined(Stage(release), ("range", "sticky", "range", "sticky"))
    assert (response.error_code, response.protocol_name) == (0, "range")


def test_null_records_of_a_repeated_partition_are_answered_once() -> None:
    stage = Stage("2.8")
    stage.topic("orders")
    request = produce_request("orders", None)
    rows = request.topic_data[0].partition_data
    rows.append(produce_request("orders", batch([b"x"])).topic_data[0].partition_data[0])
    response = stage.ask(ApiKey.PRODUCE, 7, request)
    assert [row.index for row in response.responses[0].partition_responses] == [0]


def test_a_patch_lists_the_settings_of_the_last_patch() -> None:
    def names(release: str) -> set[str]:
        resource = DescribeConfigsResource(resource_type=4, resource_name="1")
        request = DescribeConfigsRequest(resources=[resource])
        response = Stage(release).ask(ApiKey.DESCRIBE_CONFIGS, 1, request)
        return {entry.name for entry in response.results[0].configs}

    assert LATER_SETTING in names("3.9.1") & names("3.9.2")
    assert LATER_SETTING not in names("3.8")


def test_only_loggers_that_were_unknown_are_left_out_of_the_comparison() -> None:
    def logger(code: int) -> dict[str, Any]:
        return {"resource_type": 8, "resource_name": "1", "error_code": code}

    topic = {"resource_type": 2, "resource_name": "t", "error_code": 29}
    step = Step(user="alice", api="DescribeConfigs", version=0, request={})
    wanted = {"results": [topic, logger(-1)]}
    assert is_meant(step, wanted, {"results": [topic, logger(0)]})
    assert not is_meant(step, wanted, {"results": [topic | {"error_code": 0}, logger(0)]})
    assert not is_meant(step, {"results": [logger(31)]}, {"results": [logger(0)]})
    found = {**logger(0), "configs": [{"name": "kafka"}]}
    assert is_meant(step, {"results": [logger(0) | {"configs": []}]}, {"results": [found]})
