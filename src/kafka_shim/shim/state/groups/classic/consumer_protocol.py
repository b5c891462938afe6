"""What consumers write into JoinGroup and SyncGroup: subscriptions and assignments.

Each is a version and that version's layout; a later version begins the same way.
"""

from typing import Any, Final

from kafka_shim.protocol.codec import codecs
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


def decode_subscription(metadata: bytes) -> ConsumerProtocolSubscription | None:
    """Return the subscription in a member's metadata; None if it cannot be decoded."""
    decoded: ConsumerProtocolSubscription | None = _decode_message_or_none(
        ConsumerProtocolSubscription, metadata
    )
    return decoded


def subscribed_topic_names(metadata: bytes) -> frozenset[str] | None:
    """Return the names of the topics; None if the bytes are not a subscription.

    Brokers decode them in version 0, whatever the version is.
    """
    if len(metadata) < len(_VERSION_0):
        return None
    decoded = decode_subscription(_VERSION_0 + metadata[len(_VERSION_0) :])
    return None if decoded is None else frozenset(decoded.topics)


def owned_partitions(subscription: ConsumerProtocolSubscription, topics: Topics) -> Assignment:
    """Return the partitions that a member reports as owned, of existing topics."""
    return _partitions_by_topic_id(subscription.owned_partitions, topics)


def decode_plain_assignment(data: bytes, topics: Topics) -> Assignment | None:
    """Return a leader's assignment to a member, of existing topics; None if it cannot be decoded or
    has user data.

    Empty bytes are no partitions: the member has never sent SyncGroup.
    """
    if not data:
        return {}
    decoded = _decode_message_or_none(ConsumerProtocolAssignment, data)
    return (
        None
        if decoded is None or decoded.user_data
        else _partitions_by_topic_id(decoded.assigned_partitions, topics)
    )


def encode_assignment(assignment: Assignment, metadata: bytes, topics: Topics) -> bytes:
    """Encode an assignment in the version of the member's metadata."""
    version = _capped_version(metadata)
    assert version is not None
    rows = [
        TopicPartition(topic=topic.name, partitions=sorted(partitions))
        for topic_id, partitions in assignment.items()
        if (topic := topics.by_id(topic_id)) is not None and partitions
    ]
    message = ConsumerProtocolAssignment(assigned_partitions=rows)
    return version.to_bytes(2, "big") + codecs.write_message(message, version)


def _decode_message_or_none(message: type, data: bytes) -> Any:
    version = _capped_version(data)
    if version is None:
        return None
    try:
        return codecs.read_message(message, version, data, 2)
    except ProtocolError:
        return None


def _capped_version(data: bytes) -> int | None:
    if len(data) < 2:
        return None
    version = min(int.from_bytes(data[:2], "big", signed=True), _NEWEST)
    return None if version < 0 else version


def _partitions_by_topic_id(rows: list[Any], topics: Topics) -> Assignment:
    topic_rows = ((topics.get(row.topic), row.partitions) for row in rows)
    return {
        topic.topic_id: frozenset(partitions)
        for topic, partitions in topic_rows
        if topic is not None
    }
