"""Partitions that never had a leader: before 3.0 they may be given to brokers that do not exist."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.oracle.real_kafka import numbers
from tests.recordings.records.batches import batch, message
from tests.recordings.records.play import Play

KRAFT = (3,)
"""The first release in which replicas must be on existing brokers."""
NO_BROKER = 9
TIMEOUT_MS = 1_000
BATCHES_SINCE = 3


def without_leader(play: Play) -> None:
    """Partition 0 has no leader, 1 has one, 2 does not exist."""
    if numbers(play.peer.release) >= KRAFT:
        return
    topic = _created(play, "a", {0: [NO_BROKER], 1: [1]})
    _described(play, "metadata", topic)
    rows: Any
    for version in play.versions(ApiKey.PRODUCE):
        records = batch([b"x"]) if version >= BATCHES_SINCE else message(b"x", magic=0)
        rows = [(index, records) for index in range(3)]
        for acks in (1, -1, 5):
            request = play.produce_request([(topic, rows)], acks)
            play.call(f"produce {version}, acks {acks}", ApiKey.PRODUCE, version, request)
    rows = [{"partition": index, "partition_max_bytes": 1 << 20} for index in range(3)]
    _each(play, ApiKey.FETCH, {"topics": [{"topic": topic, "partitions": rows}]})
    rows = [{"partition_index": index, "timestamp": -1} for index in range(3)]
    for replica in (-1, -2):
        topics = [{"name": topic, "partitions": rows}]
        _each(play, ApiKey.LIST_OFFSETS, {"replica_id": replica, "topics": topics}, replica)
    rows = [{"partition": index, "leader_epoch": 0} for index in range(3)]
    topics = [{"topic": topic, "partitions": rows}]
    _each(play, ApiKey.OFFSET_FOR_LEADER_EPOCH, {"replica_id": -1, "topics": topics})
    rows = [{"partition_index": index, "offset": 0} for index in range(3)]
    topics = [{"name": topic, "partitions": rows}]
    _newest(play, ApiKey.DELETE_RECORDS, {"topics": topics, "timeout_ms": TIMEOUT_MS})


def without_any_leader(play: Play) -> None:
    """A topic whose only partition has no leader."""
    if numbers(play.peer.release) >= KRAFT:
        return
    topic = _created(play, "a", {0: [NO_BROKER]})
    for creates in (False, True):
        _described(play, f"metadata, {creates}", topic, creates=creates)
    _created(play, "a", {0: [1]})
    for version in play.versions(ApiKey.PRODUCE):
        records = batch([b"x"]) if version >= BATCHES_SINCE else message(b"x", magic=0)
        for acks in (1, 5):
            label = f"produce {version}, acks {acks}"
            play.produce(label, topic, records, version=version, acks=acks)
    rows = [{"partition": 0, "partition_max_bytes": 1 << 20}]
    _each(play, ApiKey.FETCH, {"topics": [{"topic": topic, "partitions": rows}]})
    rows = [{"partition_index": 0, "timestamp": -1}]
    topics = [{"name": topic, "partitions": rows}]
    _each(play, ApiKey.LIST_OFFSETS, {"replica_id": -1, "topics": topics})
    rows = [{"partition_index": 0, "committed_offset": 3}]
    request: dict[str, Any] = {
        "group_id": play.text("g"),
        "topics": [{"name": topic, "partitions": rows}],
    }
    version = play.newest(ApiKey.OFFSET_COMMIT, 9)
    play.call_when_idle("offset commit", ApiKey.OFFSET_COMMIT, version, request)
    resource = {"resource_type": 2, "resource_name": topic, "configuration_keys": ["retention.ms"]}
    _newest(play, ApiKey.DESCRIBE_CONFIGS, {"resources": [resource]})
    configs = [{"name": "retention.ms", "value": "-1"}]
    altered = {"resource_type": 2, "resource_name": topic, "configs": configs}
    _newest(play, ApiKey.ALTER_CONFIGS, {"resources": [altered]})
    more = {"name": topic, "count": 2, "assignments": [{"broker_ids": [1]}]}
    _newest(play, ApiKey.CREATE_PARTITIONS, {"topics": [more], "timeout_ms": TIMEOUT_MS})
    request = {"topic_names": [topic], "timeout_ms": TIMEOUT_MS}
    play.call("deleted", ApiKey.DELETE_TOPICS, play.newest(ApiKey.DELETE_TOPICS, 5), request)


def without_leader_elsewhere(play: Play) -> None:
    """Responses about such partitions to group, transaction and administrative requests."""
    if numbers(play.peer.release) >= KRAFT:
        return
    topic = _created(play, "a", {0: [NO_BROKER], 1: [1]})
    rows = [{"partition_index": index, "committed_offset": 3} for index in range(3)]
    request: dict[str, Any] = {
        "group_id": play.text("g"),
        "topics": [{"name": topic, "partitions": rows}],
    }
    version = play.newest(ApiKey.OFFSET_COMMIT, 9)
    play.call_when_idle("offset commit", ApiKey.OFFSET_COMMIT, version, request)
    producer_id, epoch = play.producer(play.text("tx"))
    request = {
        "v3_and_below_transactional_id": play.text("tx"),
        "v3_and_below_producer_id": producer_id,
        "v3_and_below_producer_epoch": epoch,
        "v3_and_below_topics": [{"name": topic, "partitions": [1]}],
    }
    version = play.newest(ApiKey.ADD_PARTITIONS_TO_TXN, 3)
    play.call_when_idle("led", ApiKey.ADD_PARTITIONS_TO_TXN, version, request)
    request["v3_and_below_topics"] = [{"name": topic, "partitions": [0, 1]}]
    play.call_when_idle("one not led", ApiKey.ADD_PARTITIONS_TO_TXN, version, request)
    topics = [{"topic": topic, "partitions": [0, 1, 2]}]
    _log_dirs(play, topics)
    moved = [{"path": "/nowhere", "topics": [{"name": topic, "partitions": [0, 1, 2]}]}]
    _newest(play, ApiKey.ALTER_REPLICA_LOG_DIRS, {"dirs": moved})
    elected = {"topic_partitions": topics, "timeout_ms": TIMEOUT_MS}
    _newest(play, ApiKey.ELECT_LEADERS, elected)
    more = {"name": topic, "count": 3, "assignments": [{"broker_ids": [NO_BROKER]}]}
    _newest(play, ApiKey.CREATE_PARTITIONS, {"topics": [more], "timeout_ms": TIMEOUT_MS})


def refused_acks(play: Play) -> None:
    """An invalid number of acks, combined with other errors of a partition."""
    topic = play.topic()
    for version in play.versions(ApiKey.PRODUCE):
        records = batch([b"x"]) if version >= BATCHES_SINCE else message(b"x", magic=0)
        rows = [(0, records), (7, records), (-1, records)]
        for acks in (2, 1):
            missing = play.produce_request([(topic, rows), (play.unknown(), rows)], acks)
            play.call(f"{version}, acks {acks}", ApiKey.PRODUCE, version, missing)
    if BATCHES_SINCE in play.versions(ApiKey.PRODUCE):
        play.topic_ids["__consumer_offsets"] = bytes(16)
        for acks in (2, 1):
            for index in (0, 999):
                play.produce(
                    f"internal {index}, acks {acks}",
                    "__consumer_offsets",
                    batch([b"x"]),
                    version=BATCHES_SINCE,
                    index=index,
                    acks=acks,
                )


def _created(play: Play, name: str, replicas: Mapping[int, Sequence[int]]) -> str:
    topic = f"{play.name}-{name}"
    assignments = [
        {"partition_index": index, "broker_ids": list(brokers)}
        for index, brokers in replicas.items()
    ]
    created = {
        "name": topic,
        "num_partitions": -1,
        "replication_factor": -1,
        "assignments": assignments,
    }
    request = {"topics": [created], "timeout_ms": TIMEOUT_MS}
    play.call("created", ApiKey.CREATE_TOPICS, play.newest(ApiKey.CREATE_TOPICS, 4), request)
    play.peer.pause(500)  # until the broker has partition 1
    return topic


def _described(play: Play, label: str, topic: str, *, creates: bool = False) -> None:
    """Describe a topic; record no hosts of brokers and no ids."""
    version = play.newest(ApiKey.METADATA)
    request = {"topics": [{"name": topic}], "allow_auto_topic_creation": creates}
    response = play.ask(ApiKey.METADATA, version, request)
    response.cluster_id, response.brokers = None, []
    for row in response.topics:
        row.topic_id = bytes(16)
    play.keep(label, ApiKey.METADATA, version, response)


def _log_dirs(play: Play, topics: Sequence[Mapping[str, Any]]) -> None:
    """Describe log directories; record the sizes of the requested partitions only."""
    if not play.has(ApiKey.DESCRIBE_LOG_DIRS):
        return
    version = play.newest(ApiKey.DESCRIBE_LOG_DIRS, 2)
    response = play.ask(ApiKey.DESCRIBE_LOG_DIRS, version, {"topics": topics})
    for row in response.results:
        row.log_dir = ""
        row.topics = [topic for topic in row.topics if topic.name.startswith(play.name)]
    play.keep("DescribeLogDirs", ApiKey.DESCRIBE_LOG_DIRS, version, response)


def _each(play: Play, api: ApiKey, request: Mapping[str, Any], *more: object) -> None:
    for version in play.versions(api):
        label = ", ".join(map(str, (f"{api.wire_name} {version}", *more)))
        play.call(label, api, version, {**request})


def _newest(play: Play, api: ApiKey, request: Mapping[str, Any]) -> None:
    if play.has(api):
        play.call(api.wire_name, api, play.newest(api), {**request})


SCENARIOS = (without_leader, without_any_leader, without_leader_elsewhere, refused_acks)
