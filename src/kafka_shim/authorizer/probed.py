"""Decisions shown by authorized operations in responses (KIP-430): one per operation."""

from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.model import Action
from kafka_shim.authorizer.operations import supported_operations
from kafka_shim.protocol.enums import CLUSTER_NAME, NO_OPERATIONS, ApiKey, ResourceType

_GROUPS: Final = ("groups", "group_id", "authorized_operations", ResourceType.GROUP)
_TOPICS: Final = ("topics", "name", "topic_authorized_operations", ResourceType.TOPIC)
_ELEMENTS: Final = {
    ApiKey.METADATA: _TOPICS,
    ApiKey.DESCRIBE_TOPIC_PARTITIONS: _TOPICS,
    ApiKey.DESCRIBE_GROUPS: _GROUPS,
    ApiKey.CONSUMER_GROUP_DESCRIBE: _GROUPS,
    ApiKey.SHARE_GROUP_DESCRIBE: _GROUPS,
    ApiKey.STREAMS_GROUP_DESCRIBE: _GROUPS,
}
_CLUSTER: Final = (ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER)


def probed(api_key: int, response: Any, release: str) -> Iterator[tuple[Action, bool]]:
    """Yield the checks for the authorized operations in a response, with their decisions."""
    if api_key in _CLUSTER and response.cluster_authorized_operations:
        bits = response.cluster_authorized_operations
        yield from _decided(bits, ResourceType.CLUSTER, CLUSTER_NAME, release)
    if api_key in _ELEMENTS:
        elements, name, field, kind = _ELEMENTS[ApiKey(api_key)]
        for element in getattr(response, elements):
            bits = getattr(element, field)
            yield from _decided(bits, kind, getattr(element, name), release)


def _decided(
    bits: int, kind: ResourceType, name: str | None, release: str
) -> Iterator[tuple[Action, bool]]:
    if bits == NO_OPERATIONS or name is None:
        return
    for operation in supported_operations(kind, acl_rules_of_release(release)):
        yield Action(operation, kind, name), bool(bits >> operation & 1)
