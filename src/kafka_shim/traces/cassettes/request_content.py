"""The content of a request or a record by its fields, what identifies it, and how two differ.

It leaves out what differs between two runs by nature. Fields that a version of an API lacks have
their default values, so a request has the same content in each version that can express it.
"""

import hashlib
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import compress
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.fetch import FetchRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.protocol.records.record_codec import Headers
from kafka_shim.traces.api_kinds import ADMIN_CHANGES
from kafka_shim.traces.identities.message_fields import (
    CLIENT_SETTINGS,
    COMPARED_EXACTLY_ONLY,
    NEVER_COMPARED,
    row_identity,
)

_UNORDERED_SCALARS = frozenset({"string", "int32", "int16", "int8"})
_ORDERED_ROWS = frozenset({"protocols"})
"""Lists by preference: the order of their rows has a meaning."""
_CODES: Mapping[str, type[IntEnum]] = {
    "operation": Operation,
    "permission_type": Permission,
    "resource_pattern_type": PatternType,
    "pattern_type_filter": PatternType,
    "resource_type_filter": ResourceType,
}
_LABEL = re.compile(r"\[[^]]*\]")
_TEXT_MAX = 80


class ContentField(NamedTuple):
    """A field by its path, such as `topics[orders].num_partitions`, whose value has no structs."""

    path: str
    value: Any
    is_compared_exactly_only: bool = False
    is_topic_name: bool = False


class FieldDifference(NamedTuple):
    """A field by its path, and both values as text."""

    field: str
    recorded: str
    sent: str

    def __str__(self) -> str:
        return f"{self.field}: recorded {self.recorded}, sent {self.sent}"


class Content(NamedTuple):
    """What identifies a request by two measures: hashes."""

    exact: bytes
    loose: bytes
    """Without tolerated fields."""


def request_fields(
    message: Any, version: int, topic_names: Mapping[bytes, str]
) -> list[ContentField]:
    """Return the fields that are compared; `topic_names` has the names of topic ids."""
    spec = load_message_spec(type(message).__name__)
    tolerated = CLIENT_SETTINGS if spec.api_key in ADMIN_CHANGES else COMPARED_EXACTLY_ONLY
    struct = spec.top_level_struct
    fields = [
        *_iter_content_fields(struct, message, topic_names, tolerated, "", is_exact_only=False)
    ]
    if isinstance(message, MetadataRequest) and version == 0 and not message.topics:
        # all topics, as null in later versions; clients use it to find the brokers, too
        fields.append(ContentField("topics", None, is_compared_exactly_only=True))
    return fields


def settings_fields(message: Any) -> list[ContentField]:
    """Return the fields of a Produce or Fetch request, apart from its records and partitions."""
    spec = load_message_spec(type(message).__name__).top_level_struct
    plain = StructSpec(spec.name, tuple(field for field in spec.fields if field.struct is None))
    fields = _iter_content_fields(
        plain, message, {}, COMPARED_EXACTLY_ONLY, "", is_exact_only=False
    )
    if not isinstance(message, FetchRequest):
        return [*fields]
    is_tolerated = "partition_max_bytes" in COMPARED_EXACTLY_ONLY
    limits = {row.partition_max_bytes for topic in message.topics for row in topic.partitions}
    return [
        *fields,
        *(ContentField("partition_max_bytes", limit, is_tolerated) for limit in limits),
    ]


def content_of_fields(api_key: int, fields: Iterable[ContentField]) -> Content:
    """Return the content of a request or record with these fields."""
    ordered = sorted(fields, key=lambda field: field.path)
    exact = [digest(field.path, field.value) for field in ordered]
    is_loose = [not field.is_compared_exactly_only for field in ordered]
    return Content(digest(api_key, *exact), digest(api_key, *compress(exact, is_loose)))


def digest(*values: Any) -> bytes:
    """Return a hash of plain values."""
    return hashlib.blake2b(msgspec.msgpack.encode(values), digest_size=12).digest()


def _iter_content_fields(
    spec: StructSpec,
    message: Any,
    topic_names: Mapping[bytes, str],
    tolerated: Container[str],
    path: str,
    *,
    is_exact_only: bool,
) -> Iterator[ContentField]:
    """Yield the fields of a struct whose own path, with a dot at its end, is `path`; `tolerated`
    fields are compared exactly only.

    A topic has its name, in whichever way the request identifies it.
    """
    topic = topic_names.get(getattr(message, "topic_id", b""))
    if topic is not None:
        yield ContentField(f"{path}name", topic, is_exact_only, is_topic_name=True)
    for field in spec.fields:
        value = getattr(message, field.attribute)
        is_topic_name = field.entity_type == "topicName"
        is_name_of_row = is_topic_name and not field.is_array
        if field.attribute in NEVER_COMPARED or (is_name_of_row and topic is not None):
            continue
        field_path = f"{path}{'name' if is_name_of_row else field.attribute}"
        exact_only = is_exact_only or field.attribute in tolerated
        if field.struct is None or value is None:
            if field.is_array and value and field.element_kind in _UNORDERED_SCALARS:
                value = sorted(value)
            yield ContentField(field_path, value, exact_only, is_topic_name)
        else:
            for label, row in _labelled_rows(field, value, topic_names):
                yield from _iter_content_fields(
                    field.struct,
                    row,
                    topic_names,
                    tolerated,
                    f"{field_path}{label}.",
                    is_exact_only=exact_only,
                )


def _labelled_rows(
    field: FieldSpec, value: Any, topic_names: Mapping[bytes, str]
) -> Iterator[tuple[str, Any]]:
    """Yield the rows of a list with their names in brackets, without a name with their number."""
    if not field.is_array:
        yield "", value
        return
    names = [row_identity(row, lambda topic_id: topic_names.get(topic_id, "?")) for row in value]
    if field.attribute in _ORDERED_ROWS or not all(names):
        rows = value if field.attribute in _ORDERED_ROWS else sorted(value, key=repr)
        names = [(number,) for number in range(len(rows))]
    else:
        rows = value
    for name, row in zip(names, rows, strict=True):
        yield f"[{', '.join(map(str, name))}]", row


def field_differences(
    recorded: Sequence[ContentField], sent: Sequence[ContentField], *, is_exact: bool
) -> Iterator[FieldDifference]:
    """Yield the fields that differ, in the order of the message's fields.

    Rows with other names are compared in their order, so that their names differ.
    """
    old, new = (
        {each.path: each.value for each in fields if is_exact or not each.is_compared_exactly_only}
        for fields in (recorded, sent)
    )
    new_only: dict[str, list[Any]] = {}
    for path, value in new.items():
        if path not in old:
            new_only.setdefault(_LABEL.sub("[]", path), []).append(value)
    for path, value in old.items():
        shown, other = path, new.get(path, ...)
        if path not in new and new_only.get(unnamed := _LABEL.sub("[]", path)):
            shown, other = unnamed, new_only[unnamed].pop(0)
        if value != other:
            codes = _CODES.get(path.rpartition(".")[2])
            yield FieldDifference(shown, *(value_text(each, codes) for each in (value, other)))
    for path, values in new_only.items():
        for value in values:
            yield FieldDifference(path, value_text(...), value_text(value))


def value_text(value: Any, codes: type[IntEnum] | None = None) -> str:
    """Return a value for people: bytes as text if they are text, codes by their names, long ones
    shortened.
    """
    if value is ...:
        return "missing"
    if codes is not None and value in codes.__members__.values():
        return codes(value).name
    if isinstance(value, bytes):
        try:
            text = repr(value.decode())
        except UnicodeDecodeError:
            text = f"0x{value.hex()}"
    elif isinstance(value, tuple):
        text = ", ".join(f"{value_text(key)}={value_text(each)}" for key, each in value) or "none"
    else:
        text = "null" if value is None else repr(value)
    return text if len(text) <= _TEXT_MAX else f"{text[: _TEXT_MAX - 3]}..."


class RecordContent(NamedTuple):
    """A record in a partition. Its producer chooses the partition, unless it has a key."""

    topic: str
    partition: int
    key: bytes | None
    value: bytes | None
    headers: Headers

    @property
    def fields(self) -> list[ContentField]:
        """The fields that two records are compared by."""
        names = "topic_data[].name", "partition", "key of the record", "value of the record"
        topic, partition, *others = map(ContentField, (*names, "headers of the record"), self)
        return [topic, partition._replace(is_compared_exactly_only=True), *others]

    @property
    def text(self) -> str:
        return f"key {value_text(self.key)}, value {value_text(self.value)}"


def records_in_complete_batches(
    topic: str, partition: int, blob: bytes | None
) -> list[RecordContent]:
    """Return the records of all batches. Raise ProtocolError for damaged ones."""
    return [
        RecordContent(topic, partition, each.key, each.value, each.headers)
        for batch in complete_batches(blob)
        for each in batch.records()
    ]
