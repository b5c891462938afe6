"""Reads arrays of structs with only fixed-width fields, without a loop over the elements.

Few elements are read by a function made for their number, with one `unpack`; many by iterating
over the bytes in C. Both require that no element has tags, which is checked first.
"""

from collections.abc import Callable, Mapping
from itertools import starmap
from struct import Struct
from typing import Any

from kafka_shim.protocol.codec.function_source import (
    Expression,
    FunctionSource,
    LocalName,
    constructor_expression,
)
from kafka_shim.protocol.codec.message_spec import StructSpec
from kafka_shim.protocol.codec.wire_layout import WireLayout

LONG_ARRAY_LENGTH = 9
"""From this written length on (one less if it is compact), elements are many."""

ReadElements = Callable[[bytes, int], list[Any] | None]


class FixedWidthArrayReaders(dict[int, ReadElements]):
    """Functions `read(buf, pos)` by the written length of an array, made at first use.

    They return a list, or None if an element has tags. Arrays of `LONG_ARRAY_LENGTH` and more have
    no function.
    """

    def __init__(self, layout: WireLayout, struct: StructSpec, classes: Mapping[str, type]) -> None:
        super().__init__()
        self._layout = layout
        self._struct = struct
        self._classes = classes
        codes = layout.fixed_width_struct_codes(struct)
        assert codes is not None
        self._codes = codes
        self.element_struct = Struct(f">{codes}{'x' if layout.is_flexible else ''}")

    def __missing__(self, length: int) -> ReadElements:
        count = length - 1 if self._layout.is_flexible else length
        name = f"{count} x {self._struct.name} of {self._layout.name_with_version}"
        read = self._reader_source_for_count(count).compile(name)
        self[length] = read
        return read

    def _reader_source_for_count(self, element_count: int) -> FunctionSource:
        source = FunctionSource("read(buf, pos)")
        if not element_count:
            source.add_line("return []")
            return source
        codes = self._codes + ("B" if self._layout.is_flexible else "")
        source.add_constant("READ", Struct(f">{codes * element_count}").unpack_from)
        fields = self._layout.untagged_fields(self._struct)
        targets: list[str] = []
        tags, items = [], []
        for _ in range(element_count):
            values = {field.name: source.new_local(field.attribute) for field in fields}
            targets += values.values()
            if self._layout.is_flexible:
                tags.append(source.new_local("tags"))
                targets.append(tags[-1])
            items.append(constructor_expression(source, self._classes, self._struct, values))
        source.add_line(f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = READ(buf, pos)")
        if tags:
            with source.indented_block(f"if {' or '.join(tags)}"):
                source.add_line("return None")
        source.add_line(f"return [{', '.join(items)}]")
        return source

    def elements_from_pos_to_end_expression(
        self, source: FunctionSource, iter_unpack: LocalName
    ) -> Expression:
        """Return the expression that reads all elements between `pos` and `end`."""
        fields = self._layout.untagged_fields(self._struct)
        if fields == list(self._struct.fields[: len(fields)]):
            source.add_constant("starmap", starmap)
            name = source.add_constant(self._struct.name, self._classes[self._struct.name])
            return f"[*starmap({name}, {iter_unpack}(buf[pos:end]))]"
        values = {field.name: source.new_local(field.attribute) for field in fields}
        targets = "".join(f"{local}, " for local in values.values()).rstrip()
        call = constructor_expression(source, self._classes, self._struct, values)
        return f"[{call} for {targets} in {iter_unpack}(buf[pos:end])]"
