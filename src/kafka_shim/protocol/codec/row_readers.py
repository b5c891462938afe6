"""Reads arrays of structs with only fixed-width fields, without a loop over the elements.

Few elements are read by a function made for their number, with one `unpack`; many by iterating
over the bytes in C. Both require that no element has tags, which is checked first.
"""

from collections.abc import Callable, Mapping
from itertools import starmap
from struct import Struct
from typing import Any

from kafka_shim.protocol.codec.message_spec import StructSpec
from kafka_shim.protocol.codec.source import Source
from kafka_shim.protocol.codec.source_text import construct
from kafka_shim.protocol.codec.wire_layout import Layout

FEW = 9
"""From this written length on (one less if it is compact), elements are many."""

ReadRows = Callable[[bytes, int], list[Any] | None]


class Rows(dict[int, ReadRows]):
    """Functions `read(buf, pos)` by the written length of an array, made at first use.

    They return a list, or None if an element has tags. Lengths from `FEW` on have none.
    """

    def __init__(self, layout: Layout, struct: StructSpec, classes: Mapping[str, type]) -> None:
        super().__init__()
        self._layout = layout
        self._struct = struct
        self._classes = classes
        codes = layout.stride(struct)
        assert codes is not None
        self._codes = codes
        self.stride = Struct(f">{codes}{'x' if layout.is_flexible else ''}")

    def __missing__(self, length: int) -> ReadRows:
        count = length - 1 if self._layout.is_flexible else length
        name = f"{count} x {self._struct.name} of {self._layout.title}"
        read = self._source(count).compile(name)
        self[length] = read
        return read

    def _source(self, count: int) -> Source:
        source = Source("read(buf, pos)")
        if not count:
            source.line("return []")
            return source
        codes = self._codes + ("B" if self._layout.is_flexible else "")
        source.constant("READ", Struct(f">{codes * count}").unpack_from)
        fields = self._layout.plain(self._struct)
        targets: list[str] = []
        tags, items = [], []
        for _ in range(count):
            values = {field.name: source.local(field.attribute) for field in fields}
            targets += values.values()
            if self._layout.is_flexible:
                tags.append(source.local("tags"))
                targets.append(tags[-1])
            items.append(construct(source, self._classes, self._struct, values))
        source.line(f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = READ(buf, pos)")
        if tags:
            with source.block(f"if {' or '.join(tags)}"):
                source.line("return None")
        source.line(f"return [{', '.join(items)}]")
        return source

    def many(self, source: Source, each: str) -> str:
        """Return the expression that reads all elements between `pos` and `end`."""
        fields = self._layout.plain(self._struct)
        if fields == list(self._struct.fields[: len(fields)]):
            source.constant("starmap", starmap)
            name = source.constant(self._struct.name, self._classes[self._struct.name])
            return f"[*starmap({name}, {each}(buf[pos:end]))]"
        values = {field.name: source.local(field.attribute) for field in fields}
        targets = "".join(f"{local}, " for local in values.values()).rstrip()
        call = construct(source, self._classes, self._struct, values)
        return f"[{call} for {targets} in {each}(buf[pos:end])]"
