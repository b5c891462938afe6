"""Snapshots of a cluster's state: what a restart of a real cluster would keep.

Topics with their records, configurations, ACLs, users, tokens, quotas and committed offsets; but
not group members, open transactions and connections, which clients create again.
"""

from collections.abc import Callable, Iterable
from copy import copy, deepcopy

import msgspec

from kafka_shim.authorizer.model import Acl, AclFilter, Actor
from kafka_shim.shim.sasl.scram_credential import ScramCredential, ScramMechanism
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.group import CommitIdentity
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.partition_producers import AbortedTransaction, PartitionProducer

_NOBODY = CommitIdentity("", None, -1, 0)
_ACLS_AT_ONCE = 1000


class LogCopy(msgspec.Struct):
    """The records of one partition; payloads are shared, as they are immutable."""

    start_offset: int
    end_offset: int
    batches: list[tuple[StoredBatch, int]]  # each with its leader epoch
    producers: list[PartitionProducer]
    aborted: list[AbortedTransaction]


class TopicCopy(msgspec.Struct):
    """A topic."""

    name: str
    topic_id: bytes
    configs: dict[str, str]
    replicas: list[list[int]]
    leaders: list[tuple[int, int]]  # leader and its epoch, one a partition
    logs: list[LogCopy]


class Snapshot(msgspec.Struct):
    """A state, independent of its cluster."""

    topics: list[TopicCopy]
    acls: list[Acl]
    passwords: dict[str, str]
    credentials: list[tuple[ScramMechanism, str, ScramCredential]]
    commits: dict[str, list[OffsetCommit]]
    restorers: list[Callable[[Cluster], None]]


def take_snapshot(cluster: Cluster) -> Snapshot:
    """Take a snapshot of the cluster."""
    authorizer = cluster.policy.authorizer
    users = cluster.users
    return Snapshot(
        topics=[_copy_topic(cluster, topic.name) for topic in cluster.topics],
        acls=[] if authorizer is None else list(authorizer.acls(AclFilter())),
        passwords=dict(users.passwords),
        credentials=[
            (mechanism, name, credential)
            for name in users.names_with_stored_credentials()
            for mechanism, credential in users.stored_credentials(name)
        ],
        commits={
            group.group_id: list(_commits_of_group(cluster, group.group_id))
            for group in cluster.groups
        },
        restorers=[
            _configs_restorer(cluster),
            _cluster_fields_restorer(cluster),
        ],
    )


def restore_into_cluster(snapshot: Snapshot, cluster: Cluster) -> None:
    """Restore a snapshot into a cluster that was reset (`Cluster.begin`)."""
    assert len(cluster.topics) == 0
    for restore in snapshot.restorers:
        restore(cluster)
    for topic in snapshot.topics:
        _restore_topic(topic, cluster)
    for name in list(cluster.users.passwords):
        cluster.users.remove_configured_user(name)
    for name, password in snapshot.passwords.items():
        cluster.users.set_configured_user(name, password)
    for mechanism, name, credential in snapshot.credentials:
        cluster.users.store_credential(mechanism, name, credential)
    authorizer = cluster.policy.authorizer
    if authorizer is not None:
        for start in range(0, len(snapshot.acls), _ACLS_AT_ONCE):
            batch = snapshot.acls[start : start + _ACLS_AT_ONCE]
            authorizer.create_acls(Actor("User:ANONYMOUS", "127.0.0.1"), batch)
    for group_id, commits in snapshot.commits.items():
        cluster.groups.commit_offsets(group_id, _NOBODY, commits)
    cluster.groups.records.drop_all_changes()  # the log of the snapshot has them


def _copy_topic(cluster: Cluster, name: str) -> TopicCopy:
    topic = cluster.topics.get(name)
    assert topic is not None
    return TopicCopy(
        name,
        topic.topic_id,
        dict(topic.configs),
        [list(partition.replicas) for partition in topic.partitions],
        [(partition.leader_id, partition.leader_epoch) for partition in topic.partitions],
        [_copy_log(partition.log) for partition in topic.partitions],
    )


def _copy_log(log: PartitionLog) -> LogCopy:
    batches = [
        (msgspec.structs.replace(batch), log.leader_epoch_at_offset(batch.base_offset))
        for batch in log.batches
    ]
    producers = log.producers
    aborted = producers.aborted_between(0, log.end_offset + 1)
    return LogCopy(log.start_offset, log.end_offset, batches, deepcopy(list(producers)), aborted)


def _restore_topic(topic_copy: TopicCopy, cluster: Cluster) -> None:
    topic = cluster.topics.create_topic(
        topic_copy.name, topic_copy.replicas, topic_copy.configs, topic_id=topic_copy.topic_id
    )
    for partition, (leader_id, epoch), log in zip(
        topic.partitions, topic_copy.leaders, topic_copy.logs, strict=True
    ):
        partition.leader_id, partition.leader_epoch = leader_id, epoch
        _restore_log(partition.log, log)


def _restore_log(log: PartitionLog, log_copy: LogCopy) -> None:
    log.start_offset = log_copy.start_offset
    log.end_offset = log_copy.batches[0][0].base_offset if log_copy.batches else log_copy.end_offset
    for batch, epoch in log_copy.batches:
        log.end_offset = batch.base_offset  # compaction and trimming leave gaps
        log.append_batch(msgspec.structs.replace(batch), epoch)
    log.end_offset = log_copy.end_offset
    log.producers.restore_producers(deepcopy(log_copy.producers), log_copy.aborted)


def _commits_of_group(cluster: Cluster, group_id: str) -> Iterable[OffsetCommit]:
    for topic_id, offsets in cluster.groups.offsets.offsets_by_topic(group_id):
        for partition, offset in offsets.items():
            yield OffsetCommit(topic_id, partition, offset)


def _configs_restorer(cluster: Cluster) -> Callable[[Cluster], None]:
    configs = cluster.configs
    names = ("all_brokers", "brokers", "groups", "client_metrics", "loggers")
    kept = {name: deepcopy(getattr(configs, name)) for name in names}

    def restore(other: Cluster) -> None:
        for name, values in kept.items():
            setattr(other.configs, name, deepcopy(values))

    return restore


def _cluster_fields_restorer(cluster: Cluster) -> Callable[[Cluster], None]:
    entries, buckets = cluster.quotas.stored_entries(), cluster.quotas.bucket_count
    quotas = [(key, (position, dict(limits))) for key, (position, limits) in entries]
    features = cluster.features
    tokens = [copy(token) for token in cluster.tokens]
    producer_id = cluster.transactions.next_producer_id

    def restore(other: Cluster) -> None:
        other.quotas.restore_entries(quotas, buckets)
        other.features = features
        for token in tokens:
            other.tokens.store_token(copy(token))
        other.transactions.next_producer_id = producer_id

    return restore
