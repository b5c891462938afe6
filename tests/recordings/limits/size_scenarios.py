"""Groups, sessions and transactions at the limits in the broker's settings."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.groups.classic_play import NEWEST
from tests.recordings.limits.play import LimitsPlay

TIMEOUT_MS_MAX = 70_000
SHARE_MEMBERS_MAX = 10
"""The least that releases before 4.0 allow."""
SETTINGS = {
    "group.max.size": "1",
    "group.consumer.max.size": "1",
    "group.share.max.size": str(SHARE_MEMBERS_MAX),
    "group.streams.max.size": "1",
    "group.min.session.timeout.ms": "7000",
    "group.max.session.timeout.ms": "9000",
    "transaction.max.timeout.ms": str(TIMEOUT_MS_MAX),
    "max.request.partition.size.limit": "2",
    "offset.metadata.max.bytes": "10",
}


def _members(play: LimitsPlay) -> None:
    """A second member of each type of group."""
    group, more = play.text("mc"), dict[str, Any](session_timeout_ms=8_000)
    first = play.join("members classic 1", group, **more).member_id
    play.codes("members classic 2", ApiKey.JOIN_GROUP, 3, play.join_request(group, **more), "b")
    play.sync("members classic 1", group, 1, first)
    play.codes("members classic 3", ApiKey.JOIN_GROUP, 3, play.join_request(group, **more), "c")
    (topic,) = play.topic("mt")
    topology = {"epoch": 0, "subtopologies": [{"subtopology_id": "0", "source_topics": [topic]}]}
    for member in ("a", "b"):
        play.enter(f"members consumer {member}", play.text("mk"), member, topic)
        play.start(f"members streams {member}", play.text("mp"), member, topology)
    for number in range(SHARE_MEMBERS_MAX + 1):
        request = {
            "group_id": play.text("ms"),
            "member_id": f"m{number}",
            "member_epoch": 0,
            "subscribed_topic_names": [topic],
        }
        play.codes(f"members share {number}", ApiKey.SHARE_GROUP_HEARTBEAT, NEWEST, request)


def _sessions(play: LimitsPlay) -> None:
    """Session timeouts at both limits and beyond."""
    for timeout_ms in (6_999, 7_000, 9_000, 9_001):
        request = play.join_request(play.text(f"s{timeout_ms}"), session_timeout_ms=timeout_ms)
        play.codes(f"sessions {timeout_ms}", ApiKey.JOIN_GROUP, 3, request)


def _transactions(play: LimitsPlay) -> None:
    """Timeouts of transactions."""
    for timeout_ms in (-1, 0, 1, TIMEOUT_MS_MAX, TIMEOUT_MS_MAX + 1):
        request = {
            "transactional_id": play.text(f"xx{timeout_ms}"),
            "transaction_timeout_ms": timeout_ms,
        }
        play.codes(f"transactions {timeout_ms}", ApiKey.INIT_PRODUCER_ID, NEWEST, request)


def _partitions(play: LimitsPlay) -> None:
    """More partitions than one response of DescribeTopicPartitions may have."""
    topics = play.topic("pt", "u", partitions=2)
    for limit in (1, 2, 3, 2_000):
        request = {
            "topics": [{"name": name} for name in topics],
            "response_partition_limit": limit,
        }
        play.call(f"partitions {limit}", ApiKey.DESCRIBE_TOPIC_PARTITIONS, NEWEST, request)


def _metadata(play: LimitsPlay) -> None:
    """Metadata of offsets."""
    (topic,) = play.topic("dt")
    for length in (10, 11):
        play.commit(f"metadata {length}", play.text("dg"), [(topic, 0, 5)], metadata="x" * length)


def settings(play: LimitsPlay) -> None:
    """Requests at the limits in the broker's settings, and above them."""
    _members(play)
    _sessions(play)
    _transactions(play)
    _partitions(play)
    _metadata(play)


SCENARIOS = (settings,)

OWN_SETTINGS = {"size-settings": SETTINGS}
