"""Coordinators of groups, transactional ids and share partitions.

As in Kafka, the coordinator is the leader of the internal topic's partition that the key's Java
hash selects. The topic is created on the first lookup of a coordinator. The coordinator of
groups writes records into its topic for tools that read them. DEVIATION: the other topics are
empty, and the topic of groups has nothing about share and streams groups but offsets.
"""

import random
import re
from collections.abc import Callable, Iterable
from enum import IntEnum
from functools import lru_cache

import msgspec

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.state.java_collections import (
    in_concurrent_hash_map_order,
    in_timeline_hash_map_order,
    java_hash,
)
from kafka_shim.shim.state.node import Node
from kafka_shim.shim.state.placement import place_replicas
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.topics import Partition, Topic, Topics

KEPT_CHARS_MAX = 249
"""Longer keys are not cached: a thousand names of 32 KiB would fill the memory."""


class KeyType(IntEnum):
    """Key types of FindCoordinator; the values are those on the wire."""

    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


_TOPICS = {
    KeyType.GROUP: "__consumer_offsets",
    KeyType.TRANSACTION: "__transaction_state",
    KeyType.SHARE: "__share_group_state",
}
"""The internal topics whose partitions' leaders are the coordinators."""

_SETTINGS = {
    "__consumer_offsets": "offsets.topic",
    "__transaction_state": "transaction.state.log",
    "__share_group_state": "share.coordinator.state.topic",
}
"""What the broker settings about an internal topic begin with."""

_CONFIGS: dict[str, dict[str, str]] = {
    "__consumer_offsets": {"cleanup.policy": "compact", "compression.type": "producer"},
    "__transaction_state": {
        "cleanup.policy": "compact",
        "compression.type": "uncompressed",
        "unclean.leader.election.enable": "false",
    },
    "__share_group_state": {
        "cleanup.policy": "delete",
        "compression.type": "producer",
        "retention.ms": "-1",
    },
}
"""What an internal topic is always made with."""

_UUID_TEXT = re.compile(r"[A-Za-z0-9_-]{22}(==)?")
_INT_TEXT = re.compile(r"[+-]?[0-9]{1,4000}")


class Coordinators:
    """The internal topics and the leaders of their partitions."""

    def __init__(
        self,
        topics: Topics,
        configs: Configs,
        rng: random.Random,
        live_nodes: Callable[[], list[Node]],
    ) -> None:
        self._topics = topics
        self._configs = configs
        self._random = rng
        self._live_nodes = live_nodes
        self._created_names = set[str]()

    def coordinator_node_id_creating_topic(self, key_type: KeyType, key: str) -> int:
        """Return the id of the coordinating node; -1 while its partition has no leader."""
        partitions = self.get_or_create_topic(key_type).partitions
        return partitions[_positive_hash(key) % len(partitions)].leader_id

    def group_topic_was_deleted(self) -> bool:
        """Return whether the groups' topic was deleted and has not been created again."""
        name = _TOPICS[KeyType.GROUP]
        return name in self._created_names and name not in self._topics

    def group_coordinator_error_creating_topic(self, node_id: int, group_id: str) -> ErrorCode:
        """Return NONE if the node coordinates the group, else the error for the request."""
        if self.group_topic_was_deleted():
            return ErrorCode.NOT_COORDINATOR
        coordinator = self.coordinator_node_id_creating_topic(KeyType.GROUP, group_id)
        if coordinator < 0:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return NO_ERROR if coordinator == node_id else ErrorCode.NOT_COORDINATOR

    def coordinator_partition_creating_topic(self, key_type: KeyType, key: str) -> Partition:
        """Return the partition for a key of the internal topic, which is created if needed."""
        partitions = self.get_or_create_topic(key_type).partitions
        hashed = _known_hash if len(key) <= KEPT_CHARS_MAX else _positive_hash
        return partitions[hashed(key) % len(partitions)]

    def group_partition_index(self, group_id: str) -> int:
        """Return a group's partition; of the topic that will be, if there is none."""
        topic = self.find_topic(KeyType.GROUP)
        if topic is None:
            prefix = _SETTINGS[_TOPICS[KeyType.GROUP]]
            count = self._configs.effective_broker_int(f"{prefix}.num.partitions")
        else:
            count = len(topic.partitions)
        return _positive_hash(group_id) % count

    def find_topic(self, key_type: KeyType) -> Topic | None:
        """Return the internal topic; None if it does not exist."""
        return self._topics.get(_TOPICS[key_type])

    def listed_group_ids(self, group_ids: Iterable[str], node_id: int) -> list[str]:
        """Return the groups of a node in the order in which a coordinator of 4.0 lists them."""
        topic = self.get_or_create_topic(KeyType.GROUP)
        by_partition: dict[int, list[str]] = {}
        for group_id in group_ids:
            at = _positive_hash(group_id) % len(topic.partitions)
            by_partition.setdefault(at, []).append(group_id)
        led = [
            at for at, partition in enumerate(topic.partitions) if partition.leader_id == node_id
        ]
        return [
            group_id
            for at in in_concurrent_hash_map_order(topic.name, led)
            for group_id in in_timeline_hash_map_order(by_partition.get(at, ()))
        ]

    def get_or_create_topic(self, key_type: KeyType) -> Topic:
        """Return the internal topic; create it if it does not exist."""
        name = _TOPICS[key_type]
        return self._topics.get(name) or self.create_internal_topic(name)

    def uses_broker_settings(self, internal_topic_name: str) -> bool:
        """Return whether an internal topic uses broker settings: in 3.9 that of share groups does
        not.
        """
        return (
            f"{_SETTINGS[internal_topic_name]}.num.partitions" in self._configs.broker_definitions
        )

    def create_internal_topic(self, name: str) -> Topic:
        """Create an internal topic as Kafka does on first use.

        The replication factor is at most the number of brokers, since a test cluster is smaller
        than the defaults expect.
        """
        self._created_names.add(name)
        prefix = _SETTINGS[name]
        segment_bytes = self._configs.effective_broker_value(f"{prefix}.segment.bytes")
        configs = {**_CONFIGS[name], "segment.bytes": segment_bytes or ""}
        if name != "__consumer_offsets":
            configs["min.insync.replicas"] = (
                self._configs.effective_broker_value(f"{prefix}.min.isr") or "1"
            )
        nodes = self._live_nodes()
        replicas = min(
            self._configs.effective_broker_int(f"{prefix}.replication.factor"), len(nodes)
        )
        partitions = self._configs.effective_broker_int(f"{prefix}.num.partitions")
        replica_lists = place_replicas(nodes, partitions, replicas, self._random)
        set_ones = {key: value for key, value in configs.items() if value}
        return self._topics.create_topic(name, replica_lists, set_ones)


def _positive_hash(key: str) -> int:
    return abs(java_hash(key)) & 0x7FFF_FFFF  # 0 for the least hash code


_known_hash = lru_cache(maxsize=1024)(_positive_hash)


def is_share_key(key: str, *, allows_colons_in_group_id: bool) -> bool:
    """Return whether a text is `group:topic id:partition`, with the id in URL-safe
    base64.
    """
    group, _, rest = key.rpartition(":")[0].rpartition(":")
    partition = key.rpartition(":")[2]
    if ":" in group and not allows_colons_in_group_id:
        return False
    return bool(group) and _UUID_TEXT.fullmatch(rest) is not None and _is_int32(partition)


def _is_int32(text: str) -> bool:
    return _INT_TEXT.fullmatch(text) is not None and -(2**31) <= int(text) < 2**31


def encode_with_version(
    message: msgspec.Struct, version: int, prefix_instead_of_version: int | None = None
) -> bytes:
    """Return a key or a value after a number of 16 bits: its version, unless another is given."""
    before = version if prefix_instead_of_version is None else prefix_instead_of_version
    return before.to_bytes(2, "big") + codecs.write_message(message, version)
