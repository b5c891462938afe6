"""A thing that a response shows to exist, and at which broker."""

from typing import NamedTuple

from kafka_shim.trace_format.entries import Connection

TOPIC, TRANSACTION, OFFSETS = "topic", "transaction", "offsets"
GROUP, CONSUMER_GROUP = "group", "consumer group"
"""A group of any type, and one that is surely of `CONSUMER_TYPES`."""
CONSUMER_TYPES = ("classic", "consumer")


class ObservedEntity(NamedTuple):
    """`topic_id` is a topic's, `owner` the group of offsets, whose name is the topic's."""

    kind: str
    name: str
    owner: str = ""
    topic_id: str = ""


def broker_of_connection(connection: Connection) -> str:
    """Return the broker of a connection, as far as the connection shows it."""
    return f"{connection.node_id} {connection.listener}"
