"""The wire format of one version of a message: its fields, their widths and their order."""

from functools import cached_property

from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec

CODES = {
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "bool": "?",
    "uuid": "16s",
}
"""struct codes of the types with fixed width."""
WIDTHS = {"b": 1, "B": 1, "?": 1, "x": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}


class Layout:
    """A message in one version."""

    def __init__(self, message: MessageSpec, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def is_flexible(self) -> bool:
        return self.message.flexible.has(self.version)

    @property
    def title(self) -> str:
        return f"{self.message.name} v{self.version}"

    def has(self, field: FieldSpec) -> bool:
        return field.versions.has(self.version)

    def is_tagged(self, field: FieldSpec) -> bool:
        return self.is_flexible and field.tagged.has(self.version)

    def is_nullable(self, field: FieldSpec) -> bool:
        return field.nullable.has(self.version)

    def is_compact(self, field: FieldSpec) -> bool:
        return self.is_flexible and field.can_be_compact

    def plain(self, struct: StructSpec) -> list[FieldSpec]:
        """Return the fields that are always written, in order."""
        return [f for f in struct.fields if self.has(f) and not self.is_tagged(f)]

    def tagged(self, struct: StructSpec) -> list[FieldSpec]:
        """Return the fields of the tag section, in order."""
        tagged_fields = [f for f in struct.fields if self.has(f) and self.is_tagged(f)]
        return sorted(tagged_fields, key=lambda field: field.tag)

    def absent(self, struct: StructSpec) -> list[FieldSpec]:
        return [f for f in struct.fields if not self.has(f)]

    def minimum_bytes(self, struct: StructSpec) -> int:
        """Return the minimum size of the struct in bytes; 1 without fields."""
        total = sum(self._minimum(field) for field in self.plain(struct))
        return max(1, total + self.is_flexible)

    def element_minimum(self, field: FieldSpec) -> int:
        """Return the minimum size of an array element in bytes."""
        if field.struct:
            return self.minimum_bytes(field.struct)
        return self._width(field)

    def _minimum(self, field: FieldSpec) -> int:
        if field.is_array:
            return 1 if self.is_compact(field) else 4
        if field.struct:
            return 1 if self.is_nullable(field) else self.minimum_bytes(field.struct)
        return self._width(field)

    def _width(self, field: FieldSpec) -> int:
        if field.kind in CODES:
            return WIDTHS[CODES[field.kind]]
        if self.is_compact(field):
            return 1
        return 2 if field.kind == "string" else 4

    def stride(self, struct: StructSpec) -> str | None:
        """Return the struct codes of a struct with only fixed-width fields, else None."""
        fields = self.plain(struct)
        fixed = all(f.kind in CODES and not f.is_array for f in fields)
        if not fields or not fixed or self.tagged(struct):
            return None
        return "".join(CODES[f.kind] for f in fields)
