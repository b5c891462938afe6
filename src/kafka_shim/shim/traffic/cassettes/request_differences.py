"""The differences between a recorded request and another one, field by field."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.shim.traffic.cassettes.request_content import (
    COMPARED_EXACTLY_ONLY,
    NEVER_COMPARED,
    records_in_complete_batches,
)
from kafka_shim.shim.traffic.identities.message_fields import NO_ID, row_identity

MISSING = "missing"
_TEXT_MAX = 80


class FieldDifference(NamedTuple):
    """A field by its path, such as `topics[orders].num_partitions`, and both values as text."""

    field: str
    recorded: str
    sent: str

    def __str__(self) -> str:
        return f"{self.field}: recorded {self.recorded}, sent {self.sent}"


def loose_content_differences(
    recorded: Any, sent: Any, topic_names: Mapping[bytes, str]
) -> Iterator[FieldDifference]:
    """Yield the fields that differ in meaning, in the order of the message's fields."""
    spec = load_message_spec(type(recorded).__name__).top_level_struct
    put_aside = NEVER_COMPARED | COMPARED_EXACTLY_ONLY
    return _RequestComparison(topic_names, put_aside).struct_differences(spec, recorded, sent, "")


def exact_content_differences(
    recorded: Any, sent: Any, topic_names: Mapping[bytes, str]
) -> Iterator[FieldDifference]:
    """Yield all fields that differ, also those of which the matching takes no notice."""
    spec = load_message_spec(type(recorded).__name__).top_level_struct
    return _RequestComparison(topic_names, NEVER_COMPARED).struct_differences(
        spec, recorded, sent, ""
    )


class _RequestComparison:
    """Compares two requests of the same API, without the fields that are put aside."""

    def __init__(self, topic_names: Mapping[bytes, str], ignored_fields: frozenset[str]) -> None:
        self._topic_names = topic_names
        self._put_aside = ignored_fields

    def struct_differences(
        self, spec: StructSpec, recorded: Any, sent: Any, path: str
    ) -> Iterator[FieldDifference]:
        recorded_topic, sent_topic = (
            self._topic_name_or_empty(recorded),
            self._topic_name_or_empty(sent),
        )
        if recorded_topic != sent_topic:
            yield FieldDifference(f"{path}.name".lstrip("."), recorded_topic, sent_topic)
        for field in spec.fields:
            if field.attribute in self._put_aside or (
                field.entity_type == "topicName" and (not field.is_array and recorded_topic)
            ):
                continue
            values = getattr(recorded, field.attribute), getattr(sent, field.attribute)
            if values[0] != values[1]:
                field_path = f"{path}.{field.attribute}".lstrip(".")
                yield from self._value_differences(field, *values, field_path)

    def _topic_name_or_empty(self, row: Any) -> str:
        """Return the name of a row that is a topic, also if it has only the id."""
        topic_id = getattr(row, "topic_id", None)
        if topic_id is None or topic_id in NO_ID:
            return str(getattr(row, "topic", "") or "") if hasattr(row, "topic_id") else ""
        return self._topic_names.get(topic_id, topic_id.hex())

    def _value_differences(
        self, field: FieldSpec, recorded: Any, sent: Any, path: str
    ) -> Iterator[FieldDifference]:
        if field.element_kind == "records":
            yield from _record_differences(recorded, sent, path)
        elif field.struct is None or recorded is None or sent is None:
            if field.is_array and recorded and sent and sorted(recorded) == sorted(sent):
                return
            yield FieldDifference(path, value_text(recorded), value_text(sent))
        elif field.is_array:
            yield from self._row_differences(field.struct, recorded, sent, path)
        else:
            yield from self.struct_differences(field.struct, recorded, sent, path)

    def _row_differences(
        self, spec: StructSpec, recorded: list[Any], sent: list[Any], path: str
    ) -> Iterator[FieldDifference]:
        """Compare rows with the same name; the others in their order, so that names differ."""
        unnamed = {self._row_name(row): row for row in sent}
        recorded_only = []
        for row in recorded:
            name = self._row_name(row)
            if (other := unnamed.pop(name, None)) is None:
                recorded_only.append(row)
            else:
                yield from self.struct_differences(spec, row, other, f"{path}[{_short(name)}]")
        sent_only = list(unnamed.values())
        for row, other in zip(recorded_only, sent_only, strict=False):
            yield from self.struct_differences(spec, row, other, f"{path}[]")
        for row in recorded_only[len(sent_only) :]:
            yield FieldDifference(f"{path}[{_short(self._row_name(row))}]", "an element", MISSING)
        for row in sent_only[len(recorded_only) :]:
            yield FieldDifference(f"{path}[{_short(self._row_name(row))}]", MISSING, "an element")

    def _row_name(self, row: Any) -> object:
        topic = self._topic_name_or_empty(row)
        if topic:
            return (topic,)
        return row_identity(row, lambda topic_id: topic_id)


def _record_differences(
    recorded: bytes | None, sent: bytes | None, path: str
) -> Iterator[FieldDifference]:
    try:
        both = records_in_complete_batches(recorded), records_in_complete_batches(sent)
    except ProtocolError as error:
        yield FieldDifference(path, "records", f"unreadable records: {error}")
        return
    for number, (old, new) in enumerate(zip(*both, strict=False)):
        for name in ("key", "value", "headers"):
            if getattr(old, name) != getattr(new, name):
                values = value_text(getattr(old, name)), value_text(getattr(new, name))
                yield FieldDifference(f"{path}[{number}].{name}", *values)
    if len(both[0]) != len(both[1]):
        counts = (f"{len(each)} records" for each in both)
        yield FieldDifference(path, *counts)


def value_text(value: Any) -> str:
    """Return a value for people: bytes as text if they are text, long ones shortened."""
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


def _short(name: object) -> str:
    if isinstance(name, tuple):
        return ", ".join(str(part) for part in name)[:_TEXT_MAX]
    return str(name)[:_TEXT_MAX]
