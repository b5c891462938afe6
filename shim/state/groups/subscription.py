"""What consumers write into JoinGroup and SyncGroup: subscriptions and assignments.

Each is a version and that version's layout; a later version begins the same way.
"""

from typing import Any, Final

from kafka_shim.protocol import codecs
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition,
)
from kafka_shim.protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.topics import Topics

_VERSION_0: Final = b"\0\0"
_NEWEST: Final = 3
"""The newest layout that is known."""


def read(metadata: bytes) -> ConsumerProtocolSubscription | None:
    """The subscription in a member's metadata, or None if the bytes are none."""
    found: ConsumerProtocolSubscription | None = _read(ConsumerProtocolSubscription, metadata)
    return found


def topics_of(metadata: bytes) -> frozenset[str] | None:
    """The names of the topics, or None if the bytes are no subscription.

    Brokers read the layout of version 0 for that, whatever the version is.
    """
    if len(metadata) < len(_VERSION_0):
        return None
    found = read(_VERSION_0 + metadata[len(_VERSION_0) :])
    return None if found is None else frozenset(found.topics)


def owned_by(told: ConsumerProtocolSubscription, topics: Topics) -> Assignment:
    """What a member says it has, of topics that exist."""
    return _by_id(told.owned_partitions, topics)


def read_assignment(data: bytes, topics: Topics) -> Assignment | None:
    """What a leader assigned to a member, of topics that exist; None if the bytes are nothing such,
    or have data of the leader's own.

    No bytes at all are no partitions: the member has never synced.
    """
    if not data:
        return {}
    found = _read(ConsumerProtocolAssignment, data)
    return None if found is None or found.user_data else _by_id(found.assigned_partitions, topics)


def write_assignment(assignment: Assignment, metadata: bytes, topics: Topics) -> bytes:
    """An assignment as a member reads it: in the version of its own metadata."""
    version = _version(metadata)
    assert version is not None
    rows = [
        TopicPartition(topic=topic.name, partitions=sorted(partitions))
        for topic_id, partitions in assignment.items()
        if (topic := topics.by_id(topic_id)) is not None and partitions
    ]
    message = ConsumerProtocolAssignment(assigned_partitions=rows)
    return version.to_bytes(2, "big") + codecs.write_message(message, version)


def _read(message: type, data: bytes) -> Any:
    version = _version(data)
    if version is None:
        return None
    try:
        return codecs.read_message(message, version, data, 2)
    except ProtocolError:
        return None


def _version(data: bytes) -> int | None:
    if len(data) < 2:
        return None
    version = min(int.from_bytes(data[:2], "big", signed=True), _NEWEST)
    return None if version < 0 else version


def _by_id(rows: list[Any], topics: Topics) -> Assignment:
    found = ((topics.get(row.topic), row.partitions) for row in rows)
    return {
        topic.topic_id: frozenset(partitions) for topic, partitions in found if topic is not None
    }
