"""Creates and deletes topics of scenarios by requests, on every kind of peer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.recordings.peers.peer import Peer, ask_root

TRIALS: Final = 500
TRIAL_MS: Final = 20
TIMEOUT_MS: Final = 9_999
NO_SETTINGS: Final[Mapping[str, str]] = MappingProxyType({})


def create(
    peer: Peer, names: Sequence[str], partitions: int, settings: Mapping[str, str] = NO_SETTINGS
) -> dict[str, bytes]:
    """Create topics; return their ids when their leaders serve them, a little after Metadata."""
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in settings.items()]
    topics = [
        CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=1, configs=list(configs)
        )
        for name in names
    ]
    request = CreateTopicsRequest(topics=topics, timeout_ms=TIMEOUT_MS)
    response = ask_root(peer, ApiKey.CREATE_TOPICS, request)
    assert all(topic.error_code in (0, 36) for topic in response.topics), response
    found = until(peer, lambda: _described(peer, names), lambda found: _are_up(found, partitions))
    for name in names if peer.takes_effect_later else ():  # their leaders may be several brokers
        look = partial(_ends, peer, [name], partitions)
        until(peer, look, lambda codes: not any(codes))
    return {topic.name: topic.topic_id for topic in found}


def delete(peer: Peer, names: Sequence[str]) -> None:
    """Delete topics, and wait until Metadata no longer shows them."""
    topics = [DeleteTopicState(name=name) for name in names]
    request = DeleteTopicsRequest(topics=topics, topic_names=list(names), timeout_ms=TIMEOUT_MS)
    ask_root(peer, ApiKey.DELETE_TOPICS, request)
    if peer.takes_effect_later:
        until(
            peer,
            lambda: _described(peer, names),
            lambda found: all(topic.error_code for topic in found),
        )


def until(peer: Peer, look: Callable[[], Any], is_passing: Callable[[Any], bool]) -> Any:
    """Repeat a request until its result is good, for which a real broker needs a moment."""
    found: Any = None
    for _ in range(TRIALS):
        found = look()
        if is_passing(found):
            return found
        peer.pause(TRIAL_MS)
    raise AssertionError(found)


def _described(peer: Peer, names: Sequence[str]) -> list[Any]:
    topics = [MetadataRequestTopic(name=name) for name in names]
    request = MetadataRequest(topics=topics, allow_auto_topic_creation=False)
    found: list[Any] = ask_root(peer, ApiKey.METADATA, request).topics
    return found


def _are_up(topics: Sequence[Any], partitions: int) -> bool:
    return all(
        topic.error_code == 0
        and len(topic.partitions) == partitions
        and all(partition.leader_id >= 0 for partition in topic.partitions)
        for topic in topics
    )


def _ends(peer: Peer, names: Sequence[str], partitions: int) -> list[int]:
    """Return the error code of ListOffsets for each partition."""
    rows = [ListOffsetsPartition(index, timestamp=-1) for index in range(partitions)]
    topics = [ListOffsetsTopic(name, list(rows)) for name in names]
    request = ListOffsetsRequest(replica_id=-1, topics=topics)
    response = ask_root(peer, ApiKey.LIST_OFFSETS, request, 1)
    return [row.error_code for topic in response.topics for row in topic.partitions]
