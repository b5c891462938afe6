"""Error responses have the error on each row, in the request's order."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from kafka_shim.shim.handlers import (
    alter_partition_reassignments,
    consumer_group_heartbeat,
    describe_groups,
    elect_leaders,
    offset_for_leader_epoch,
)

ERROR = ErrorCode.UNKNOWN_SERVER_ERROR


def test_rows_of_arrays_with_another_name_have_error_and_message() -> None:
    topics = [
        ReassignableTopic("b", [ReassignablePartition(3), ReassignablePartition(1)]),
        ReassignableTopic("a", []),
    ]
    response = alter_partition_reassignments.error_response(
        AlterPartitionReassignmentsRequest(topics=topics), ERROR, "why"
    )
    assert (response.error_code, response.error_message) == (ERROR, "why")
    assert [row.name for row in response.responses] == ["b", "a"]
    assert [
        (row.partition_index, row.error_code, row.error_message)
        for row in response.responses[0].partitions
    ] == [(3, ERROR, "why"), (1, ERROR, "why")]


def test_plain_values_become_rows() -> None:
    request = ElectLeadersRequest(topic_partitions=[TopicPartitions("a", [4, 5])])
    (topic,) = elect_leaders.error_response(request, ERROR, None).replica_election_results
    assert topic.topic == "a"
    assert [(row.partition_id, row.error_code) for row in topic.partition_result] == [
        (4, ERROR),
        (5, ERROR),
    ]
    everything = ElectLeadersRequest(topic_partitions=None)
    assert not elect_leaders.error_response(everything, ERROR, None).replica_election_results


def test_constants_replace_messages_and_fields_of_the_request() -> None:
    (group,) = describe_groups.error_response(DescribeGroupsRequest(["g"]), ERROR, "why").groups
    assert (group.group_id, group.error_code, group.error_message) == ("g", ERROR, None)
    partition = OffsetForLeaderPartition(partition=2, leader_epoch=7)
    request = OffsetForLeaderEpochRequest(topics=[OffsetForLeaderTopic("a", [partition])])
    (row,) = offset_for_leader_epoch.error_response(request, ERROR, None).topics[0].partitions
    assert (row.partition, row.error_code, row.leader_epoch) == (2, ERROR, -1)


def test_fields_without_a_counterpart_keep_their_defaults() -> None:
    request = ConsumerGroupHeartbeatRequest("g", "m", 3)
    response = consumer_group_heartbeat.error_response(request, ERROR, "why")
    assert (response.member_id, response.member_epoch, response.assignment) == (None, 0, None)
    assert (response.error_code, response.error_message) == (ERROR, "why")
