"""The topics of a cluster, as a client sees them."""

from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.metadata import MetadataRequest


def topic_names(client: Client) -> list[str]:
    """Return the names of the topics that the client may describe, in lexical order."""
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    found = client.send_request(ApiKey.METADATA, request).topics
    return sorted(topic.name for topic in found if topic.name is not None)
