"""A second, slow implementation of the wire format, with which the compiled codecs must agree.

It interprets the definition of each message, and shares only the definitions and the message
classes with the compiled codecs.
"""

import struct
from typing import Any

from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from tests.protocol.values import default_of

FIXED = {
    "int8": ">b", "int16": ">h", "uint16": ">H", "int32": ">i", "uint32": ">I", "int64": ">q",
    "float64": ">d", "bool": ">?", "uuid": ">16s",
}  # fmt: skip


class DamagedError(Exception):
    pass


class Interpreted:
    def __init__(self, message: MessageSpec, version: int) -> None:
        self.message, self.version = message, version
        self.flexible = message.flexible_versions.has(version)
        self.classes = message_classes_by_name(message.name)

    # --- writing

    def write(self, value: Any) -> bytes:
        return self._write_struct(self.message.top_level_struct, value)

    def _write_struct(self, spec: StructSpec, value: Any) -> bytes:
        out, tagged = b"", dict(value.unknown_tags)
        for field in spec.fields:
            content = getattr(value, field.attribute)
            if not field.versions.has(self.version):
                continue
            if self.flexible and field.tagged_versions.has(self.version):
                if content != self._default(field):
                    tagged[field.tag] = self._write(field, content)
            else:
                out += self._write(field, content)
        if self.flexible:
            out += self._uvarint(len(tagged))
            for tag in sorted(tagged):
                out += self._uvarint(tag) + self._uvarint(len(tagged[tag])) + tagged[tag]
        return out

    def _default(self, field: FieldSpec) -> Any:
        return default_of(field, self.classes)

    def _write(self, field: FieldSpec, value: Any) -> bytes:
        if not field.is_array:
            return self._write_one(field, value, field.nullable_versions.has(self.version))
        if value is None:
            assert field.nullable_versions.has(self.version)
            return self._length(field, None, ">i")
        items = [self._write_one(field, item, False) for item in value]
        return self._length(field, len(value), ">i") + b"".join(items)

    def _write_one(self, field: FieldSpec, value: Any, nullable: bool) -> bytes:
        if field.element_kind in FIXED:
            return struct.pack(FIXED[field.element_kind], value)
        if field.struct:
            if nullable:
                return b"\xff" if value is None else b"\1" + self._write_struct(field.struct, value)
            return self._write_struct(field.struct, value)
        width = ">h" if field.element_kind == "string" else ">i"
        if value is None:
            assert nullable
            return self._length(field, None, width)
        content = value.encode() if field.element_kind == "string" else value
        return self._length(field, len(content), width) + content

    def _length(self, field: FieldSpec, length: int | None, width: str) -> bytes:
        if self.flexible and field.can_be_compact:
            return self._uvarint(0 if length is None else length + 1)
        return struct.pack(width, -1 if length is None else length)

    @staticmethod
    def _uvarint(value: int) -> bytes:
        out = bytearray()
        while value > 127:
            out.append(value % 128 + 128)
            value //= 128
        return bytes(out) + bytes([value])

    # --- reading

    def read(self, data: bytes) -> Any:
        self.data, self.pos = data, 0
        return self._read_struct(self.message.top_level_struct)

    def _take(self, length: int) -> bytes:
        if length < 0 or self.pos + length > len(self.data):
            raise DamagedError(f"{length} bytes at {self.pos}")
        self.pos += length
        return self.data[self.pos - length : self.pos]

    def _read_uvarint(self) -> int:
        value = 0
        for index in range(5):
            byte = self._take(1)[0]
            value |= (byte & 127) << 7 * index
            if byte < 128:
                return value & 0xFFFFFFFF
        raise DamagedError("varint")

    def _read_struct(self, spec: StructSpec) -> Any:
        values: dict[str, Any] = {}
        tagged: dict[int, FieldSpec] = {}
        for field in spec.fields:
            if not field.versions.has(self.version):
                continue
            if self.flexible and field.tagged_versions.has(self.version):
                tagged[field.tag] = field
            else:
                values[field.attribute] = self._read(field)
        unknown = []
        for _ in range(self._read_uvarint() if self.flexible else 0):
            tag, size = self._read_uvarint(), self._read_uvarint()
            if tag in tagged:
                values[tagged[tag].attribute] = self._read(tagged[tag])
            else:
                unknown.append((tag, self._take(size)))
        return self.classes[spec.name](**values, unknown_tags=tuple(unknown))

    def _read(self, field: FieldSpec) -> Any:
        nullable = field.nullable_versions.has(self.version)
        if not field.is_array:
            return self._read_one(field, nullable)
        count = self._read_length(field, ">i")
        if count < 0:
            if not nullable:
                raise DamagedError(f"null {field.name}")
            return None
        if count > len(self.data) - self.pos:
            raise DamagedError(f"{count} elements")
        return [self._read_one(field, False) for _ in range(count)]

    def _read_one(self, field: FieldSpec, nullable: bool) -> Any:
        if field.element_kind in FIXED:
            code = FIXED[field.element_kind]
            return struct.unpack(code, self._take(struct.calcsize(code)))[0]
        if field.struct:
            if nullable and struct.unpack(">b", self._take(1))[0] < 0:
                return None
            return self._read_struct(field.struct)
        length = self._read_length(field, ">h" if field.element_kind == "string" else ">i")
        if length < 0:
            if not nullable:
                raise DamagedError(f"null {field.name}")
            return None
        if field.element_kind != "string":
            return self._take(length)
        if length > 0x7FFF:
            raise DamagedError(f"long {field.name}")
        return self._take(length).decode("utf-8", "kafka-shim-replace")

    def _read_length(self, field: FieldSpec, width: str) -> int:
        if not (self.flexible and field.can_be_compact):
            return int(struct.unpack(width, self._take(struct.calcsize(width)))[0])
        value = self._read_uvarint()
        if value == 1 << 31:
            raise DamagedError("a length that wraps around")
        return value - 1 if value < 1 << 31 else -1
