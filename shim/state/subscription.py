"""What a consumer's metadata in JoinGroup says: the topics it subscribes to."""

from protocol import codecs
from protocol.errors import ProtocolError
from protocol.messages.consumer_protocol_subscription import ConsumerProtocolSubscription

_NEWEST = 3
"""The newest layout that is known; a later one begins the same way."""


def read(metadata: bytes) -> ConsumerProtocolSubscription | None:
    """The subscription, or None if the bytes are none: a version, then that version's layout."""
    if len(metadata) < 2:
        return None
    version = min(int.from_bytes(metadata[:2], "big", signed=True), _NEWEST)
    if version < 0:
        return None
    try:
        found: ConsumerProtocolSubscription = codecs.read_message(
            ConsumerProtocolSubscription, version, metadata, 2
        )
    except ProtocolError:
        return None
    return found


def topics_of(metadata: bytes) -> frozenset[str] | None:
    """The names of the topics, or None if the bytes are no subscription."""
    found = read(metadata)
    return None if found is None else frozenset(found.topics)
