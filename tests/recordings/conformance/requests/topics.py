"""Random requests that create, change, describe and delete topics."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    RequestCursor,
    TopicRequest,
)
from kafka_shim.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_shim.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.recordings.conformance.draw import Asked, Draw

IDS_SINCE = 12
"""The first version of Metadata that accepts topic ids."""

NULL_NAMES_SINCE = 10
NULL_TOPICS_SINCE = 1
UNKNOWN_ID = b"\x22" * 16
NO_ID = bytes(16)


def metadata(draw: Draw, version: int) -> Asked:
    topics: list[MetadataRequestTopic] | None
    kind = draw.weighted({"all": 25, "none": 8, "ids": 25, "names": 42})
    if kind == "all":
        topics = None if version >= NULL_TOPICS_SINCE else []
    elif kind == "none":
        topics = []
    elif kind == "ids" and version >= IDS_SINCE:
        topics = [
            MetadataRequestTopic(topic_id=draw.topic_id(name), name=None)
            for name in draw.topic_names()
        ]
        if draw.chance(0.4):
            topics.append(MetadataRequestTopic(topic_id=UNKNOWN_ID, name=None))
        if draw.chance(0.1):
            topics.append(MetadataRequestTopic(name=draw.topic()))
    elif kind == "ids" and version >= NULL_NAMES_SINCE and draw.chance(0.3):
        topics = [MetadataRequestTopic(topic_id=draw.pick(NO_ID, UNKNOWN_ID), name=None)]
    else:
        topics = [MetadataRequestTopic(name=name) for name in draw.topic_names(1, 4)]
    request = MetadataRequest(
        topics=topics,
        allow_auto_topic_creation=draw.chance(0.15),
        include_cluster_authorized_operations=draw.chance(0.6),
        include_topic_authorized_operations=draw.chance(0.8),
    )
    return Asked(request)


def create_topics(draw: Draw, version: int) -> Asked:
    names = draw.topic_names(1, 2) + [draw.fresh("new") for _ in range(draw.number(0, 2))]
    return Asked(
        CreateTopicsRequest(
            topics=[_creatable(draw, name) for name in names],
            timeout_ms=3000,
            validate_only=draw.chance(0.3),
        )
    )


def _creatable(draw: Draw, name: str) -> CreatableTopic:
    if draw.chance(0.1):
        count = draw.number(1, 2)
        return CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(
                    partition_index=index,
                    broker_ids=draw.pick([1], [1], [1], [1], [9], [1, 1]),
                )
                for index in range(count)
            ],
        )
    configs = {"retention.ms": "-1", "cleanup.policy": "compact", "nonsense": "1", "flush.ms": "x"}
    return CreatableTopic(
        name=name,
        num_partitions=draw.weighted({1: 50, 3: 30, -1: 12, 0: 5, -5: 3}),
        replication_factor=draw.weighted({1: 70, -1: 15, 3: 10, 0: 5}),
        configs=[
            CreatableTopicConfig(name=key, value=configs[key])
            for key in ([draw.pick(*configs)] if draw.chance(0.25) else [])
        ],
    )


def delete_topics(draw: Draw, version: int) -> Asked:
    """Delete only one of the scenario's topics, so that the others remain."""
    candidates = [*draw.ghosts, draw.topics[2], draw.topic() if draw.chance(0.1) else ""]
    names = [name for name in draw.some(candidates, 1, 2) if name] or [draw.ghosts[0]]
    topics = [DeleteTopicState(name=name) for name in names]
    if draw.chance(0.45):
        topics = [DeleteTopicState(topic_id=draw.topic_id(name)) for name in names]
    if draw.chance(0.1):
        topics.append(draw.pick(DeleteTopicState(), DeleteTopicState(topic_id=UNKNOWN_ID)))
    takes = {}
    made = draw.earlier(ApiKey.CREATE_TOPICS, share=0.5)
    if made is not None and made.request.topics:
        topics = [DeleteTopicState(topic_id=UNKNOWN_ID)]
        names = [made.request.topics[0].name]
        takes = {"topics.0.topic_id": f"{made.label}:topics.0.topic_id"}
    request = DeleteTopicsRequest(topics=topics, topic_names=names, timeout_ms=3000)
    return Asked(request, takes)


def create_partitions(draw: Draw, version: int) -> Asked:
    topics = [
        CreatePartitionsTopic(
            name=name,
            count=draw.weighted({3: 50, 2: 15, 1: 15, 0: 5, 5: 15}),
            assignments=[CreatePartitionsAssignment(broker_ids=[draw.pick(1, 1, 9)])]
            if draw.chance(0.2)
            else None,
        )
        for name in draw.topic_names()
    ]
    request = CreatePartitionsRequest(
        topics=topics, timeout_ms=3000, validate_only=draw.chance(0.6)
    )
    return Asked(request)


def describe_topic_partitions(draw: Draw, version: int) -> Asked:
    names = sorted(draw.topic_names(1, 4)) if draw.chance(0.9) else draw.topic_names(1, 4)
    names = [] if draw.chance(0.15) else names
    cursor = None
    if draw.chance(0.25):
        name = draw.pick(*(names or [draw.ghosts[0]]), draw.topic())
        cursor = RequestCursor(
            topic_name=name, partition_index=draw.weighted({0: 40, 1: 40, 5: 10, -1: 10})
        )
    request = DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=draw.weighted({2000: 70, 1: 15, 3: 10, 0: 5}),
        cursor=cursor,
    )
    return Asked(request)


def elect_leaders(draw: Draw, version: int) -> Asked:
    topics = [
        TopicPartitions(topic=name, partitions=draw.some([0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]
    request = ElectLeadersRequest(
        election_type=draw.weighted({0: 70, 1: 20, 5: 10}),
        topic_partitions=None if draw.chance(0.2) else topics,
        timeout_ms=5000,
    )
    return Asked(request)


def alter_partition_reassignments(draw: Draw, version: int) -> Asked:
    topics = [
        ReassignableTopic(
            name=name,
            partitions=[
                ReassignablePartition(
                    partition_index=draw.weighted({0: 70, 1: 20, 7: 10}),
                    replicas=draw.pick(None, None, [1], [9], [], [1, 1], [-1]),
                )
            ],
        )
        for name in draw.topic_names()
    ]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=5000, allow_replication_factor_change=draw.chance(0.7), topics=topics
    )
    return Asked(request)


def list_partition_reassignments(draw: Draw, version: int) -> Asked:
    topics = [
        ListPartitionReassignmentsTopics(name=name, partition_indexes=draw.some([0, 1, 7], 1, 2))
        for name in draw.topic_names()
    ]
    request = ListPartitionReassignmentsRequest(
        timeout_ms=5000, topics=None if draw.chance(0.4) else topics
    )
    return Asked(request)
