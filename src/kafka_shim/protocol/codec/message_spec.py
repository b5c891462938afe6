"""A message definition as types: the fields of each version, and their wire types."""

import re
from functools import cache
from typing import NamedTuple

import msgspec

from kafka_shim.schemas import definition_text

TOP_VERSION = 1 << 15
ZERO_UUID = bytes(16)
INTEGERS = {"int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8}
"""Width in bytes of each integer type."""


class VersionRange(NamedTuple):
    """Versions from `low` to `high`, inclusive; none if `high` is below `low`."""

    low: int
    high: int

    def has(self, version: int) -> bool:
        return self.low <= version <= self.high

    @property
    def text(self) -> str:
        """Return the versions in Kafka's spelling."""
        if self.high < self.low:
            return "none"
        if self.high == TOP_VERSION:
            return f"{self.low}+"
        return str(self.low) if self.low == self.high else f"{self.low}-{self.high}"


NONE = VersionRange(0, -1)
ALL = VersionRange(0, TOP_VERSION)


def parse_version_range(text: str | None) -> VersionRange:
    """Parse Kafka's spelling: `none`, `3`, `0-4` or `2+`."""
    if text is None or text == "none":
        return NONE
    if text.endswith("+"):
        return VersionRange(int(text[:-1]), TOP_VERSION)
    low, _, high = text.partition("-")
    return VersionRange(int(low), int(high or low))


class FieldSpec(NamedTuple):
    """One field: `element_kind` is a wire type (`int8`, `string`, `uuid`, ...) or `struct`."""

    name: str
    attribute: str
    element_kind: str
    is_array: bool
    struct: "StructSpec | None"
    versions: VersionRange
    nullable_versions: VersionRange
    tagged_versions: VersionRange
    tag: int
    default: object
    """Kafka's default: a value, None for null, `[]` for an array, `...` for an empty struct."""
    is_ignorable: bool
    can_be_compact: bool
    entity_type: str

    @property
    def may_be_null(self) -> bool:
        return self.nullable_versions.low <= self.nullable_versions.high or self.default is None


class StructSpec(NamedTuple):
    """A message's own fields, or those of a struct inside it."""

    name: str
    fields: tuple[FieldSpec, ...]


class MessageSpec(NamedTuple):
    """A message in all its versions; `structs_inner_first` holds every struct."""

    name: str
    type: str
    api_key: int
    versions: VersionRange
    flexible_versions: VersionRange
    structs_inner_first: tuple[StructSpec, ...]

    @property
    def top_level_struct(self) -> StructSpec:
        return self.structs_inner_first[-1]


class _FieldJson(msgspec.Struct, rename="camel"):
    name: str
    type: str
    versions: str
    nullable_versions: str | None = None
    tagged_versions: str | None = None
    tag: int = -1
    flexible_versions: str | None = None
    default: str | None = None
    ignorable: bool = False
    entity_type: str = ""
    fields: list["_FieldJson"] = []


class _CommonStructJson(msgspec.Struct):
    name: str
    fields: list[_FieldJson]


class _MessageJson(msgspec.Struct, rename="camel"):
    name: str
    type: str
    valid_versions: str
    flexible_versions: str
    fields: list[_FieldJson]
    api_key: int = -1
    common_structs: list[_CommonStructJson] = []


def snake_case(name: str) -> str:
    """Convert a name of Kafka to snake_case: `TopicId` is `topic_id`, `timeoutMs` `timeout_ms`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


def message_module_name(message_name: str) -> str:
    """Return the module of protocol.messages with this message: an API has one for both."""
    return snake_case(message_name.removesuffix("Request").removesuffix("Response"))


def struct_class_name(struct_name: str, message_name: str) -> str:
    """Return the name of a struct's class where request and response have one of this name."""
    return f"{'Request' if message_name.endswith('Request') else 'Response'}{struct_name}"


@cache
def load_message_spec(name: str) -> MessageSpec:
    """Return a message's definition by its full name, such as `CreateAclsRequest`."""
    raw = msgspec.json.decode(definition_text(name), type=_MessageJson)
    builder = _SpecBuilder({struct.name: struct.fields for struct in raw.common_structs})
    builder.build_struct(raw.name, raw.fields)
    return MessageSpec(
        raw.name,
        raw.type,
        raw.api_key,
        parse_version_range(raw.valid_versions),
        parse_version_range(raw.flexible_versions),
        tuple(builder.specs_by_name.values()),
    )


class _SpecBuilder:
    """Turns raw fields into specs, each struct once and the inner ones first."""

    def __init__(self, common_struct_fields: dict[str, list[_FieldJson]]) -> None:
        self._common_struct_fields = common_struct_fields
        self.specs_by_name: dict[str, StructSpec] = {}

    def build_struct(self, name: str, raw_fields: list[_FieldJson]) -> StructSpec:
        if name not in self.specs_by_name:
            fields = tuple(self._build_field(field) for field in raw_fields)
            self.specs_by_name[name] = StructSpec(name, fields)
        return self.specs_by_name[name]

    def _build_field(self, raw_field: _FieldJson) -> FieldSpec:
        type_name = raw_field.type.removeprefix("[]")
        struct = None
        if type_name[0].isupper():
            struct = self.build_struct(
                type_name, raw_field.fields or self._common_struct_fields[type_name]
            )
        element_kind = "struct" if struct else type_name
        is_array = raw_field.type.startswith("[]")
        return FieldSpec(
            name=raw_field.name,
            attribute=snake_case(raw_field.name),
            element_kind=element_kind,
            is_array=is_array,
            struct=struct,
            versions=parse_version_range(raw_field.versions),
            nullable_versions=parse_version_range(raw_field.nullable_versions),
            tagged_versions=parse_version_range(raw_field.tagged_versions),
            tag=raw_field.tag,
            default=_parse_default(element_kind, raw_field.default, is_array=is_array),
            is_ignorable=raw_field.ignorable,
            can_be_compact=raw_field.flexible_versions != "none",
            entity_type=raw_field.entity_type,
        )


_EMPTY: dict[str, object] = {
    "bytes": b"",
    "records": None,  # in Kafka, records are never empty
    "uuid": ZERO_UUID,
    "float64": 0.0,
    "struct": ...,
}


def _parse_default(element_kind: str, default_text: str | None, *, is_array: bool) -> object:
    if default_text == "null":
        return None
    if is_array:
        return []
    if element_kind in INTEGERS:
        return int(default_text, 0) if default_text else 0
    if element_kind == "bool":
        return default_text == "true"
    if element_kind == "string":
        return default_text or ""
    return _EMPTY[element_kind]
