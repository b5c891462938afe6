"""Reads the partitions that a request names, for all APIs."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.protocol.codec.catalogue import api_name, message_spec_of_version
from kafka_shim.protocol.codec.codecs import message_reader
from kafka_shim.protocol.codec.message_spec import ZERO_UUID, FieldSpec, StructSpec

_FIELDS = {"Index", "Partition", "PartitionIndex", "PartitionIndexes", "Partitions"}
"""Names of the field with a partition's number, below a topic."""

_STRUCTS_WITHOUT_ACCESS = {"Cursor", "ForgottenTopic"}
"""Structs whose partitions are mentioned but not accessed."""

Topic = str | bytes
"""A name, or an id of 16 bytes."""


def read_request_partitions(
    api_key: int, version: int, frame: bytes, pos: int
) -> list[tuple[Topic, int]]:
    """Return the topics with partitions in the request whose body starts at `pos`, in its order.

    Raise DecodeError for an unreadable body.
    """
    name = f"{api_name(api_key)}Request"
    return list(
        _iterate_partitions(
            message_reader(name, version)(frame, pos),
            message_spec_of_version(name, version).top_level_struct,
            None,
        )
    )


def can_name_partitions(api_key: int, version: int) -> bool:
    """Return whether requests of an API can name a partition."""
    spec = message_spec_of_version(f"{api_name(api_key)}Request", version)
    return any(
        field.element_kind == "int32" and field.name in _FIELDS and field.versions.has(version)
        for struct in (spec.top_level_struct, *spec.structs_inner_first)
        if struct.name not in _STRUCTS_WITHOUT_ACCESS
        for field in struct.fields
    )


def _iterate_partitions(
    message: Any, struct: StructSpec, topic: Topic | None
) -> Iterator[tuple[Topic, int]]:
    for field in struct.fields:
        topic = _topic_of_field(field, getattr(message, field.attribute)) or topic
    for field in struct.fields:
        value = getattr(message, field.attribute)
        if field.struct is not None:
            if field.struct.name not in _STRUCTS_WITHOUT_ACCESS:
                for inner in (value or ()) if field.is_array else (value,):
                    if inner is not None:
                        yield from _iterate_partitions(inner, field.struct, topic)
        elif topic is not None and field.element_kind == "int32" and field.name in _FIELDS:
            for partition in (value or ()) if field.is_array else (value,):
                yield topic, partition


def _topic_of_field(field: FieldSpec, value: Any) -> Topic | None:
    """Return the topic of an element: its name if the version has one, else its id."""
    if field.is_array or not value:
        return None
    if field.entity_type == "topicName":
        return str(value)
    return bytes(value) if field.name == "TopicId" and value != ZERO_UUID else None
