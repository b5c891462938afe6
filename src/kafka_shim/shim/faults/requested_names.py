"""The names in a request, for the conditions of faults."""

from functools import cached_property
from typing import TYPE_CHECKING

from kafka_shim.protocol.errors import ProtocolError

_TOPIC = 2
"""The type of a config resource."""

if TYPE_CHECKING:
    from kafka_shim.protocol.codec.resource_names import ResourceNames
    from kafka_shim.shim.request.context import RequestContext


class RequestedNames:
    """Names, searched only if a fault needs them; a request that cannot be decoded has none."""

    def __init__(self, context: "RequestContext", frame: bytes, body_at: int) -> None:
        self._context = context
        self._frame = frame
        self._body_at = body_at

    @property
    def topics(self) -> list[str]:
        return [
            *self._resource_names.topics,
            *self._existing_topic_names(self._resource_names.topic_ids),
            *(name for kind, name in self._resource_names.config_resources if kind == _TOPIC),
        ]

    @property
    def groups(self) -> list[str]:
        return self._resource_names.groups

    @property
    def transactional_ids(self) -> list[str]:
        return self._resource_names.transactional_ids

    @cached_property
    def partitions(self) -> set[tuple[str, int]]:
        """Return topic and index of every partition in the request."""
        from kafka_shim.protocol.partitions import read_request_partitions  # noqa: PLC0415 - faults are rare

        header = self._context.header
        try:
            requested = read_request_partitions(
                header.api_key, header.api_version, self._frame, self._body_at
            )
        except ProtocolError:
            return set()
        return {
            (name, partition)
            for topic, partition in requested
            for name in ([topic] if isinstance(topic, str) else self._existing_topic_names([topic]))
        }

    def _existing_topic_names(self, topic_ids: list[bytes]) -> list[str]:
        topics = self._context.cluster.topics
        topics_by_id = [topics.by_id(topic_id) for topic_id in topic_ids]
        return [topic.name for topic in topics_by_id if topic is not None]

    @cached_property
    def _resource_names(self) -> "ResourceNames":
        from kafka_shim.protocol.codec.resource_names import ResourceNames, read_resource_names  # noqa: PLC0415 - as above

        header = self._context.header
        try:
            return read_resource_names(
                header.api_key, header.api_version, self._frame, self._body_at
            )
        except ProtocolError:
            return ResourceNames()
