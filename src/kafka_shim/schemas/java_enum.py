"""The constants of a Java enum and their codes, read from a class file without Java.

An enum's static initialiser makes each constant from its name, its ordinal and the arguments of its
constructor. This reads those pushes; it follows the class file format of the JVM specification.
"""

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

_CONSTANT_SIZES = {
    1: 0, 3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4,
    18: 4, 19: 2, 20: 2,
}  # fmt: skip
"""Bytes of a constant behind its tag; UTF-8 text (1) has its length before it."""

_OPERAND_SIZES = {
    **dict.fromkeys((0x10, 0x12, 0xBC, *range(0x15, 0x1A), *range(0x36, 0x3B)), 1),
    **dict.fromkeys((0x11, 0x13, 0x14, 0x84, 0xBB, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7), 2),
    **dict.fromkeys((*range(0x99, 0xA9), *range(0xB2, 0xB9)), 2),
    **dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 4),
    0xC5: 3,
}
_SWITCHES_AND_WIDE = (0xAA, 0xAB, 0xC4)
_BIPUSH, _SIPUSH, _LDC, _LDC_W, _NEW, _INVOKESPECIAL = 0x10, 0x11, 0x12, 0x13, 0xBB, 0xB7
_ICONSTS = range(0x02, 0x09)


class BytecodeInstruction(NamedTuple):
    """One instruction of a method."""

    opcode: int
    operand: bytes


class ClassFile:
    """What is needed of a class file: its constants and the code of a method."""

    def __init__(self, raw: bytes) -> None:
        if raw[:4] != b"\xca\xfe\xba\xbe":
            raise ValueError("not a class file")
        self._raw = raw
        self._at = 8
        self._constants = self._read_constants()
        self._at += 2
        self.own_index = self._read_uint16()
        self._at += 2
        interfaces = self._read_uint16()
        self._at += 2 * interfaces

    def constant(self, index: int) -> Any:
        """Return text or a number; other constants are the tuple of the indexes that they hold."""
        return self._constants[index]

    def text(self, index: int) -> str:
        """Return a constant that is text, also behind a string or class."""
        constant = self._constants[index]
        return constant if isinstance(constant, str) else self.text(constant[0])

    def code(self, method: str) -> bytes:
        """Return the instructions of the first method of this name."""
        at = self._at
        for _ in range(self._read_uint16()):  # fields
            self._read_member()
        for _ in range(self._read_uint16()):
            name, attributes = self._read_member()
            if name == method:
                self._at = at
                length = int.from_bytes(attributes["Code"][4:8], "big")
                return attributes["Code"][8 : 8 + length]
        raise LookupError(f"no method {method}")

    def _read_uint16(self) -> int:
        self._at += 2
        return int.from_bytes(self._raw[self._at - 2 : self._at], "big")

    def _read_constants(self) -> dict[int, Any]:
        constant: dict[int, Any] = {}
        index, count = 1, self._read_uint16()
        while index < count:
            tag = self._raw[self._at]
            self._at += 1
            size = self._read_uint16() if tag == 1 else _CONSTANT_SIZES[tag]
            content = self._raw[self._at : self._at + size]
            self._at += size
            if tag == 1:
                constant[index] = content.decode(errors="replace")
            elif tag == 3:
                constant[index] = int.from_bytes(content, "big", signed=True)
            elif tag not in (4, 5, 6, 15):
                constant[index] = struct.unpack(f">{size // 2}H", content)
            index += 2 if tag in (5, 6) else 1
        return constant

    def _read_member(self) -> tuple[str, dict[str, bytes]]:
        """Pass a field or method and return its name and attributes."""
        self._at += 2
        name = self.text(self._read_uint16())
        self._at += 2
        attributes = {}
        for _ in range(self._read_uint16()):
            attribute = self.text(self._read_uint16())
            size = int.from_bytes(self._raw[self._at : self._at + 4], "big")
            attributes[attribute] = self._raw[self._at + 4 : self._at + 4 + size]
            self._at += 4 + size
        return name, attributes


def instructions(code: bytes) -> Iterator[BytecodeInstruction]:
    """Return the instructions of straight code; a switch is a ValueError."""
    at = 0
    while at < len(code):
        opcode = code[at]
        if opcode in _SWITCHES_AND_WIDE:
            raise ValueError(f"instruction {opcode:#x} is not expected in an enum's initialiser")
        size = _OPERAND_SIZES.get(opcode, 0)
        yield BytecodeInstruction(opcode, code[at + 1 : at + 1 + size])
        at += 1 + size


def read_enum_codes(raw: bytes) -> dict[str, int]:
    """Return the constants of an enum whose constructor takes an integer first, by name."""
    parsed = ClassFile(raw)
    constant: dict[str, int] = {}
    pushed: list[str | int] | None = None
    for opcode, operand in instructions(parsed.code("<clinit>")):
        index = int.from_bytes(operand, "big")
        if opcode == _NEW and index == parsed.own_index:
            pushed = []
        elif pushed is None:
            continue
        elif opcode == _INVOKESPECIAL and parsed.constant(index)[0] == parsed.own_index:
            name, _ordinal, code = pushed[:3]
            constant[str(name)] = int(code)
            pushed = None
        else:
            pushed += _pushed_constants(parsed, opcode, operand)
    return constant


def _pushed_constants(parsed: ClassFile, opcode: int, operand: bytes) -> list[str | int]:
    """Return the text or integer that an instruction pushes, in a list; else an empty one."""
    if opcode in _ICONSTS:
        return [opcode - 3]
    if opcode in (_BIPUSH, _SIPUSH):
        return [int.from_bytes(operand, "big", signed=True)]
    if opcode in (_LDC, _LDC_W):
        constant = parsed.constant(int.from_bytes(operand, "big"))
        return [constant if isinstance(constant, int) else parsed.text(constant[0])]
    return []
