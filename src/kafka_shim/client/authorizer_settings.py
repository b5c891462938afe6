"""The settings that decide besides ACLs, as far as a broker returns them."""

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE, SUPER_USERS
from kafka_shim.client.client import Client
from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.protocol.messages.metadata import MetadataRequest

DEFAULTS = {ALLOW_EVERYONE: "false", SUPER_USERS: ""}
"""What applies on a broker that does not set them."""


def describe_authorizer_settings(client: Client) -> dict[str, str | None]:
    """Return the values of the broker; None for a value that it does not return.

    Real brokers (4.4.0, 2.8.2) list such a setting as sensitive, so without its value, and leave it
    out if it is not set; releases before 1.1, which have only version 0, never list it. A broker
    describes only itself, so the request names all, and the others are errors in the response.
    """
    unknown: dict[str, str | None] = dict.fromkeys(DEFAULTS)
    if client.versions.get(ApiKey.DESCRIBE_CONFIGS, (0, 0))[1] == 0:
        return unknown
    nodes = client.send_request(
        ApiKey.METADATA, MetadataRequest(topics=[], allow_auto_topic_creation=False)
    ).brokers
    resources = [
        DescribeConfigsResource(ConfigResourceType.BROKER, str(node.node_id), list(DEFAULTS))
        for node in nodes
    ]
    request = DescribeConfigsRequest(resources)
    for result in client.send_request(ApiKey.DESCRIBE_CONFIGS, request).results:
        if result.error_code == ErrorCode.NONE:
            return DEFAULTS | {entry.name: entry.value for entry in result.configs}
    return unknown
