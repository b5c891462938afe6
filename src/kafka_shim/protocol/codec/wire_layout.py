"""The wire format of one version of a message: its fields, their widths and their order."""

from functools import cached_property

from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec

STRUCT_CODES = {
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
STRUCT_CODE_WIDTHS = {
    "b": 1,
    "B": 1,
    "?": 1,
    "x": 1,
    "h": 2,
    "H": 2,
    "i": 4,
    "I": 4,
    "q": 8,
    "d": 8,
    "16s": 16,
}


class WireLayout:
    """A message in one version."""

    def __init__(self, message: MessageSpec, version: int) -> None:
        self.message = message
        self.version = version

    @cached_property
    def is_flexible(self) -> bool:
        return self.message.flexible_versions.has(self.version)

    @property
    def name_with_version(self) -> str:
        return f"{self.message.name} v{self.version}"

    def has_field(self, field: FieldSpec) -> bool:
        return field.versions.has(self.version)

    def is_tagged(self, field: FieldSpec) -> bool:
        return self.is_flexible and field.tagged_versions.has(self.version)

    def is_nullable(self, field: FieldSpec) -> bool:
        return field.nullable_versions.has(self.version)

    def first_byte_of_null_struct(self, field: FieldSpec) -> int:
        """Return the byte that stands for a null struct: -1, but 0 in tagged fields."""
        return 0 if field.tagged_versions.has(self.version) else 255

    def is_compact(self, field: FieldSpec) -> bool:
        return self.is_flexible and field.can_be_compact

    def untagged_fields(self, struct: StructSpec) -> list[FieldSpec]:
        """Return the fields that are always written, in order."""
        return [f for f in struct.fields if self.has_field(f) and not self.is_tagged(f)]

    def tagged_fields(self, struct: StructSpec) -> list[FieldSpec]:
        """Return the fields of the tag section, in order."""
        tagged_fields = [f for f in struct.fields if self.has_field(f) and self.is_tagged(f)]
        return sorted(tagged_fields, key=lambda field: field.tag)

    def fields_not_in_version(self, struct: StructSpec) -> list[FieldSpec]:
        return [f for f in struct.fields if not self.has_field(f)]

    def min_struct_bytes(self, struct: StructSpec) -> int:
        """Return the minimum size of the struct in bytes; 1 without fields."""
        total = sum(self._min_field_bytes(field) for field in self.untagged_fields(struct))
        return max(1, total + self.is_flexible)

    def min_element_bytes(self, field: FieldSpec) -> int:
        """Return the minimum size of an array element in bytes."""
        if field.struct:
            return self.min_struct_bytes(field.struct)
        return self._min_scalar_bytes(field)

    def _min_field_bytes(self, field: FieldSpec) -> int:
        if field.is_array:
            return 1 if self.is_compact(field) else 4
        if field.struct:
            return 1 if self.is_nullable(field) else self.min_struct_bytes(field.struct)
        return self._min_scalar_bytes(field)

    def _min_scalar_bytes(self, field: FieldSpec) -> int:
        if field.element_kind in STRUCT_CODES:
            return STRUCT_CODE_WIDTHS[STRUCT_CODES[field.element_kind]]
        if self.is_compact(field):
            return 1
        return 2 if field.element_kind == "string" else 4

    def fixed_width_struct_codes(self, struct: StructSpec) -> str | None:
        """Return the struct codes of a struct with only fixed-width fields, else None."""
        fields = self.untagged_fields(struct)
        fixed = all(f.element_kind in STRUCT_CODES and not f.is_array for f in fields)
        if not fields or not fixed or self.tagged_fields(struct):
            return None
        return "".join(STRUCT_CODES[f.element_kind] for f in fields)
