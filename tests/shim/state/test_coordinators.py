"""Internal topics have the settings that `kafka-topics --describe` shows on a real broker."""

import tracemalloc

import pytest

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.coordinators import KeyType


@pytest.mark.parametrize(
    ("kind", "configs"),
    [
        (
            KeyType.GROUP,
            "cleanup.policy=compact compression.type=producer segment.bytes=104857600",
        ),
        (
            KeyType.TRANSACTION,
            (
                "cleanup.policy=compact compression.type=uncompressed min.insync.replicas=2"
                " segment.bytes=104857600 unclean.leader.election.enable=false"
            ),
        ),
        (
            KeyType.SHARE,
            (
                "cleanup.policy=delete compression.type=producer min.insync.replicas=2"
                " retention.ms=-1 segment.bytes=104857600"
            ),
        ),
    ],
)
def test_internal_topics_have_the_settings_of_a_real_broker(kind: KeyType, configs: str) -> None:
    topic = Cluster(Config(), ManualClock()).coordinators.get_or_create_topic(kind)
    assert sorted(topic.configs.items()) == [tuple(text.split("=")) for text in configs.split()]


def test_the_absolute_value_of_a_negative_hash_code_selects_the_partition() -> None:
    """DescribeTransactions of 4.4.0 showed the partition of this group's offsets."""
    coordinators = Cluster(Config(), ManualClock()).coordinators
    assert coordinators.coordinator_partition_creating_topic(KeyType.GROUP, "s54009-h").index == 46


def test_long_keys_are_not_kept() -> None:
    coordinators = Cluster(Config(), ManualClock()).coordinators
    coordinators.coordinator_partition_creating_topic(KeyType.GROUP, "short")
    tracemalloc.start()
    try:
        for number in range(10):
            coordinators.coordinator_partition_creating_topic(KeyType.GROUP, f"{number:032000}")
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 100_000
