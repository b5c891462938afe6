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


def version_range(text: str | None) -> VersionRange:
    """Parse Kafka's spelling: `none`, `3`, `0-4` or `2+`."""
    if text is None or text == "none":
        return NONE
    if text.endswith("+"):
        return VersionRange(int(text[:-1]), TOP_VERSION)
    low, _, high = text.partition("-")
    return VersionRange(int(low), int(high or low))


class FieldSpec(NamedTuple):
    """One field: `kind` is a wire type (`int8`, `string`, `uuid`, ...) or `struct`."""

    name: str
    attribute: str
    kind: str
    is_array: bool
    struct: "StructSpec | None"
    versions: VersionRange
    nullable: VersionRange
    tagged: VersionRange
    tag: int
    default: object
    """Kafka's default: a value, None for null, `[]` for an array, `...` for an empty struct."""
    is_ignorable: bool
    can_be_compact: bool
    entity: str

    @property
    def type_name(self) -> str:
        """Kafka's name of the element type, such as `int32` or `AclCreation`."""
        return self.struct.name if self.struct else self.kind

    @property
    def is_ever_null(self) -> bool:
        return self.nullable.low <= self.nullable.high or self.default is None


class StructSpec(NamedTuple):
    """A message's own fields, or those of a struct inside it."""

    name: str
    fields: tuple[FieldSpec, ...]


class MessageSpec(NamedTuple):
    """A message in all its versions; `structs` holds every struct, the inner ones first."""

    name: str
    type: str
    api_key: int
    versions: VersionRange
    flexible: VersionRange
    structs: tuple[StructSpec, ...]

    @property
    def struct(self) -> StructSpec:
        return self.structs[-1]


class _Field(msgspec.Struct, rename="camel"):
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
    fields: list["_Field"] = []


class _Struct(msgspec.Struct):
    name: str
    fields: list[_Field]


class _Message(msgspec.Struct, rename="camel"):
    name: str
    type: str
    valid_versions: str
    flexible_versions: str
    fields: list[_Field]
    api_key: int = -1
    common_structs: list[_Struct] = []


def snake_case(name: str) -> str:
    """Convert a name of Kafka to snake_case: `TopicId` is `topic_id`, `timeoutMs` `timeout_ms`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return spaced.lower()


@cache
def load_message_spec(name: str) -> MessageSpec:
    """Return a message's definition by its full name, such as `CreateAclsRequest`."""
    raw = msgspec.json.decode(definition_text(name), type=_Message)
    builder = _SpecBuilder({struct.name: struct.fields for struct in raw.common_structs})
    builder.struct(raw.name, raw.fields)
    return MessageSpec(
        raw.name,
        raw.type,
        raw.api_key,
        version_range(raw.valid_versions),
        version_range(raw.flexible_versions),
        tuple(builder.built.values()),
    )


class _SpecBuilder:
    """Turns raw fields into specs, each struct once and the inner ones first."""

    def __init__(self, common: dict[str, list[_Field]]) -> None:
        self._common = common
        self.built: dict[str, StructSpec] = {}

    def struct(self, name: str, raw: list[_Field]) -> StructSpec:
        if name not in self.built:
            fields = tuple(self._field(field) for field in raw)
            self.built[name] = StructSpec(name, fields)
        return self.built[name]

    def _field(self, raw: _Field) -> FieldSpec:
        type_name = raw.type.removeprefix("[]")
        struct = None
        if type_name[0].isupper():
            struct = self.struct(type_name, raw.fields or self._common[type_name])
        kind = "struct" if struct else type_name
        is_array = raw.type.startswith("[]")
        return FieldSpec(
            name=raw.name,
            attribute=snake_case(raw.name),
            kind=kind,
            is_array=is_array,
            struct=struct,
            versions=version_range(raw.versions),
            nullable=version_range(raw.nullable_versions),
            tagged=version_range(raw.tagged_versions),
            tag=raw.tag,
            default=_parse_default(kind, raw.default, is_array=is_array),
            is_ignorable=raw.ignorable,
            can_be_compact=raw.flexible_versions != "none",
            entity=raw.entity_type,
        )


_EMPTY: dict[str, object] = {
    "bytes": b"",
    "records": None,  # in Kafka, records are never empty
    "uuid": ZERO_UUID,
    "float64": 0.0,
    "struct": ...,
}


def _parse_default(kind: str, text: str | None, *, is_array: bool) -> object:
    if text == "null":
        return None
    if is_array:
        return []
    if kind in INTEGERS:
        return int(text, 0) if text else 0
    if kind == "bool":
        return text == "true"
    if kind == "string":
        return text or ""
    return _EMPTY[kind]
