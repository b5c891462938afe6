"""Requests of scenarios with members of both protocols in a group (KIP-848)."""

from collections.abc import Sequence
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
    TopicPartition as Assigned,
)
from kafka_shim.protocol.messages.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
    TopicPartition as Owned,
)
from tests.recordings.groups.modern_play import ModernPlay

HEARTBEAT = ApiKey.CONSUMER_GROUP_HEARTBEAT
BOTH = (0, 1)


def speaks(
    topics: Sequence[str], owned: Sequence[int] = (), version: int = 3, name: str = "range"
) -> tuple[tuple[str, bytes]]:
    """Return the protocols in a consumer's JoinGroup, with owned partitions of the first topic."""
    rows = [Owned(topic=topics[0], partitions=list(owned))] if owned else []
    message = ConsumerProtocolSubscription(topics=list(topics), owned_partitions=rows)
    return ((name, version.to_bytes(2, "big") + codecs.write_message(message, version)),)


def gives(topic: str, partitions: Sequence[int], version: int = 3) -> bytes:
    """Return a leader's assignment for a member."""
    row = Assigned(topic=topic, partitions=list(partitions))
    message = ConsumerProtocolAssignment(assigned_partitions=[row])
    return version.to_bytes(2, "big") + codecs.write_message(message, version)


def begun(play: ModernPlay, group: str, topic: str, version: int = 3, **more: Any) -> str:
    """Create a stable classic group with one member, which has all partitions of the topic."""
    more = {"session_timeout_ms": 60_000} | more
    joined = play.join("classic", group, protocols=speaks([topic], version=version), **more)
    member: str = joined.member_id
    instance: dict[str, Any] = {"group_instance_id": more.get("group_instance_id")}
    given = {member: gives(topic, BOTH, version)}
    play.sync("classic", group, joined.generation_id, member, given, **instance)
    return member


def seen(play: ModernPlay, label: str, group: str) -> None:
    """Describe and list the group by all APIs."""
    play.list(label)
    play.describe(label, group, version=6)
    play.consumer_groups(label, group)


def rejoin(
    play: ModernPlay, label: str, group: str, member: str, topic: str, *owned: int, **more: Any
) -> int:
    """Join again and sync; return the generation."""
    more = {"session_timeout_ms": 60_000} | more
    protocols = more.pop("protocols", None) or speaks([topic], owned)
    request = play.join_request(group, member, protocols, **more)
    response = play.call(f"{label}: join", ApiKey.JOIN_GROUP, 9, request)
    instance: dict[str, Any] = {"group_instance_id": more.get("group_instance_id")}
    generation: int = response.generation_id
    play.sync(f"{label}: sync", group, generation, response.member_id, **instance)
    return generation
