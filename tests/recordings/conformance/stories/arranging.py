"""Stories of administrators: replicas of partitions, and settings of other resources."""

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages import incremental_alter_configs as incremental
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
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from kafka_shim.protocol.messages.list_config_resources import ListConfigResourcesRequest
from kafka_shim.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.recordings.conformance.telling import Move, Story, Teller

BROKER = 1
NO_BROKER = 9
SET, DELETE, APPEND, SUBTRACT = range(4)


def moved_partitions(teller: Teller) -> Story:
    """Reassign partitions to their own broker, to a missing broker, and cancel reassignments."""
    draw = teller.draw
    topic = draw.pick(*draw.topics, draw.ghosts[0])
    for replicas in draw.some([[BROKER], [NO_BROKER], None, [], [BROKER, BROKER]], 2, 4):
        row = ReassignablePartition(partition_index=draw.pick(0, 1, 7), replicas=replicas)
        rows = [ReassignableTopic(name=topic, partitions=[row])]
        request = AlterPartitionReassignmentsRequest(topics=rows, timeout_ms=5000)
        yield Move(ApiKey.ALTER_PARTITION_REASSIGNMENTS, request)
        asked = ListPartitionReassignmentsTopics(name=topic, partition_indexes=[0, 1])
        look = ListPartitionReassignmentsRequest(topics=[asked], timeout_ms=5000)
        yield Move(ApiKey.LIST_PARTITION_REASSIGNMENTS, look)
    chosen = [TopicPartitions(topic=topic, partitions=[0, 7])]
    elect = ElectLeadersRequest(
        election_type=draw.pick(0, 1), topic_partitions=chosen, timeout_ms=5000
    )
    yield Move(ApiKey.ELECT_LEADERS, elect)
    yield _metadata(teller, topic)


def many_topics(teller: Teller) -> Story:
    """Validate, create, grow and delete topics, several valid and invalid ones in each request."""
    draw = teller.draw
    names = [draw.fresh("many") for _ in range(3)]
    made = CreateTopicsRequest(
        topics=[_topic(teller, name) for name in draw.some([*names, draw.topics[0]], 2, 4)],
        timeout_ms=5000,
    )
    newest = draw.versions[ApiKey.CREATE_TOPICS][1]
    if newest and draw.chance(0.4):
        tried = CreateTopicsRequest(topics=made.topics, timeout_ms=5000, validate_only=True)
        yield Move(ApiKey.CREATE_TOPICS, tried, version=newest)
    yield Move(ApiKey.CREATE_TOPICS, made, version=newest)
    yield _metadata(teller, *names)
    if draw.has(ApiKey.CREATE_PARTITIONS):
        yield from _grown(teller, names)
    yield _metadata(teller, *names)
    chosen = draw.some([*names, draw.ghosts[0]], 2, 4)
    delete = DeleteTopicsRequest(
        topics=[DeleteTopicState(name=name) for name in chosen], topic_names=chosen, timeout_ms=5000
    )
    yield Move(ApiKey.DELETE_TOPICS, delete)
    yield _metadata(teller, *names)


def _topic(teller: Teller, name: str) -> CreatableTopic:
    draw = teller.draw
    topic = CreatableTopic(name=name, num_partitions=draw.pick(1, 3), replication_factor=1)
    kind = draw.weighted({"plain": 50, "configs": 15, "assigned": 15, "bad": 20})
    if kind == "configs":
        key, value = draw.pick(
            ("cleanup.policy", "compact"), ("retention.ms", "x"), ("no.such.key", "1")
        )
        topic.configs = [CreatableTopicConfig(name=key, value=value)]
    if kind == "assigned":
        topic.num_partitions = topic.replication_factor = -1
        topic.assignments = [
            CreatableReplicaAssignment(partition_index=index, broker_ids=[broker])
            for index, broker in draw.pick([(0, 1), (1, 1)], *_odd_replicas(teller))
        ]
    if kind == "bad":
        topic.num_partitions, topic.replication_factor = draw.pick((0, 1), (1, 3), (1, 0), (-2, 1))
    return topic


def _odd_replicas(teller: Teller) -> list[list[tuple[int, int]]]:
    """Return odd replica assignments that brokers on ZooKeeper accept, but the shim does not."""
    return (
        [[(0, 1), (2, 1)], [(0, 9)]]
        if teller.draw.facts.topics.assigned_replicas_must_exist
        else []
    )


def _grown(teller: Teller, names: list[str]) -> Story:
    draw = teller.draw
    rows = []
    for name in draw.some(names, 1, 3):
        count = draw.pick(1, 2, 4, 5)
        row = CreatePartitionsTopic(name=name, count=count, assignments=None)
        if draw.chance(0.3):
            broker = draw.pick(BROKER, BROKER, NO_BROKER)
            row.assignments = [CreatePartitionsAssignment(broker_ids=[broker])] * draw.number(1, 2)
        rows.append(row)
    for validate_only in draw.pick([False], [True, False]):
        request = CreatePartitionsRequest(topics=rows, timeout_ms=5000, validate_only=validate_only)
        yield Move(ApiKey.CREATE_PARTITIONS, request)


def _metadata(teller: Teller, *names: str) -> Move:
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=False
    )
    return Move(ApiKey.METADATA, request, version=teller.version(ApiKey.METADATA, 4))


def other_settings(teller: Teller) -> Story:
    """Set, describe and remove settings of brokers, groups and client metrics subscriptions."""
    draw = teller.draw
    kinds = [(ConfigResourceType.BROKER, name) for name in ("1", "")]
    if draw.has(ApiKey.CONSUMER_GROUP_DESCRIBE):
        kinds.append((ConfigResourceType.GROUP, draw.fresh("g-c")))
        kinds.append((ConfigResourceType.CLIENT_METRICS, draw.fresh("metrics")))
    kind, name = draw.pick(*kinds)
    key, values = draw.pick(*_KEYS[kind])
    for value in [*draw.some(values, 1, 2), None]:
        operation = DELETE if value is None else SET
        change = incremental.AlterableConfig(name=key, config_operation=operation, value=value)
        resource = incremental.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[change]
        )
        request = incremental.IncrementalAlterConfigsRequest(
            resources=[resource], validate_only=draw.chance(0.15)
        )
        yield Move(ApiKey.INCREMENTAL_ALTER_CONFIGS, request)
        shown = DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=[key]
        )
        yield Move(
            ApiKey.DESCRIBE_CONFIGS,
            DescribeConfigsRequest(resources=[shown], include_synonyms=True),
        )
        if draw.has(ApiKey.LIST_CONFIG_RESOURCES):
            yield Move(ApiKey.LIST_CONFIG_RESOURCES, ListConfigResourcesRequest())


_KEYS = {
    ConfigResourceType.BROKER: (
        ("log.cleaner.backoff.ms", ("20000", "x", "-1")),
        ("log.retention.ms", ("100000000", "-1")),
        ("broker.id", ("2",)),
    ),
    ConfigResourceType.GROUP: (
        ("consumer.session.timeout.ms", ("50000", "1", "x")),
        ("no.such.key", ("1",)),
    ),
    ConfigResourceType.CLIENT_METRICS: (
        ("interval.ms", ("1000", "1", "x")),
        ("match", ("client_id=a.*", "nonsense")),
        ("metrics", ("org.apache.", "*")),
    ),
}
