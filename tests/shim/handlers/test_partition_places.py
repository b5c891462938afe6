"""Elections, reassignments and log directories of partitions (KIP-113, 183, 455, 460)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka_shim.protocol.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from kafka_shim.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_shim.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.shim.play import Stage

ALICE, BOB = "User:alice", "User:bob"


def stage_of(release: str = "") -> Stage:
    """Three brokers: 1 leads `t`-0 and 2 leads `t`-1; alice has ALTER and DESCRIBE on CLUSTER."""
    stage = Stage(release, brokers=3)
    stage.cluster.topics.create_topic("t", [[1, 2], [2, 3]], {})
    for operation in (Operation.ALTER, Operation.DESCRIBE):
        stage.allow(ALICE, operation, ResourceType.CLUSTER, "kafka-cluster")
    return stage


def partition(stage: Stage, index: int = 0) -> Any:
    return stage.cluster.topics.led_partition("t", index)


def elect(stage: Stage, *indexes: int, kind: int = 0, who: str = ALICE, version: int = 2) -> Any:
    request = ElectLeadersRequest(kind, [TopicPartitions("t", list(indexes))], 5000)
    response = stage.ask(ApiKey.ELECT_LEADERS, version, request, who)
    codes = [result.error_code for result in response.replica_election_results[0].partition_result]
    return response.error_code, codes


def test_the_preferred_leader_leads_again() -> None:
    stage = stage_of()
    stage.cluster.topics.elect_leader(partition(stage), 2)
    assert elect(stage, 0, 1, 7) == (0, [0, 84, 3])
    assert (partition(stage).leader_id, partition(stage).leader_epoch) == (1, 2)


def test_3_0_rejects_an_election_for_all_topics() -> None:
    """DEVIATION: a real 3.0 broker fails on the null list and sends no response."""
    request = ElectLeadersRequest(0, None, 5000)
    response = stage_of("3.0").ask(ApiKey.ELECT_LEADERS, 2, request, ALICE)
    assert (response.error_code, response.replica_election_results) == (35, [])


def test_a_stopped_broker_cannot_become_leader() -> None:
    stage = stage_of()
    stage.cluster.topics.elect_leader(partition(stage), 2)
    stage.cluster.nodes[1].is_alive = False
    assert elect(stage, 0) == (0, [80])
    stage.cluster.nodes[2].is_alive = False
    assert elect(stage, 0, kind=1) == (0, [83])
    stage.cluster.nodes[1].is_alive = True
    assert elect(stage, 0, kind=1) == (0, [0])
    assert partition(stage).leader_id == 1


@pytest.mark.parametrize(
    ("version", "expected"), [(0, (0, [31, 31])), (1, (31, [31, 31])), (2, (31, [31, 31]))]
)
def test_a_denied_election_fails_for_each_partition(version: int, expected: Any) -> None:
    assert elect(stage_of(), 0, 1, who=BOB, version=version) == expected


@pytest.mark.parametrize(("release", "names"), [("2.3", ["t"]), ("2.8", []), ("4.3", ["t"])])
def test_topics_returned_by_an_election_for_all_topics_depend_on_the_release(
    release: str, names: list[str]
) -> None:
    """KRaft returns each topic, with only the partitions that changed or failed."""
    version = 0 if release == "2.3" else 1
    request = ElectLeadersRequest(0, None, 5000)
    response = stage_of(release).ask(ApiKey.ELECT_LEADERS, version, request, ALICE)
    assert [result.topic for result in response.replica_election_results] == names


def test_unknown_election_types_are_rejected() -> None:
    assert elect(stage_of(), 0, kind=9) == (42, [42])
    assert elect(stage_of("2.8"), 0, kind=9) == (-1, [-1])
    nothing = ElectLeadersRequest(9, [], 5000)
    assert stage_of().ask(ApiKey.ELECT_LEADERS, 1, nothing, ALICE).error_code == 0


def reassign(stage: Stage, replicas: list[int] | None, index: int = 0, **more: Any) -> Any:
    topics = [ReassignableTopic("t", [ReassignablePartition(index, replicas)])]
    version = more.pop("version", 0)
    who = more.pop("who", ALICE)
    request = AlterPartitionReassignmentsRequest(5000, topics=topics, **more)
    response = stage.ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, version, request, who)
    return response.error_code, response.responses[0].partitions[0].error_code


def test_a_reassignment_completes_at_once() -> None:
    stage = stage_of()
    assert reassign(stage, [3, 1]) == (0, 0)
    moved = partition(stage)
    assert (moved.replicas, moved.isr, moved.leader_id) == ([3, 1], [3, 1], 1)
    assert reassign(stage, [2]) == (0, 0)
    assert (partition(stage).leader_id, partition(stage).leader_epoch) == (2, 1)


@pytest.mark.parametrize(
    ("replicas", "index", "error"),
    [(None, 0, 85), ([], 0, 39), ([1, 1], 0, 39), ([9], 0, 39), ([1], 7, 3)],
)
def test_invalid_reassignments_are_rejected(
    replicas: list[int] | None, index: int, error: int
) -> None:
    assert reassign(stage_of(), replicas, index) == (0, error)


def test_the_replication_factor_can_be_kept() -> None:
    flags = {"version": 1, "allow_replication_factor_change": False}
    assert reassign(stage_of(), [3], **flags) == (0, 38)
    assert reassign(stage_of(), [3, 1], **flags) == (0, 0)


@pytest.mark.parametrize(("release", "names"), [("2.8", ["t"]), ("4.4", ["u", "t"])])
def test_a_controller_on_zookeeper_leaves_out_topics_without_partitions(
    release: str, names: list[str]
) -> None:
    topics = [
        ReassignableTopic("u", []),
        ReassignableTopic("t", [ReassignablePartition(0, [3, 1])]),
    ]
    request = AlterPartitionReassignmentsRequest(5000, topics=topics)
    stage = stage_of(release)
    response = stage.ask(ApiKey.ALTER_PARTITION_REASSIGNMENTS, 0, request, ALICE)
    assert [topic.name for topic in response.responses] == names


def test_reassignments_need_alter_and_listing_them_describe() -> None:
    assert reassign(stage_of(), [3, 1], who=BOB) == (31, 31)
    named = [ListPartitionReassignmentsTopics("t", [0, 9])]
    request = ListPartitionReassignmentsRequest(5000, named)
    denied = stage_of().ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, request, BOB)
    assert denied.error_code == 31
    assert [(topic.name, len(topic.partitions)) for topic in denied.topics] == [("t", 2)]
    allowed = stage_of().ask(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, request, ALICE)
    assert (allowed.error_code, allowed.topics) == (0, [])


def dirs(stage: Stage, topics: Any, version: int = 4, who: str = ALICE) -> Any:
    return stage.ask(ApiKey.DESCRIBE_LOG_DIRS, version, DescribeLogDirsRequest(topics), who)


def held(response: Any) -> dict[str, list[int]]:
    (result,) = response.results
    return {
        topic.name: [part.partition_index for part in topic.partitions] for topic in result.topics
    }


def test_log_dirs_list_the_partitions_of_a_broker() -> None:
    stage = stage_of()
    assert held(dirs(stage, None)) == {"t": [0]}
    assert held(dirs(stage, [DescribableLogDirTopic("t", [1, 9])])) == {}
    stage.session(ALICE).node_id = 2
    assert held(dirs(stage, None)) == {"t": [0, 1]}
    assert dirs(stage, None).results[0].log_dir == "/tmp/kafka-logs"


def test_in_3_6_an_empty_list_returns_topics_without_partitions() -> None:
    assert held(dirs(stage_of("3.6"), [])) == {"t": []}
    assert held(dirs(stage_of("3.7"), [])) == {}


@pytest.mark.parametrize(("version", "error"), [(1, 0), (2, 0), (3, 31), (4, 31)])
def test_a_denial_of_describe_log_dirs_has_an_error_code_since_version_3(
    version: int, error: int
) -> None:
    response = dirs(stage_of(), None, version, BOB)
    assert (response.error_code, response.results) == (error, [])


def move(stage: Stage, path: str, who: str = ALICE) -> list[int]:
    topics = [AlterReplicaLogDirTopic("t", [0, 7])]
    request = AlterReplicaLogDirsRequest([AlterReplicaLogDir(path, topics)])
    response = stage.ask(ApiKey.ALTER_REPLICA_LOG_DIRS, 1, request, who)
    return [partition.error_code for partition in response.results[0].partitions]


def test_there_is_one_log_directory() -> None:
    assert move(stage_of(), "/tmp/kafka-logs") == [0, 3]
    assert move(stage_of("2.0"), "/tmp/kafka-logs") == [0, 9]
    assert move(stage_of(), "/elsewhere") == [57, 57]
    assert move(stage_of(), "/elsewhere", BOB) == [31, 31]
