from typing import Any

import pytest

from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation, PatternType
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, InitialGroup, InitialTopic
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.initial_state import create_missing_initial_state
from kafka_shim.shim.state.cluster import Cluster
from tests.support.acls import make_acl


def acl(number: int = 0, pattern_type: PatternType = PatternType.LITERAL) -> Acl:
    return make_acl(Operation.READ, f"t{number}", principal="User:a", pattern_type=pattern_type)


def seeded(**settings: Any) -> Cluster:
    cluster = Cluster(Config(seed=1, **settings), ManualClock())
    create_missing_initial_state(cluster)
    return cluster


def test_faults_are_seeded() -> None:
    broker = Broker(Config(faults=({"match": {"api": "Produce"}, "action": {"error": 7}},)))
    (fault,) = broker.faults
    assert (fault.spec.match.api, fault.spec.action.error) == ("Produce", 7)


@pytest.mark.parametrize("release", RELEASES)
def test_topics_are_seeded_with_partitions_and_settings_in_every_release(release: str) -> None:
    topics = (InitialTopic("a", 3, {"retention.ms": "1000"}), InitialTopic("b"))
    cluster = seeded(release=release, topics=topics)
    topic = cluster.topics.get("a")
    assert topic is not None
    assert len(topic.partitions) == 3
    assert topic.configs == {"retention.ms": "1000"}
    assert "b" in cluster.topics


def test_topics_are_seeded_with_replicas() -> None:
    cluster = seeded(
        brokers=3,
        topics=(InitialTopic("one"), InitialTopic("two", replication_factor=2)),
    )
    factors = {topic.name: len(topic.partitions[0].replicas) for topic in cluster.topics}
    assert factors == {"one": 1, "two": 2}


@pytest.mark.parametrize(
    ("topic", "complaint"),
    [
        (InitialTopic("a b"), "^topic name `a b` has characters other"),
        (InitialTopic("t", replication_factor=2), "there are only 1 brokers"),
        (InitialTopic("t", configs={"colour": "red"}), "unknown topic setting colour"),
        (InitialTopic("t", configs={"retention.ms": "soon"}), "topic `t`: "),
    ],
)
def test_invalid_topics_are_rejected(topic: InitialTopic, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        seeded(topics=(topic,))


def test_more_acls_are_seeded_than_one_request_may_create() -> None:
    acls = tuple(acl(number) for number in range(25_000))
    authorizer = seeded(acls=acls).policy.authorizer
    assert authorizer is not None
    assert set(authorizer.acls(AclFilter())) == set(acls)


def test_an_acl_that_the_release_rejects_is_reported() -> None:
    with pytest.raises(ConfigError, match=r"Kafka 0.11 rejects the ACL .*PREFIXED"):
        seeded(release="0.11", acls=(acl(pattern_type=PatternType.PREFIXED),))


def test_acls_without_an_authorizer_are_reported() -> None:
    with pytest.raises(ConfigError, match="the broker has no authorizer"):
        seeded(authorizer="none", acls=(acl(),))


def test_groups_are_seeded_with_offsets() -> None:
    cluster = seeded(
        topics=(InitialTopic("t", 2),), groups=(InitialGroup("g", {"t": {0: 5, 1: 7}}),)
    )
    topic = cluster.topics.get("t")
    assert topic is not None
    for index, offset in ((0, 5), (1, 7)):
        found = cluster.groups.offsets.committed_offset("g", topic.topic_id, index)
        assert found is not None
        assert found.offset == offset
    assert [group.group_id for group in cluster.groups] == ["g"]


@pytest.mark.parametrize(
    ("offsets", "complaint"),
    [({"none": {0: 1}}, "unknown topic `none`"), ({"t": {9: 1}}, "`t` has no partition 9")],
)
def test_offsets_of_unknown_topics_and_partitions_are_rejected(
    offsets: dict[str, dict[int, int]], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=f"group `g`: .*{complaint}"):
        seeded(topics=(InitialTopic("t"),), groups=(InitialGroup("g", offsets),))


def test_client_metrics_subscriptions_are_seeded() -> None:
    asked = {"metrics": "org.apache.kafka.", "interval.ms": "5000", "match": "client_id=a.*"}
    cluster = seeded(client_metrics={"all": asked, "none": {}})
    assert cluster.configs.client_metrics == {"all": asked}


@pytest.mark.parametrize(
    ("release", "settings", "complaint"),
    [
        ("4.3", {"colour": "red"}, "unknown settings: colour"),
        ("4.3", {"interval.ms": "5"}, "interval.ms of 5: expected 100 to 3600000"),
        ("4.3", {"interval.ms": "soon"}, "soon"),
        ("3.7", {"interval.ms": "soon"}, "Kafka 3.7 cannot read these settings"),
        ("4.3", {"match": "colour=red"}, "colour"),
        ("3.6", {"interval.ms": "5000"}, "unknown settings"),
    ],
)
def test_invalid_client_metrics_subscriptions_are_rejected(
    release: str, settings: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=f"client metrics `m`: .*{complaint}"):
        seeded(release=release, client_metrics={"m": settings})
