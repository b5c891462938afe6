"""Makes messages of any type and version with random values from a seed."""

from collections.abc import Mapping
from random import Random
from typing import Any

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import (
    FieldSpec,
    MessageSpec,
    StructSpec,
    load_message_spec,
)
from kafka_shim.schemas import message_names

ALL_NAMES = message_names()
BITS = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}
TEXTS = ("", "a", "orders", "äöü ☃ 𝄞", "x" * 126, "x" * 127, "y" * 128, "z" * 300)
LENGTHS = (0, 1, 1, 2, 2, 3, 7, 8, 9, 12)


def versions_of(name: str) -> range:
    low, high = load_message_spec(name).versions
    return range(low, high + 1)


def default_of(field: FieldSpec, types: Mapping[str, Any]) -> Any:
    """Return a field's default; for a struct, an object of its class with default fields."""
    if field.default is not ...:
        return field.default
    assert field.struct is not None
    return types[field.struct.name]()


class Values:
    """Makes messages that a version can encode; `plain` messages have no unknown tags."""

    def __init__(self, seed: object, *, plain: bool = False) -> None:
        self.random = Random(str(seed))
        self.plain = plain

    def message(self, spec: MessageSpec, version: int) -> Any:
        self._version = version
        self._flexible = spec.flexible_versions.has(version)
        self._classes = message_classes_by_name(spec.name)
        self._budget = 400  # maximal number of structs, which limits nesting
        return self._struct(spec.top_level_struct)

    def _struct(self, spec: StructSpec) -> Any:
        self._budget -= 1
        values = {
            field.attribute: self._field(field)
            for field in spec.fields
            if field.versions.has(self._version) and not self._stays_default(field)
        }
        if self._flexible and not self.plain and self.random.random() < 0.15:
            tags = self.random.sample([50, 127, 128, 1 << 20], self.random.randint(1, 3))
            values["unknown_tags"] = tuple((t, self._bytes()) for t in sorted(tags))
        return self._classes[spec.name](**values)

    def _stays_default(self, field: FieldSpec) -> bool:
        tagged = self._flexible and field.tagged_versions.has(self._version)
        return tagged and self.random.random() < 0.5

    def _field(self, field: FieldSpec) -> Any:
        if field.nullable_versions.has(self._version) and self.random.random() < 0.25:
            return None
        if not field.is_array:
            return self._single(field)
        if field.struct:
            count = 0 if self._budget <= 0 else self.random.choice(LENGTHS)
        else:
            count = self.random.choice((*LENGTHS, 63, 64, 65, 126, 127, 128, 200))
        return [self._single(field) for _ in range(count)]

    def _single(self, field: FieldSpec) -> Any:
        if field.struct:
            return self._struct(field.struct)
        if field.element_kind in BITS:
            return self._integer(field)
        make = {
            "bool": lambda: self.random.random() < 0.5,
            "float64": lambda: self.random.choice((0.0, -1.5, 1e300, self.random.random())),
            "uuid": lambda: self.random.choice((bytes(16), self.random.randbytes(16))),
            "string": lambda: self.random.choice(TEXTS),
        }
        return make.get(field.element_kind, self._bytes)()

    def _integer(self, field: FieldSpec) -> int:
        bits = BITS[field.element_kind]
        low = 0 if field.element_kind.startswith("u") else -(1 << bits - 1)
        high = low + (1 << bits) - 1
        return self.random.choice((0, 1, max(-1, low), low, high, self.random.randint(low, high)))

    def _bytes(self) -> bytes:
        return self.random.randbytes(self.random.choice((0, 1, 5, 126, 127, 128, 400)))
