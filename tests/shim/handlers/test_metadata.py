"""Metadata: visible topics, and requests for missing ones (KIP-430, KIP-516)."""

from typing import Any

import pytest

from kafka_shim.protocol.enums import NO_OPERATIONS, ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.shim.play import ADMIN, Stage

ALICE, BOB = "User:alice", "User:bob"
NO_ID = bytes(16)


def ask(stage: Stage, names: list[str] | None, version: int, who: str = ADMIN, **flags: Any) -> Any:
    topics = None if names is None else [MetadataRequestTopic(name=name) for name in names]
    flags.setdefault("allow_auto_topic_creation", version < 4)
    return stage.ask(ApiKey.METADATA, version, MetadataRequest(topics, **flags), who)


def outcome(response: Any) -> list[tuple[str | None, int]]:
    return [(topic.name, topic.error_code) for topic in response.topics]


def describer(release: str = "", **settings: Any) -> Stage:
    """Create topics `a` and `hidden`; alice may DESCRIBE `a` and the missing topic `m`."""
    stage = Stage(release, **settings)
    stage.topic("a", 2)
    stage.topic("hidden")
    for name in ("a", "m"):
        stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, name)
    return stage


def test_a_list_of_all_topics_omits_those_without_describe() -> None:
    stage = describer()
    assert outcome(ask(stage, None, 12)) == [("a", 0), ("hidden", 0)]
    assert outcome(ask(stage, None, 12, ALICE)) == [("a", 0)]
    assert outcome(ask(stage, None, 12, BOB)) == []
    assert outcome(ask(stage, [], 12)) == []


def test_in_version_0_an_empty_list_requests_all_topics() -> None:
    stage = describer("3.9")
    assert outcome(ask(stage, [], 0, ALICE)) == [("a", 0)]
    assert outcome(ask(stage, [], 1, ALICE)) == []


def test_a_named_topic_is_denied_whether_it_exists_or_not() -> None:
    asked = ["hidden", "unseen", "m", "a"]
    assert outcome(ask(describer(), asked, 12, ALICE)) == [
        ("a", 0),
        ("m", 3),
        ("hidden", 29),
        ("unseen", 29),
    ]


def test_0_11_reports_topics_without_describe_as_unknown() -> None:
    assert outcome(ask(describer("0.11"), ["hidden", "unseen", "a"], 4, ALICE)) == [
        ("a", 0),
        ("hidden", 3),
        ("unseen", 3),
    ]


def test_a_denied_topic_id_is_returned_without_the_name() -> None:
    stage = describer()
    ids = [stage.found(name).topic_id for name in ("a", "hidden")]
    topics = [MetadataRequestTopic(topic_id=topic_id, name=None) for topic_id in (*ids, b"?" * 16)]
    request = MetadataRequest([*topics, MetadataRequestTopic(name="hidden")], False)
    response = stage.ask(ApiKey.METADATA, 12, request, ALICE)
    assert [(topic.name, topic.topic_id, topic.error_code) for topic in response.topics] == [
        (None, b"?" * 16, 100),
        ("a", ids[0], 0),
        (None, ids[1], 29),
    ]


@pytest.mark.parametrize(("version", "error"), [(10, 42), (11, 42), (12, -1), (13, -1)])
def test_a_null_name_without_id_fails_the_whole_request(version: int, error: int) -> None:
    topics = [MetadataRequestTopic(name=None), MetadataRequestTopic(name="a")]
    response = describer().ask(ApiKey.METADATA, version, MetadataRequest(topics, False))
    assert [topic.error_code for topic in response.topics] == [error, error]
    assert response.brokers == []
    assert response.controller_id == -1
    assert response.error_code == (error if version >= 13 else 0)


def test_brokers_and_ids_are_shown_to_every_client() -> None:
    response = ask(describer(brokers=3), [], 12, BOB)
    assert [(broker.node_id, broker.port) for broker in response.brokers] == [
        (1, 9092),
        (2, 9093),
        (3, 9094),
    ]
    assert response.controller_id == 1
    assert response.cluster_id


@pytest.mark.parametrize(("who", "bits"), [(ADMIN, 8096), (BOB, 0)])
def test_cluster_operations_are_0_without_permissions(who: str, bits: int) -> None:
    stage = describer()
    asked = ask(stage, [], 9, who, include_cluster_authorized_operations=True)
    assert asked.cluster_authorized_operations == bits
    assert ask(stage, [], 9, who).cluster_authorized_operations == NO_OPERATIONS


def test_topic_operations_are_returned_for_missing_but_not_denied_topics() -> None:
    response = ask(
        describer(), ["a", "m", "hidden"], 12, ALICE, include_topic_authorized_operations=True
    )
    told = {topic.name: topic.topic_authorized_operations for topic in response.topics}
    assert told == {"a": 256, "m": 256, "hidden": NO_OPERATIONS}


@pytest.mark.parametrize(("release", "unasked"), [("2.3", 0), ("2.4", 0), ("2.5", NO_OPERATIONS)])
def test_authorized_operations_that_were_not_requested_depend_on_the_release(
    release: str, unasked: int
) -> None:
    response = ask(describer(release), ["a", "hidden"], 8, ALICE)
    assert response.cluster_authorized_operations == unasked
    assert [topic.topic_authorized_operations for topic in response.topics] == [unasked, unasked]


@pytest.mark.parametrize(("release", "error"), [("1.1", 5), ("2.7", 5), ("3.9", 3), ("4.3", 3)])
def test_requesting_a_missing_topic_creates_it(release: str, error: int) -> None:
    stage = Stage(release)
    assert outcome(ask(stage, ["new"], 5, allow_auto_topic_creation=True)) == [("new", error)]
    assert outcome(ask(stage, ["new"], 5)) == [("new", 0)]


@pytest.mark.parametrize(
    ("release", "resource", "error"),
    [
        ("4.3", ResourceType.TOPIC, 3),
        ("4.3", ResourceType.CLUSTER, 3),
        ("1.1", ResourceType.CLUSTER, 5),
        ("1.1", ResourceType.TOPIC, 29),
        ("4.3", None, 29),
    ],
)
def test_creating_a_topic_needs_create(
    release: str, resource: ResourceType | None, error: int
) -> None:
    """CREATE is needed on the cluster, or since KIP-277 on the topic; DESCRIBE is needed, too."""
    stage = Stage(release)
    stage.allow(ALICE, Operation.DESCRIBE, ResourceType.TOPIC, "m")
    if resource is not None:
        name = "m" if resource is ResourceType.TOPIC else "kafka-cluster"
        stage.allow(ALICE, Operation.CREATE, resource, name)
    response = ask(stage, ["m"], 5, ALICE, allow_auto_topic_creation=True)
    assert outcome(response) == [("m", error)]
    assert ("m" in stage.cluster.topics) == (error != 29)


def test_topics_are_created_only_if_request_setting_and_name_permit_it() -> None:
    closed = Stage(properties={"auto.create.topics.enable": "false"})
    assert outcome(ask(closed, ["m"], 9, allow_auto_topic_creation=True)) == [("m", 3)]
    assert len(closed.cluster.topics) == 0
    stage = Stage()
    assert outcome(ask(stage, ["m"], 9)) == [("m", 3)]
    stage.topic("a.b")
    for name, error in (("bad name", 17), ("a_b", 3)):
        response = ask(stage, [name], 9, allow_auto_topic_creation=True)
        assert outcome(response) == [(name, error)]
    assert len(stage.cluster.topics) == 1


def test_a_stopped_broker_leads_no_partition() -> None:
    stage = Stage(brokers=2)
    stage.cluster.topics.create_topic("t", [[2, 1]], {})
    stage.cluster.nodes[2].is_alive = False
    response = ask(stage, ["t"], 9)
    (partition,) = response.topics[0].partitions
    assert (partition.error_code, partition.leader_id, partition.offline_replicas) == (5, -1, [2])
    assert [broker.node_id for broker in response.brokers] == [1]


def test_version_0_leaves_out_stopped_replicas() -> None:
    """The same as in testReplicaDownResponse of Kafka's MetadataRequestTest."""
    stage = Stage(brokers=3)
    stage.cluster.topics.create_topic("t", [[1, 2, 3], [2, 3, 1]], {})
    stage.cluster.nodes[2].is_alive = False
    rows = ask(stage, ["t"], 0).topics[0].partitions
    assert [(row.error_code, row.leader_id) for row in rows] == [(9, 1), (5, -1)]
    assert [sorted(row.replica_nodes) for row in rows] == [[1, 3], [1, 3]]
    assert [sorted(row.isr_nodes) for row in rows] == [[1, 3], [1, 3]]
    rows = ask(stage, ["t"], 1).topics[0].partitions
    assert [(row.error_code, len(row.replica_nodes)) for row in rows] == [(0, 3), (5, 3)]


def test_in_3_9_share_group_state_is_created_like_any_topic() -> None:
    """3.9.1 creates it with one partition and no settings of its own, as an internal topic."""
    stage = Stage("3.9")
    asked = MetadataRequest(
        topics=[MetadataRequestTopic(name="__share_group_state")], allow_auto_topic_creation=True
    )
    stage.ask(ApiKey.METADATA, 12, asked)
    [topic] = stage.ask(ApiKey.METADATA, 12, asked).topics
    assert (topic.error_code, topic.is_internal, len(topic.partitions)) == (0, True, 1)
    assert stage.found("__share_group_state").configs == {}
