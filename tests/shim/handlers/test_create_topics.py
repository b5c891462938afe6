"""CreateTopics: permissions, invalid topics, and the response (KIP-4, 277, 525)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kafka_shim.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.handlers.common import topic_plan
from kafka_shim.shim.state.placement import PARTITIONS_AT_ONCE, PARTITIONS_MAX
from tests.shim.play import ADMIN, Stage

ALICE = "User:alice"
NO_ID = bytes(16)


def topic(name: str, partitions: int = 1, factor: int = 1, **configs: str | None) -> CreatableTopic:
    entries = [CreatableTopicConfig(key.replace("_", "."), value) for key, value in configs.items()]
    return CreatableTopic(name, partitions, factor, configs=entries)


def ask(
    stage: Stage, *topics: CreatableTopic, who: str = ADMIN, version: int = 5, dry: bool = False
) -> Any:
    request = CreateTopicsRequest(list(topics), 5000, validate_only=dry)
    return stage.ask(ApiKey.CREATE_TOPICS, version, request, who).topics


def outcome(rows: Any) -> dict[str, int]:
    return {row.name: row.error_code for row in rows}


def test_topics_are_created_with_partitions_replicas_and_settings() -> None:
    stage = Stage(brokers=3)
    assert outcome(ask(stage, topic("t", 5, 2, retention_ms="7"))) == {"t": 0}
    made = stage.found("t")
    assert [len(partition.replicas) for partition in made.partitions] == [2] * 5
    assert made.configs == {"retention.ms": "7"}


def test_a_new_topic_is_in_metadata_at_once() -> None:
    stage = Stage()
    ask(stage, topic("t"))
    found = stage.ask(ApiKey.METADATA, 12, MetadataRequest([MetadataRequestTopic(name="t")]), ADMIN)
    assert [(row.name, row.error_code) for row in found.topics] == [("t", 0)]


@pytest.mark.parametrize(
    ("release", "resource", "name", "denied"),
    [
        ("4.3", ResourceType.TOPIC, "own", 29),
        ("2.0", ResourceType.TOPIC, "own", 29),
        ("1.1", ResourceType.CLUSTER, "kafka-cluster", None),
        ("4.3", ResourceType.CLUSTER, "kafka-cluster", None),
    ],
)
def test_creating_needs_create_on_the_cluster_or_since_kip_277_on_the_topic(
    release: str, resource: ResourceType, name: str, denied: int | None
) -> None:
    stage = Stage(release)
    stage.allow(ALICE, Operation.CREATE, resource, name)
    rows = ask(stage, topic("own"), topic("other"), who=ALICE, version=2)
    assert outcome(rows) == {"own": 0, "other": denied or 0}


def test_before_kip_277_only_create_on_the_cluster_counts() -> None:
    stage = Stage("1.1")
    stage.allow(ALICE, Operation.CREATE, ResourceType.TOPIC, "own")
    rows = ask(stage, topic("own"), topic("bad name"), topic("own"), who=ALICE, version=2)
    assert [(row.name, row.error_code) for row in rows] == [("own", 31), ("bad name", 31)]


def test_permissions_are_checked_before_topics_are_validated() -> None:
    stage = Stage()
    stage.topic("there")
    stage.allow(ALICE, Operation.CREATE, ResourceType.TOPIC, "own")
    asked = [topic("there"), topic("bad name"), topic("own", 0)]
    assert outcome(ask(stage, *asked, who=ALICE)) == {"there": 29, "bad name": 29, "own": 37}
    assert outcome(ask(stage, *asked)) == {"there": 36, "bad name": 17, "own": 37}


def test_duplicates_and_the_metadata_topic_are_rejected_before_permissions_are_checked() -> None:
    rows = ask(Stage(), topic("d"), topic("__cluster_metadata"), topic("d"), who=ALICE)
    assert [(row.name, row.error_code) for row in rows] == [("d", 42), ("__cluster_metadata", 42)]


def test_2_8_returns_each_duplicate() -> None:
    rows = ask(Stage("2.8"), topic("d"), topic("e"), topic("d"))
    assert [(row.name, row.error_code) for row in rows] == [("d", 42), ("e", 0), ("d", 42)]


def test_without_describe_configs_a_created_topic_is_not_described() -> None:
    stage = Stage()
    for name in ("own", "told"):
        stage.allow(ALICE, Operation.CREATE, ResourceType.TOPIC, name)
    stage.allow(ALICE, Operation.DESCRIBE_CONFIGS, ResourceType.TOPIC, "told")
    own, told = ask(stage, topic("own", 3), topic("told", 3), who=ALICE, version=7)
    assert (own.error_code, own.topic_config_error_code) == (0, 29)
    assert (own.num_partitions, own.replication_factor, own.configs) == (-1, -1, [])
    assert own.topic_id == stage.found("own").topic_id
    assert (told.num_partitions, told.replication_factor, told.topic_config_error_code) == (3, 1, 0)
    assert {config.name: config.value for config in told.configs}["cleanup.policy"] == "delete"


def test_validate_only_creates_nothing() -> None:
    stage = Stage()
    assert outcome(ask(stage, topic("t"), dry=True)) == {"t": 0}
    assert "t" not in stage.cluster.topics
    assert "t" in _after_validating("3.0")


def _after_validating(release: str) -> Any:
    """Return the topics after a request with validate_only, which 3.0 ignores."""
    stage = Stage(release)
    ask(stage, topic("t"), dry=True)
    return stage.cluster.topics


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        (topic("t", 0), 37),
        (topic("t", 1, 2), 38),
        (topic("t", 1, 0), 38),
        (topic("t", -1, -1), 0),
        (topic("t", no_such="1"), 40),
        (topic("t", retention_ms="x"), 40),
        (topic("t", retention_ms=None), 40),
        (topic("t", remote_storage_enable="true"), 40),
        (topic("t", min_compaction_lag_ms="2", max_compaction_lag_ms="1"), 40),
        (topic("x" * 250), 17),
        (topic("a_b"), 17),
    ],
)
def test_errors_of_the_newest_release(wanted: CreatableTopic, error: int) -> None:
    stage = Stage()
    stage.topic("a.b")
    assert outcome(ask(stage, wanted)) == {wanted.name: error}


def test_there_is_no_tiered_storage() -> None:
    enabled = {"remote.log.storage.system.enable": "true"}
    for release, error in (("3.5", 0), ("3.6", 40), ("4.4", 40)):
        stage = Stage(release, properties=enabled)
        assert outcome(ask(stage, topic("t", remote_storage_enable="true"))) == {"t": error}


@pytest.mark.parametrize(
    ("replicas", "error"),
    [
        ({0: [2, 1], 1: [1, 2]}, 0),
        ({1: [1]}, 39),
        ({0: [9]}, 39),
        ({0: [1, 1]}, 39),
        ({0: []}, 39),
        ({0: [1], 1: [1, 2]}, 39),
        ({0: [1, 2], 1: [1]}, 39),
    ],
)
def test_replica_assignments_are_validated(replicas: dict[int, list[int]], error: int) -> None:
    stage = Stage(brokers=2)
    wanted = topic("t", -1, -1)
    wanted.assignments = [CreatableReplicaAssignment(*replica) for replica in replicas.items()]
    assert outcome(ask(stage, wanted)) == {"t": error}
    if not error:
        made = stage.found("t").partitions
        assert [(partition.leader_id, partition.replicas) for partition in made] == [
            (2, [2, 1]),
            (1, [1, 2]),
        ]


def test_a_stopped_broker_becomes_the_last_replica_only_if_others_are_too_few() -> None:
    stage = Stage(brokers=3)
    stage.cluster.set_broker_alive(1, is_alive=False)
    assert outcome(ask(stage, topic("t", 6, 3), topic("u", 6, 2), topic("v", 1, 4))) == {
        "t": 0,
        "u": 0,
        "v": 38,
    }
    assert {partition.replicas[2] for partition in stage.found("t").partitions} == {1}
    assert {1 in partition.replicas for partition in stage.found("u").partitions} == {False}


def test_the_newest_release_limits_partitions_of_one_request() -> None:
    assert outcome(ask(Stage(), topic("a", 9999), topic("b"))) == {"a": 44, "b": 44}
    assert outcome(ask(Stage("3.4"), topic("a", 9999), topic("b"))) == {"a": 0, "b": 0}


def test_zookeeper_brokers_return_not_controller() -> None:
    stage = Stage("2.8", brokers=2)
    stage.session(ADMIN).node_id = 2
    assert outcome(ask(stage, topic("t"))) == {"t": 41}
    stage = Stage("3.3", brokers=2)
    stage.session(ADMIN).node_id = 2
    assert outcome(ask(stage, topic("t"))) == {"t": 0}


def test_topic_ids_are_returned_since_version_7() -> None:
    stage = Stage()
    assert ask(stage, topic("a"), version=7)[0].topic_id == stage.found("a").topic_id
    assert ask(stage, topic("b"), version=6)[0].topic_id == NO_ID


def test_a_topic_assigned_to_an_unknown_broker_times_out() -> None:
    """ZooKeeper brokers create it and return REQUEST_TIMED_OUT; Metadata omits the partition."""
    stage = Stage("2.8")
    assignments = [
        CreatableReplicaAssignment(index, [node_id]) for index, node_id in enumerate((1, 9))
    ]
    topic = CreatableTopic("t", num_partitions=-1, replication_factor=-1, assignments=assignments)
    request = CreateTopicsRequest(topics=[topic], timeout_ms=300)
    pending = stage.ask(ApiKey.CREATE_TOPICS, 4, request)
    stage.clock.advance(299)
    assert not pending.wait.is_finished
    stage.clock.advance(1)
    response = stage.outcome(ApiKey.CREATE_TOPICS, 4, pending)
    assert [topic.error_code for topic in response.topics] == [7]
    (found,) = stage.ask(ApiKey.METADATA, 1, MetadataRequest(topics=None)).topics
    assert [partition.partition_index for partition in found.partitions] == [0]


@pytest.mark.parametrize("release", ["0.11", "2.8", "3.4"])
def test_the_partitions_of_a_topic_are_limited(release: str) -> None:
    stage = Stage(release)
    asked = [topic("t", 2**31 - 1), topic("u", PARTITIONS_MAX + 1), topic("v", 2)]
    assert outcome(ask(stage, *asked, version=2)) == {"t": 37, "u": 37, "v": 0}


def test_too_many_partitions_are_rejected_before_their_replicas_are_placed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed = []
    monkeypatch.setattr(topic_plan, "place_replicas_live_first", lambda *how: placed.append(how))
    response = ask(Stage("2.4"), topic("t", PARTITIONS_MAX), topic("\0", PARTITIONS_AT_ONCE + 1))
    assert (outcome(response), placed) == ({"t": 37, "\0": 37}, [])


@pytest.mark.parametrize("release", ["1.0", "2.8", "3.4"])
def test_the_partitions_of_one_request_and_of_the_cluster_are_limited(
    release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (PARTITIONS_AT_ONCE, PARTITIONS_MAX) == (10_000, 100_000)
    most = 10
    monkeypatch.setattr(topic_plan, "PARTITIONS_AT_ONCE", most)
    monkeypatch.setattr(topic_plan, "PARTITIONS_MAX", 5 * most)
    stage = Stage(release)
    assert outcome(ask(stage, topic("t", most + 1), topic("u", 2), version=2)) == {"t": 37, "u": 0}
    many = [topic(f"t{number}", most) for number in range(6)]
    assert list(outcome(ask(stage, *many, version=2)).values()) == [0] * (len(many) - 1) + [37]
    grown = [CreatePartitionsTopic(name="u", count=most + 3)]
    response = stage.ask(ApiKey.CREATE_PARTITIONS, 0, CreatePartitionsRequest(topics=grown))
    assert [result.error_code for result in response.results] == [37]
