"""Generates the source of a reader from a message definition and a version.

The source is one flat function: consecutive fields of fixed width are read by one precompiled
Struct, together with the first byte of the following length. Rare parts (lengths of several bytes,
forbidden nulls, tags) are calls into `runtime`.
"""

from collections.abc import Mapping
from struct import error as struct_error

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.read_cursor import Cursor
from kafka_shim.protocol.codec.row_readers import FEW, Rows
from kafka_shim.protocol.codec.source import Source
from kafka_shim.protocol.codec.source_text import construct, default_text, struct_name
from kafka_shim.protocol.codec.wire_layout import CODES, WIDTHS, Layout
from kafka_shim.protocol.errors import DecodeError

READ_ERRORS = (IndexError, struct_error, MemoryError, OverflowError, DecodeError)


def reader_source(
    message: MessageSpec,
    version: int,
    classes: Mapping[str, type],
    *,
    replaces: bool = False,
    gives_end: bool = False,
    is_limited: bool = False,
) -> Source:
    """Return the source of `read(buf, pos) -> message`.

    `classes` are the message's classes by name. With `replaces`, malformed UTF-8 is replaced;
    without, the function calls the constant `again`, a reader that replaces it. With `gives_end`,
    it returns the message and the position after it. With `is_limited`, it rejects more tagged
    fields or elements than Kafka accepts since 4.2.2.
    """
    decode = '.decode("utf-8", "kafka-shim-replace")' if replaces else ".decode()"
    reader = _Reader(Layout(message, version), classes, decode, is_limited=is_limited)
    return reader.build(replaces=replaces, gives_end=gives_end)


class _Reader:
    def __init__(
        self, layout: Layout, classes: Mapping[str, type], decode: str, *, is_limited: bool
    ) -> None:
        self._layout = layout
        self._classes = classes
        self._decode = decode
        self._is_limited = is_limited
        self.source = Source("read(buf, pos)")
        self._cursor = Cursor(self.source)

    def build(self, *, replaces: bool, gives_end: bool) -> Source:
        source, title = self.source, self._layout.title
        source.line("start = pos")
        source.here_is_first()
        with source.block("try"):
            message = self._struct(self._layout.message.struct, "message")
            self._cursor.settle()
            with source.block("if pos > len(buf)"):
                source.line(f"raise {self._runtime('too_short')}(buf, pos)")
            source.line(f"return {message}, pos" if gives_end else f"return {message}")
        if not replaces:
            with source.block("except UnicodeDecodeError"):
                source.line("return again(buf, start)")
        source.constant("READ_ERRORS", READ_ERRORS)
        with source.block("except READ_ERRORS as error"):
            damaged = self._runtime("damaged")
            source.line(f'raise {damaged}("{title}", buf, start, error) from error')
        return source

    def _runtime(self, name: str) -> str:
        """Return the name of a function of `runtime` in the source: its limited form, if wanted."""
        function = getattr(runtime, name)
        if self._is_limited:
            function = getattr(runtime, f"limited_{name}", function)
        return self.source.constant(name, function)

    # --- structs

    def _struct(self, struct: StructSpec, name: str) -> str:
        """Emit the reading of a struct; return its local."""
        values = {field.name: self._value(field) for field in self._layout.plain(struct)}
        result = self.source.local(name)
        if not self._layout.is_flexible:
            self._cursor.flush()
            self.source.line(f"{result} = {construct(self.source, self._classes, struct, values)}")
            return result
        tags = self.source.local("tags")
        self._cursor.note(tags, "B")
        self._cursor.settle()
        known = self._layout.tagged(struct)
        unknown = self._known_tags(known, tags, values) if known else ""
        self.source.line(f"{result} = {construct(self.source, self._classes, struct, values)}")
        if known:
            with self.source.block(f"if {unknown}"):
                self.source.line(f"{result}.unknown_tags = tuple({unknown})")
        else:
            with self.source.block(f"if {tags}"):
                read_tags = self._runtime("read_tags")
                self.source.line(f"{result}.unknown_tags, pos = {read_tags}(buf, pos, {tags})")
        return result

    def _known_tags(self, known: list[FieldSpec], count: str, values: dict[str, str]) -> str:
        """Emit the reading of a tag section with known tags; return the local of unknown ones."""
        source = self.source
        for field in known:
            values[field.name] = source.local(field.attribute)
            source.line(f"{values[field.name]} = {default_text(source, self._classes, field)}")
        unknown = source.local("unknown")
        source.line(f"{unknown} = ()")
        with source.block(f"if {count}"):
            varint = self._runtime("varint")
            source.line(f"{unknown} = []")
            with source.block(f"if {count} > 127"):
                source.line(f"{count}, pos = {varint}(buf, pos - 1)")
                if self._is_limited:
                    source.line(f"{self._runtime('check_tag_count')}({count})")
            tag, size = source.local("tag"), source.local("size")
            with source.block(f"for _ in range({count})"):
                source.line(f"{tag}, pos = {varint}(buf, pos)")
                source.line(f"{size}, pos = {varint}(buf, pos)")
                for index, field in enumerate(known):
                    with source.block(f"{'elif' if index else 'if'} {tag} == {field.tag}"):
                        value = self._value(field)
                        self._cursor.settle()
                        source.line(f"{values[field.name]} = {value}")
                with source.block("else"):
                    source.line(f"end = pos + {size}")
                    source.line(f"{unknown}.append(({tag}, buf[pos:end]))")
                    source.line("pos = end")
        return unknown

    # --- values

    def _value(self, field: FieldSpec) -> str:
        """Emit the reading of a field, or note it for the next flush; return its local."""
        if field.is_array:
            return self._array(field)
        return self._single(field, nullable=self._layout.is_nullable(field))

    def _single(self, field: FieldSpec, *, nullable: bool) -> str:
        if field.kind in CODES:
            local = self.source.local(field.attribute)
            self._cursor.note(local, CODES[field.kind])
            return local
        if field.struct:
            return self._inner(field, field.struct, nullable=nullable)
        return self._string(field, nullable=nullable)

    def _inner(self, field: FieldSpec, struct: StructSpec, *, nullable: bool) -> str:
        if not nullable:
            return self._struct(struct, field.attribute)
        mark, result = self.source.local("mark"), self.source.local(field.attribute)
        self._cursor.note(mark, "B")
        self._cursor.settle()
        with self.source.block(f"if {mark} > 127"):
            self.source.line(f"{result} = None")
        with self.source.block("else"):
            inner = self._struct(struct, field.attribute)
            self._cursor.settle()
            self.source.line(f"{result} = {inner}")
        return result

    def _string(self, field: FieldSpec, *, nullable: bool) -> str:
        """Emit the reading of a string, bytes or records."""
        is_text = field.kind == "string"
        decode = self._decode if is_text else ""
        if self._layout.is_compact(field):
            return self._compact_string(field, decode, nullable=nullable)
        source, result = self.source, self.source.local(field.attribute)
        length = self._length("h" if is_text else "i")
        if nullable:
            self._cursor.settle()
            source.line(f"{result} = None")
        else:
            with source.block(f"if {length} < 0"):
                source.line(f'raise {self._runtime("null")}("{field.name}", pos)')
        with source.block(f"if {length} >= 0") if nullable else source.straight():
            source.line(f"{result} = {self._cursor.take(length, self._cursor.ahead)}{decode}")
        self._cursor.ahead = 0
        return result

    def _compact_string(self, field: FieldSpec, decode: str, *, nullable: bool) -> str:
        source, result = self.source, self.source.local(field.attribute)
        length = self._length("B")
        with source.block(f"if {length} and {length} < 128"):
            source.line(f"{result} = {self._cursor.take(length, self._cursor.ahead - 1)}{decode}")
        if nullable:
            with source.block(f"elif not {length}"):
                source.line(f"{result}, pos = None, {self._cursor.at()}")
        with source.block("else"):
            kind = "string" if field.kind == "string" else "bytes"
            long = self._runtime(f"long_{'nullable_' if nullable else ''}{kind}")
            source.line(
                f'{result}, pos = {long}(buf, {self._cursor.at()}, {length}, "{field.name}")'
            )
        self._cursor.ahead = 0
        return result

    def _length(self, code: str) -> str:
        """Emit the reading of a length, of its first byte if it is compact; return its local."""
        length = self.source.local("n")
        self._cursor.note(length, code)
        self._cursor.flush()
        return length

    # --- arrays

    def _array(self, field: FieldSpec) -> str:
        if field.kind in CODES:
            return self._values(field)
        source, result = self.source, self.source.local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._length("B" if compact else "i")
        self._cursor.settle()
        low = 0 if compact else -1
        minimum = self._layout.element_minimum(field)
        is_long = f"{length} > 127" if nullable else f"not {low} < {length} < 128"
        with source.block(f"if {is_long}"):
            check = self._runtime("long_count" if compact else "wide_count")
            arguments = f'buf, pos, {length}, {minimum}, {nullable}, "{field.name}"'
            source.line(f"{length}, pos = {check}({arguments})")
        if nullable:
            source.line(f"{result} = None")
        with source.block(f"if {length} > {low}") if nullable else source.straight():
            self._elements(field, result, length)
        return result

    def _elements(self, field: FieldSpec, result: str, length: str) -> None:
        source = self.source
        if field.struct and self._layout.stride(field.struct):
            self._strides(field.struct, result, length)
            if not self._layout.is_flexible:
                return
            with source.block(f"if {result} is None"):
                self._loop(field, result, length)
            with source.block("else"):
                source.line("pos = end")
        else:
            self._loop(field, result, length)

    def _loop(self, field: FieldSpec, result: str, length: str) -> None:
        """Emit the reading of elements one by one."""
        count = f"{length} - 1" if self._layout.is_compact(field) else length
        self.source.line(f"{result} = []")
        with self.source.block(f"for _ in range({count})"):
            element = self._single(field, nullable=False)
            self._cursor.settle()
            self.source.line(f"{result}.append({element})")

    def _strides(self, struct: StructSpec, result: str, length: str) -> None:
        """Emit the reading of all elements of fixed width at once; None if an element has tags."""
        source, flexible = self.source, self._layout.is_flexible
        rows = Rows(self._layout, struct, self._classes)
        size = rows.stride.size
        few = source.constant(f"ROWS_{struct.name}", rows)
        source.line(f"end = pos + {size} * {length}{f' - {size}' if flexible else ''}")
        last, read = source.local("last"), source.local("rows")
        source.at_first(f"{last} = -1")
        with source.block(f"if {length} < {FEW}"):
            with source.block(f"if {length} != {last}"):
                source.line(f"{read} = {few}[{length}]")
                source.line(f"{last} = {length}")
            source.line(f"{result} = {read}(buf, pos)")
        if flexible:
            with source.block(f"elif any(buf[pos + {size - 1} : end : {size}])"):
                source.line(f"{result} = None")
        with source.block("else"):
            each = source.constant(struct_name("EACH", rows.stride.format), rows.stride.iter_unpack)
            source.line(f"{result} = {rows.many(source, each)}")
        if not flexible:
            source.line("pos = end")

    def _values(self, field: FieldSpec) -> str:
        """Emit the reading of an array of numbers or uuids."""
        source, result = self.source, self.source.local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._length("B" if compact else "i")
        code = CODES[field.kind]
        width = WIDTHS[code]
        arguments = f'buf, {self._cursor.at()}, {length}, "{code}", {nullable}, "{field.name}"'
        long = f"{result}, pos = {self._runtime('long_values' if compact else 'wide_values')}"
        if field.kind == "uuid":
            source.line(f"{long}({arguments})")
        else:
            table = source.constant(f"UNPACK_{field.kind}", runtime.unpackers(code))
            low, index = (0, f"{length} - 1") if compact else (-1, length)
            rest = self._cursor.ahead - width if compact else self._cursor.ahead
            with source.block(f"if {low} < {length} < {runtime.SMALL}"):
                source.line(f"{result} = [*{table}[{index}](buf, {self._cursor.at()})]")
                signed = f" + {rest}" if rest > 0 else f" - {-rest}" if rest else ""
                source.line(f"pos += {width} * {length}{signed}")
            with source.block("else"):
                source.line(f"{long}({arguments})")
        self._cursor.ahead = 0
        return result
