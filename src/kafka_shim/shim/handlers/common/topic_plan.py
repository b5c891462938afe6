"""The plan of CreateTopics, checked as by the emulated release.

The order of the checks is visible if there are several errors: KRaft checks the name first, older
brokers the settings or the number of partitions.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.placement import (
    PARTITIONS_AT_ONCE,
    PARTITIONS_MAX,
    place_replicas_live_first,
)
from kafka_shim.shim.state.settings.config_values import ConfigValueError, validated_canonical_value
from kafka_shim.shim.state.topics import name_error

DEFAULT_COUNT = -1
"""As a number of partitions or replicas: the broker's default."""


class TopicError(Exception):
    """Why a topic cannot be created, with the error code for the client."""

    def __init__(self, error: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class TopicPlan(msgspec.Struct, frozen=True):
    """A valid new topic: its replicas by partition, and its settings."""

    name: str
    assignments: Sequence[Sequence[int]]
    configs: Mapping[str, str]


def plan_topic_creation(topic: CreatableTopic, cluster: Cluster) -> TopicPlan:
    """Check a topic of the request and place its replicas. Raise TopicError if it is invalid."""
    if cluster.facts.topics.create_topics_checks_name_first:
        _check_new_topic_name(topic.name, cluster)
        configs = valid_topic_configs(topic.configs, cluster)
        return TopicPlan(topic.name, _replica_assignments(topic, cluster), configs)
    if cluster.facts.topics.create_topics_checks_existing_topic_first:
        _check_topic_does_not_exist(topic.name, cluster)
    _check_null_values(topic.configs, cluster)
    if cluster.facts.topics.create_topics_checks_configs_before_partitions:
        valid_topic_configs(topic.configs, cluster)
    assignments = _replica_assignments(topic, cluster)
    _check_new_topic_name(topic.name, cluster)
    _check_assignments_as_zookeeper(topic, assignments, cluster)
    return TopicPlan(topic.name, assignments, valid_topic_configs(topic.configs, cluster))


def _check_new_topic_name(name: str, cluster: Cluster) -> None:
    message = name_error(name)
    colliding_names = (
        cluster.topics.names_colliding_in_metrics(name)
        if cluster.facts.topics.topic_names_collide_by_dot_and_underscore
        else []
    )
    if message is None and colliding_names:
        message = (
            f"topic name `{name}` differs from {', '.join(colliding_names)} in `.` and `_` only"
        )
    if message is not None:
        raise TopicError(ErrorCode.INVALID_TOPIC_EXCEPTION, message)
    _check_topic_does_not_exist(name, cluster)


def _check_topic_does_not_exist(name: str, cluster: Cluster) -> None:
    if name in cluster.topics:
        raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic `{name}` already exists")


def valid_topic_configs(
    configs: Iterable[CreatableTopicConfig], cluster: Cluster
) -> dict[str, str]:
    """Return the settings that have a value. Raise TopicError if the release rejects one."""
    _check_null_values(configs, cluster)
    values = {}
    definitions = cluster.configs.topic_definitions
    for config in configs:
        if config.value is None:
            continue
        definition = definitions.get(config.name)
        if definition is None and cluster.facts.configs.topic_configs_are_validated:
            message = f"unknown topic setting {config.name}"
            raise TopicError(ErrorCode.INVALID_CONFIG, message)
        values[config.name] = config.value
    if not cluster.facts.configs.topic_configs_are_validated:
        return values
    for name, value in values.items():
        try:
            validated_canonical_value(name, definitions[name], value)
        except ConfigValueError as failure:
            raise TopicError(
                ErrorCode(cluster.facts.topics.unparsable_topic_config_error), str(failure)
            ) from None
    if (text := incompatible_settings_error(values, cluster)) is not None:
        raise TopicError(ErrorCode.INVALID_CONFIG, text)
    return values


def _check_null_values(configs: Iterable[CreatableTopicConfig], cluster: Cluster) -> None:
    nulls = [config.name for config in configs if config.value is None]
    error = ErrorCode(cluster.facts.topics.create_topics_null_config_error)
    if nulls and error is not ErrorCode.NONE:
        has_message = error is not ErrorCode.UNKNOWN_SERVER_ERROR
        message = f"settings need a value: {', '.join(nulls)}" if has_message else None
        raise TopicError(error, message)


def incompatible_settings_error(configs: Mapping[str, str], cluster: Cluster) -> str | None:
    """Return which settings exclude each other, or need remote storage (KIP-405, KIP-354)."""
    is_remote = configs.get("remote.storage.enable", "").strip().lower() == "true"
    if is_remote and cluster.facts.topics.remote_storage_requires_broker_support:
        return "the broker has no remote storage: remote.storage.enable cannot be true"
    lags = [
        cluster.configs.effective_topic_value(configs, name)
        for name in ("min.compaction.lag.ms", "max.compaction.lag.ms")
        if name in cluster.configs.topic_definitions
    ]
    if len(lags) == 2 and int(lags[0] or 0) > int(lags[1] or 0):
        return "min.compaction.lag.ms is above max.compaction.lag.ms"
    return None


def _replica_assignments(topic: CreatableTopic, cluster: Cluster) -> Sequence[Sequence[int]]:
    if topic.assignments:
        return _requested_assignments(topic, cluster)
    has_defaults = cluster.facts.topics.create_topics_accepts_default_counts
    partitions, factor = topic.num_partitions, topic.replication_factor
    if partitions == DEFAULT_COUNT and has_defaults:
        partitions = cluster.configs.effective_broker_int("num.partitions")
    if factor == DEFAULT_COUNT and has_defaults:
        factor = cluster.configs.effective_broker_int("default.replication.factor")
    alive, stopped = cluster.live_nodes(), cluster.stopped_replica_candidates()
    failures = []
    if partitions <= 0:
        message = f"{partitions} partitions: expected at least one"
        failures.append(TopicError(ErrorCode.INVALID_PARTITIONS, message))
    if factor <= 0:
        message = f"replication factor {factor}: expected at least 1"
        failures.append(TopicError(ErrorCode.INVALID_REPLICATION_FACTOR, message))
    if failures:
        raise failures[
            -1 if cluster.facts.topics.create_topics_checks_replication_factor_first else 0
        ]
    if factor > len(alive) + len(stopped):
        count = len(alive) + len(stopped)
        message = f"replication factor {factor}: there are only {count} brokers"
        raise TopicError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    check_partition_count(partitions)
    return place_replicas_live_first(alive, stopped, partitions, factor, cluster.random)


class PartitionBudget:
    """The number of partitions that a request may still create.

    DEVIATION: brokers before 3.5 have no limit, and may not survive it.
    """

    def __init__(self) -> None:
        self._remaining = PARTITIONS_MAX

    def reserve(self, partitions: int) -> None:
        """Subtract the partitions of a topic. Raise TopicError above the limit."""
        self.check_within_limit(partitions)
        self._remaining -= partitions

    def check_within_limit(self, partitions: int) -> None:
        """Raise TopicError if so many partitions are above the limit."""
        if partitions > PARTITIONS_AT_ONCE or partitions > self._remaining:
            most = f"{PARTITIONS_AT_ONCE} in a topic and {PARTITIONS_MAX} in all"
            message = f"{partitions} partitions: one request can create at most {most}"
            raise TopicError(ErrorCode.INVALID_PARTITIONS, message)


def check_partition_count(partitions: int) -> None:
    """Raise TopicError for more partitions than a topic can have."""
    if partitions > PARTITIONS_MAX:
        message = f"{partitions} partitions: a topic can have at most {PARTITIONS_MAX}"
        raise TopicError(ErrorCode.INVALID_PARTITIONS, message)


def _requested_assignments(topic: CreatableTopic, cluster: Cluster) -> list[list[int]]:
    if topic.replication_factor != DEFAULT_COUNT or topic.num_partitions != DEFAULT_COUNT:
        message = "with assigned replicas, the numbers of partitions and replicas must be -1"
        raise TopicError(ErrorCode.INVALID_REQUEST, message)
    replicas = {
        assignment.partition_index: list(assignment.broker_ids) for assignment in topic.assignments
    }
    # DEVIATION: gaps between the partitions are closed
    without_gaps = [replicas[index] for index in sorted(replicas)]
    if not cluster.facts.topics.assigned_replicas_must_exist:
        return without_gaps
    if len(replicas) < len(topic.assignments):
        raise _invalid_assignment_error("duplicate partition")
    for node_ids in replicas.values():
        _check_assigned_brokers(node_ids, cluster)
    _check_equal_replica_counts(replicas.values())
    _check_no_partition_index_gaps(list(replicas), cluster)
    return without_gaps


def _check_assigned_brokers(node_ids: Sequence[int], cluster: Cluster) -> None:
    if not node_ids:
        raise _invalid_assignment_error("a partition has no replicas")
    if len(set(node_ids)) < len(node_ids):
        raise _invalid_assignment_error("duplicate broker in the replicas of a partition")
    unknown = [str(node_id) for node_id in node_ids if node_id not in cluster.nodes]
    if unknown:
        raise _invalid_assignment_error(f"unknown brokers: {', '.join(unknown)}")


def _check_assignments_as_zookeeper(
    topic: CreatableTopic, assignments: Sequence[Sequence[int]], cluster: Cluster
) -> None:
    """Check requested replicas like brokers on ZooKeeper, which accept unknown brokers."""
    _check_equal_replica_counts(assignments)
    if any(len(set(replicas)) < len(replicas) for replicas in assignments):
        raise _invalid_assignment_error("duplicate broker in the replicas of a partition")
    _check_no_partition_index_gaps(
        [assignment.partition_index for assignment in topic.assignments], cluster
    )


def _check_equal_replica_counts(assignments: Iterable[Sequence[int]]) -> None:
    if len({len(replicas) for replicas in assignments}) > 1:
        raise _invalid_assignment_error("all partitions must have the same number of replicas")


def _check_no_partition_index_gaps(indexes: Iterable[int], cluster: Cluster) -> None:
    error = ErrorCode(cluster.facts.topics.assignment_gap_error)
    distinct_indexes = sorted(set(indexes))
    if error is ErrorCode.NONE or distinct_indexes == list(range(len(distinct_indexes))):
        return
    if distinct_indexes[0] < 0:
        error = ErrorCode(cluster.facts.topics.negative_assigned_partition_error)
    if error is not ErrorCode.UNKNOWN_SERVER_ERROR:
        raise _invalid_assignment_error("partitions must be numbered from 0 without gaps")
    if 0 not in distinct_indexes or distinct_indexes[0] < 0:
        raise TopicError(ErrorCode.UNKNOWN_SERVER_ERROR, None)


def _invalid_assignment_error(message: str) -> TopicError:
    return TopicError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
