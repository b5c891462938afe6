"""The initial state of a cluster, from its configuration.

It is created like requests would, so that nothing exists at startup that a client could not
create. What the emulated release rejects is rejected here, with a clear message.
"""

from collections.abc import Mapping

from kafka_shim.authorizer.authorizer import Authorizer
from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.protocol.messages.create_topics import CreatableTopic, CreatableTopicConfig
from kafka_shim.shim.config import InitialGroup, InitialTopic
from kafka_shim.shim.errors import ConfigError, InitialStateError
from kafka_shim.shim.handlers.common.config_change import check_metrics_subscription
from kafka_shim.shim.handlers.common.config_resources import ConfigResourceError
from kafka_shim.shim.handlers.common.topic_plan import TopicError, plan_topic_creation
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import CommittedOffset
from kafka_shim.shim.state.topics import Topic

_ACLS_PER_REQUEST = 1000
"""ACLs that one request creates; releases have a limit."""

_NO_MEMBER = CommitIdentity("", None, -1, 0)
"""Who commits offsets of a group without members."""


def create_missing_initial_state(cluster: Cluster) -> None:
    """Create what the configuration names and does not exist. Raise ConfigError if it cannot be."""
    for topic in cluster.config.topics:
        if topic.name not in cluster.topics:
            known_id = cluster.initial_topic_ids.get(topic.name)
            created = create_topic(cluster, topic, known_id)
            if cluster.config.seed is None:  # else the seed decides, also after a reset
                cluster.initial_topic_ids[topic.name] = created.topic_id
    _create_initial_acls(cluster)
    for group in cluster.config.groups:
        if not cluster.groups.offsets.group_has_offsets(group.name):
            create_group_with_offsets(cluster, group)
    for name, settings in cluster.config.client_metrics.items():
        if name not in cluster.configs.client_metrics:
            _create_client_metrics_subscription(cluster, name, settings)


def create_topic(cluster: Cluster, topic: InitialTopic, topic_id: bytes | None = None) -> Topic:
    """Create a topic like CreateTopics, by default with a new id.

    Raise ConfigError if it is invalid.
    """
    factor = topic.replication_factor
    if factor is None:
        default = cluster.configs.effective_broker_int("default.replication.factor")
        factor = min(default, len(cluster.nodes))
    configs = [CreatableTopicConfig(name, value) for name, value in topic.configs.items()]
    creatable = CreatableTopic(
        name=topic.name,
        num_partitions=topic.partitions,
        replication_factor=factor,
        configs=configs,
    )
    try:
        planned = plan_topic_creation(creatable, cluster)
    except TopicError as failure:
        problem = failure.message or failure.error.name
        text = problem if f"`{topic.name}`" in problem else f"topic `{topic.name}`: {problem}"
        raise InitialStateError(text, "topics", topic.name) from failure
    return cluster.topics.create_topic(
        planned.name, planned.assignments, planned.configs, topic_id=topic_id
    )


def _create_initial_acls(cluster: Cluster) -> None:
    acls = cluster.config.acls
    if not acls:
        return
    authorizer = cluster.policy.authorizer
    if authorizer is None:
        raise ConfigError(
            "ACLs are given, but the broker has no authorizer; use"
            " `--authorizer standard` (authorizer.class.name), or no ACLs"
        )
    for start in range(0, len(acls), _ACLS_PER_REQUEST):
        _create_acl_batch(authorizer, acls[start : start + _ACLS_PER_REQUEST], cluster.release)


def _create_acl_batch(authorizer: Authorizer, acls: tuple[Acl, ...], release: str) -> None:
    results = authorizer.create_acls(Actor("User:ANONYMOUS", "127.0.0.1"), acls)
    for acl, result in zip(acls, results, strict=True):
        if result.error is not None:
            from kafka_shim.authorizer.model import acls_to_objects  # noqa: PLC0415 - only to refuse

            raise InitialStateError(
                f"Kafka {release} rejects the ACL {acls_to_objects([acl])[0]}:"
                f" {result.error.name}{f', {result.message}' if result.message else ''}",
                "acls",
                acl,
            )


def _create_client_metrics_subscription(
    cluster: Cluster, name: str, settings: Mapping[str, str]
) -> None:
    """Subscribe to client metrics, like settings of a `client-metrics` resource."""
    try:
        check_metrics_subscription(settings, cluster)
    except ConfigResourceError as failure:
        text = failure.message or f"Kafka {cluster.release} cannot read these settings"
        text = f"client metrics `{name}`: {text}"
        raise InitialStateError(text, "client_metrics", name) from failure
    if settings:  # one without settings is none
        cluster.configs.store_client_metrics_settings(name, settings)


def create_group_with_offsets(cluster: Cluster, group: InitialGroup) -> None:
    """Create a group with offsets and no members. Raise ConfigError for an unknown partition."""
    commits = []
    for name, offsets in group.offsets.items():
        topic = cluster.topics.get(name)
        if topic is None:
            text = f"group `{group.name}`: unknown topic `{name}`"
            raise InitialStateError(text, "groups", group.name, name)
        for index, offset in offsets.items():
            if topic.led_partition(index) is None:
                text = f"group `{group.name}`: topic `{name}` has no partition {index}"
                raise InitialStateError(text, "groups", group.name, name, index)
            committed = CommittedOffset(offset)
            commits.append(OffsetCommit(topic.topic_id, index, committed))
    cluster.groups.commit_offsets(group.name, _NO_MEMBER, commits)
