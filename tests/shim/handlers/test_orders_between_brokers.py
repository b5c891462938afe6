"""Requests between brokers (APIs 4 to 7 and 56) in old releases: they change nothing."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    RequestPartitionData as NewIsr,
    RequestTopicData as NewIsrTopic,
)
from kafka_shim.protocol.messages.controlled_shutdown import ControlledShutdownRequest
from kafka_shim.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrTopicState,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.stop_replica import (
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from kafka_shim.protocol.messages.update_metadata import UpdateMetadataRequest
from tests.shim.handlers.records import ALICE
from tests.shim.play import Stage

CURRENT, LATER = 1, 1000
"""Controller epochs."""


def leader_and_isr(version: int, *indexes: int, epoch: int = CURRENT) -> LeaderAndIsrRequest:
    """Return a request that makes broker 9 the leader of these partitions of topic `t`."""
    name = "t" if version < 2 else ""
    states = [
        LeaderAndIsrPartitionState(name, index, epoch, 9, 7, isr=[9], replicas=[9])
        for index in indexes
    ]
    request = LeaderAndIsrRequest(controller_id=9, controller_epoch=epoch)
    if version < 2:
        request.ungrouped_partition_states = states
    else:
        topic_id = b"\x07" * 16 if version >= 5 else bytes(16)
        request.topic_states = [LeaderAndIsrTopicState("t", topic_id, states)]
    return request


def stop_replica(version: int, *indexes: int, epoch: int = CURRENT) -> StopReplicaRequest:
    """Return a request that stops these partitions of topic `t`."""
    request = StopReplicaRequest(controller_id=9, controller_epoch=epoch)
    if version < 3:
        request.delete_partitions = True
    if version == 0:
        request.ungrouped_partitions = [StopReplicaPartitionV0("t", index) for index in indexes]
    elif version < 3:
        request.topics = [StopReplicaTopicV1("t", list(indexes))]
    else:
        states = [StopReplicaPartitionState(index, 7, True) for index in indexes]
        request.topic_states = [StopReplicaTopicState("t", states)]
    return request


def everything(stage: Stage) -> Any:
    """Return the Metadata response with all brokers, topics and leaders."""
    return stage.ask(ApiKey.METADATA, 1, MetadataRequest(topics=None))


def stage_with_topic(release: str) -> Stage:
    stage = Stage(release)
    stage.topic("t", partitions=2)
    return stage


@pytest.mark.parametrize(
    ("release", "version"),
    [("0.11", 0), ("1.1", 1), ("2.3", 2), ("2.4", 4), ("2.8", 0), ("2.8", 5)],
)
def test_a_denied_leader_and_isr_lists_its_partitions(release: str, version: int) -> None:
    stage = stage_with_topic(release)
    response = stage.ask(ApiKey.LEADER_AND_ISR, version, leader_and_isr(version, 0, 1), ALICE)
    assert response.error_code == 31
    rows = response.topics[0].partition_errors if version == 5 else response.partition_errors
    assert [(row.partition_index, row.error_code) for row in rows] == [(0, 31), (1, 31)]


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_a_denied_stop_replica_lists_its_partitions(version: int) -> None:
    stage = stage_with_topic("2.8")
    response = stage.ask(ApiKey.STOP_REPLICA, version, stop_replica(version, 1, 0), ALICE)
    assert response.error_code == 31
    rows = [
        (row.topic_name, row.partition_index, row.error_code) for row in response.partition_errors
    ]
    assert rows == [("t", 1, 31), ("t", 0, 31)]


@pytest.mark.parametrize(("release", "count"), [("2.3", 1), ("2.4", 2)])
def test_a_denied_repeated_partition_is_returned_twice_since_2_4(release: str, count: int) -> None:
    stage = stage_with_topic(release)
    response = stage.ask(ApiKey.STOP_REPLICA, 1, stop_replica(1, 0, 0), ALICE)
    assert len(response.partition_errors) == count
    response = stage.ask(ApiKey.LEADER_AND_ISR, 2, leader_and_isr(2, 0, 0), ALICE)
    assert len(response.partition_errors) == count


def test_cluster_action_does_not_make_a_client_the_controller() -> None:
    """The request fails with the current controller epoch and with a later one."""
    stage = stage_with_topic("2.8")
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    before = everything(stage)
    for epoch in (-1, CURRENT, LATER):
        request: Any = leader_and_isr(4, 0, 1, epoch=epoch)
        response = stage.ask(ApiKey.LEADER_AND_ISR, 4, request, ALICE)
        assert [response.error_code, *(row.error_code for row in response.partition_errors)] == [
            11
        ] * 3
        request = stop_replica(3, 0, 1, epoch=epoch)
        response = stage.ask(ApiKey.STOP_REPLICA, 3, request, ALICE)
        assert (response.error_code, response.partition_errors) == (11, [])
        request = UpdateMetadataRequest(controller_id=9, controller_epoch=epoch)
        assert stage.ask(ApiKey.UPDATE_METADATA, 7, request, ALICE).error_code == 11
    assert everything(stage) == before


@pytest.mark.parametrize(("release", "count"), [("0.11", 0), ("1.0", 0), ("1.1", 2)])
def test_a_stale_leader_and_isr_lists_partitions_since_1_1(release: str, count: int) -> None:
    stage = stage_with_topic(release)
    response = stage.ask(ApiKey.LEADER_AND_ISR, 0, leader_and_isr(0, 0, 1))
    assert (response.error_code, len(response.partition_errors)) == (11, count)


def test_a_wrong_broker_epoch_is_a_stale_broker_epoch() -> None:
    stage = stage_with_topic("2.8")
    for api, request in (
        (ApiKey.LEADER_AND_ISR, leader_and_isr(2, 0)),
        (ApiKey.STOP_REPLICA, stop_replica(1, 0)),
        (ApiKey.UPDATE_METADATA, UpdateMetadataRequest(controller_epoch=CURRENT)),
    ):
        request.broker_epoch = 3
        version = 5 if api is ApiKey.UPDATE_METADATA else 2
        if api is ApiKey.STOP_REPLICA:
            version = 1
        assert stage.ask(api, version, request).error_code == 77


def shut_down(stage: Stage, broker_id: int, broker_epoch: int = -1, principal: str = "") -> int:
    request = ControlledShutdownRequest(broker_id=broker_id, broker_epoch=broker_epoch)
    who = {"principal": principal} if principal else {}
    response = stage.ask(ApiKey.CONTROLLED_SHUTDOWN, 2, request, **who)
    assert response.remaining_partitions == []
    return int(response.error_code)


def test_a_client_cannot_shut_down_a_broker() -> None:
    stage = Stage("2.8", brokers=2)
    before = everything(stage)
    assert shut_down(stage, 1, principal=ALICE) == 31
    assert shut_down(stage, 1) == shut_down(stage, 2, 5) == 77
    assert shut_down(stage, 9) == 8
    assert shut_down(stage, 9, 5) == -1
    assert everything(stage) == before


def test_only_the_controller_handles_shutdowns_and_isr_changes() -> None:
    stage = Stage("2.8", brokers=2)
    stage.session("User:admin").node_id = 2
    assert shut_down(stage, 9) == 11
    assert stage.ask(ApiKey.ALTER_PARTITION, 0, AlterPartitionRequest()).error_code == 41


def test_a_client_cannot_change_the_isr() -> None:
    stage = stage_with_topic("2.7")
    before = everything(stage)
    topic = NewIsrTopic(topic_name="t", partitions=[NewIsr(partition_index=0, new_isr=[9])])
    for epoch in (-1, 0, 1):
        request = AlterPartitionRequest(broker_id=1, broker_epoch=epoch, topics=[topic])
        response = stage.ask(ApiKey.ALTER_PARTITION, 0, request, ALICE)
        assert (response.error_code, response.topics) == (31, [])
        response = stage.ask(ApiKey.ALTER_PARTITION, 0, request)
        assert (response.error_code, response.topics) == (77, [])
    assert everything(stage) == before
