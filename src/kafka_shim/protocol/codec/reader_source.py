"""Generates the source of a reader from a message definition and a version.

The source is one flat function: consecutive fields of fixed width are read by one precompiled
Struct, together with the first byte of the following length. Rare parts (lengths of several bytes,
forbidden nulls, tags) are calls into `runtime`.

Arrays of structs with only fixed-width fields are read without a loop over the elements: few by a
function made for their number, with one `unpack`; many by iterating over the bytes in C. Both
require that no element has tags, which is checked first.
"""

from collections.abc import Callable, Mapping
from itertools import starmap
from struct import Struct, error as struct_error
from typing import Any

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.function_source import (
    Expression,
    FunctionSource,
    LocalName,
    constructor_expression,
    default_expression,
    struct_constant_name,
)
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.read_cursor import ReadCursor
from kafka_shim.protocol.codec.wire_layout import STRUCT_CODE_WIDTHS, STRUCT_CODES, WireLayout
from kafka_shim.protocol.errors import DecodeError

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


READ_ERRORS = (IndexError, struct_error, MemoryError, OverflowError, DecodeError)


def reader_source(
    message: MessageSpec,
    version: int,
    classes: Mapping[str, type],
    *,
    falls_back_on_invalid_utf8: bool = False,
    returns_end: bool = False,
    limits_counts: bool = False,
) -> FunctionSource:
    """Return the source of `read(buf, pos) -> message`.

    `classes` are the message's classes by name. Without `falls_back_on_invalid_utf8`,
    the function calls the constant `read_leniently`, a reader with it, for malformed UTF-8. With
    `returns_end`, it returns the message and the position after it. With `limits_counts`, it
    rejects more tagged fields or elements than Kafka accepts since 4.2.2.
    """
    decode = '.decode("utf-8", "kafka-shim-replace")' if falls_back_on_invalid_utf8 else ".decode()"
    reader = _ReaderGenerator(
        WireLayout(message, version), classes, decode, limits_counts=limits_counts
    )
    return reader.generate(
        falls_back_on_invalid_utf8=falls_back_on_invalid_utf8, returns_end=returns_end
    )


class _ReaderGenerator:
    def __init__(
        self,
        layout: WireLayout,
        classes: Mapping[str, type],
        decode_call: str,
        *,
        limits_counts: bool,
    ) -> None:
        self._layout = layout
        self._classes = classes
        self._decode = decode_call
        self._limits_counts = limits_counts
        self.source = FunctionSource("read(buf, pos)")
        self._cursor = ReadCursor(self.source)

    def generate(self, *, falls_back_on_invalid_utf8: bool, returns_end: bool) -> FunctionSource:
        source, title = self.source, self._layout.name_with_version
        source.add_line("start = pos")
        source.mark_insertion_point()
        with source.indented_block("try"):
            message = self._emit_struct(self._layout.message.top_level_struct, "message")
            self._cursor.emit_deferred_reads()
            with source.indented_block("if pos > len(buf)"):
                missing = self._add_runtime_function("missing_bytes_error")
                source.add_line(f"raise {missing}(buf, pos)")
            source.add_line(f"return {message}, pos" if returns_end else f"return {message}")
        if not falls_back_on_invalid_utf8:
            with source.indented_block("except UnicodeDecodeError"):
                source.add_line("return read_leniently(buf, start)")
        source.add_constant("READ_ERRORS", READ_ERRORS)
        with source.indented_block("except READ_ERRORS as error"):
            damaged = self._add_runtime_function("undecodable_message_error")
            source.add_line(f'raise {damaged}("{title}", buf, start, error) from error')
        return source

    def _add_runtime_function(self, name: str) -> str:
        """Add a function of `runtime`, its limited form if needed, and return its name."""
        function = getattr(runtime, name)
        if self._limits_counts:
            function = getattr(runtime, f"{name}_within_limit", function)
        return self.source.add_constant(name, function)

    # --- structs

    def _emit_struct(self, struct: StructSpec, name: str) -> LocalName:
        """Emit the reading of a struct; return its local."""
        values = {
            field.name: self._read_field(field) for field in self._layout.untagged_fields(struct)
        }
        result = self.source.new_local(name)
        if not self._layout.is_flexible:
            self._cursor.emit_deferred_reads_without_advancing()
            self.source.add_line(
                f"{result} = {constructor_expression(self.source, self._classes, struct, values)}"
            )
            return result
        tags = self.source.new_local("tags")
        self._cursor.defer_read(tags, "B")
        self._cursor.emit_deferred_reads()
        known = self._layout.tagged_fields(struct)
        unknown = self._emit_tag_section_with_known_tags(known, tags, values) if known else ""
        self.source.add_line(
            f"{result} = {constructor_expression(self.source, self._classes, struct, values)}"
        )
        if known:
            with self.source.indented_block(f"if {unknown}"):
                self.source.add_line(f"{result}.unknown_tags = tuple({unknown})")
        else:
            with self.source.indented_block(f"if {tags}"):
                read_tags = self._add_runtime_function("read_tags")
                self.source.add_line(f"{result}.unknown_tags, pos = {read_tags}(buf, pos, {tags})")
        return result

    def _emit_tag_section_with_known_tags(
        self,
        tagged_fields: list[FieldSpec],
        first_byte: LocalName,
        locals_by_field: dict[str, LocalName],
    ) -> LocalName:
        """Emit the reading of a tag section with known tags; return the local of unknown ones."""
        source = self.source
        for field in tagged_fields:
            local = locals_by_field[field.name] = source.new_local(field.attribute)
            source.add_line(f"{local} = {default_expression(source, self._classes, field)}")
        unknown = source.new_local("unknown")
        source.add_line(f"{unknown} = ()")
        with source.indented_block(f"if {first_byte}"):
            varint = self._add_runtime_function("read_unsigned_varint")
            source.add_line(f"{unknown} = []")
            with source.indented_block(f"if {first_byte} > 127"):
                source.add_line(f"{first_byte}, pos = {varint}(buf, pos - 1)")
                if self._limits_counts:
                    source.add_line(
                        f"{self._add_runtime_function('check_tag_count')}({first_byte})"
                    )
            tag, size = source.new_local("tag"), source.new_local("size")
            with source.indented_block(f"for _ in range({first_byte})"):
                source.add_line(f"{tag}, pos = {varint}(buf, pos)")
                source.add_line(f"{size}, pos = {varint}(buf, pos)")
                for index, field in enumerate(tagged_fields):
                    with source.indented_block(f"{'elif' if index else 'if'} {tag} == {field.tag}"):
                        value = self._read_field(field)
                        self._cursor.emit_deferred_reads()
                        source.add_line(f"{locals_by_field[field.name]} = {value}")
                with source.indented_block("else"):
                    source.add_line(f"end = pos + {size}")
                    source.add_line(f"{unknown}.append(({tag}, buf[pos:end]))")
                    source.add_line("pos = end")
        return unknown

    # --- values

    def _read_field(self, field: FieldSpec) -> LocalName:
        """Emit the reading of a field, or defer it; return its local."""
        if field.is_array:
            return self._emit_array(field)
        return self._read_single_value(field, nullable=self._layout.is_nullable(field))

    def _read_single_value(self, field: FieldSpec, *, nullable: bool) -> LocalName:
        if field.element_kind in STRUCT_CODES:
            local = self.source.new_local(field.attribute)
            self._cursor.defer_read(local, STRUCT_CODES[field.element_kind])
            return local
        if field.struct:
            return self._emit_inner_struct(field, field.struct, nullable=nullable)
        return self._emit_bytes_like(field, nullable=nullable)

    def _emit_inner_struct(
        self, field: FieldSpec, struct: StructSpec, *, nullable: bool
    ) -> LocalName:
        if not nullable:
            return self._emit_struct(struct, field.attribute)
        mark, result = self.source.new_local("mark"), self.source.new_local(field.attribute)
        self._cursor.defer_read(mark, "B")
        self._cursor.emit_deferred_reads()
        is_null = (
            f"{mark} > 127" if self._layout.first_byte_of_null_struct(field) else f"not {mark}"
        )
        with self.source.indented_block(f"if {is_null}"):
            self.source.add_line(f"{result} = None")
        with self.source.indented_block("else"):
            inner = self._emit_struct(struct, field.attribute)
            self._cursor.emit_deferred_reads()
            self.source.add_line(f"{result} = {inner}")
        return result

    def _emit_bytes_like(self, field: FieldSpec, *, nullable: bool) -> LocalName:
        """Emit the reading of a string, bytes or records."""
        is_text = field.element_kind == "string"
        decode = self._decode if is_text else ""
        if self._layout.is_compact(field):
            return self._emit_compact_bytes_like(field, decode, nullable=nullable)
        source, result = self.source, self.source.new_local(field.attribute)
        length = self._emit_length("h" if is_text else "i")
        if nullable:
            self._cursor.emit_deferred_reads()
            source.add_line(f"{result} = None")
        else:
            with source.indented_block(f"if {length} < 0"):
                null_error = self._add_runtime_function("null_not_allowed_error")
                source.add_line(f'raise {null_error}("{field.name}", pos)')
        with (
            source.indented_block(f"if {length} >= 0") if nullable else source.unconditional_block()
        ):
            content = self._cursor.slice_expression(length, self._cursor.bytes_ahead)
            source.add_line(f"{result} = {content}{decode}")
        self._cursor.bytes_ahead = 0
        return result

    def _emit_compact_bytes_like(
        self, field: FieldSpec, decode_call: str, *, nullable: bool
    ) -> LocalName:
        source, result = self.source, self.source.new_local(field.attribute)
        length = self._emit_length("B")
        with source.indented_block(f"if {length} and {length} < 128"):
            bytes_ahead = self._cursor.bytes_ahead - 1
            content = self._cursor.slice_expression(length, bytes_ahead)
            source.add_line(f"{result} = {content}{decode_call}")
        if nullable:
            with source.indented_block(f"elif not {length}"):
                source.add_line(f"{result}, pos = None, {self._cursor.position_expression()}")
        with source.indented_block("else"):
            kind = "string" if field.element_kind == "string" else "bytes"
            long = self._add_runtime_function(
                f"read_compact_{'nullable_' if nullable else ''}{kind}"
            )
            position = self._cursor.position_expression()
            source.add_line(f'{result}, pos = {long}(buf, {position}, {length}, "{field.name}")')
        self._cursor.bytes_ahead = 0
        return result

    def _emit_length(self, struct_code: str) -> LocalName:
        """Emit the reading of a length, of its first byte if it is compact; return its local."""
        length = self.source.new_local("n")
        self._cursor.defer_read(length, struct_code)
        self._cursor.emit_deferred_reads_without_advancing()
        return length

    # --- arrays

    def _emit_array(self, field: FieldSpec) -> LocalName:
        if field.element_kind in STRUCT_CODES:
            return self._emit_number_array(field)
        source, result = self.source, self.source.new_local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._emit_length("B" if compact else "i")
        self._cursor.emit_deferred_reads()
        low = 0 if compact else -1
        minimum = self._layout.min_element_bytes(field)
        is_long = f"{length} > 127" if nullable else f"not {low} < {length} < 128"
        with source.indented_block(f"if {is_long}"):
            check = self._add_runtime_function(
                "read_compact_count_plus_one" if compact else "check_int32_count"
            )
            arguments = f'buf, pos, {length}, {minimum}, {nullable}, "{field.name}"'
            source.add_line(f"{length}, pos = {check}({arguments})")
        if nullable:
            source.add_line(f"{result} = None")
        with (
            source.indented_block(f"if {length} > {low}")
            if nullable
            else source.unconditional_block()
        ):
            self._emit_elements(field, result, length)
        return result

    def _emit_elements(self, field: FieldSpec, result: LocalName, length: LocalName) -> None:
        source = self.source
        if field.struct and self._layout.fixed_width_struct_codes(field.struct):
            self._emit_fixed_width_elements(field.struct, result, length)
            if not self._layout.is_flexible:
                return
            with source.indented_block(f"if {result} is None"):
                self._emit_element_loop(field, result, length)
            with source.indented_block("else"):
                source.add_line("pos = end")
        else:
            self._emit_element_loop(field, result, length)

    def _emit_element_loop(self, field: FieldSpec, result: LocalName, length: LocalName) -> None:
        """Emit the reading of elements one by one."""
        count = f"{length} - 1" if self._layout.is_compact(field) else length
        self.source.add_line(f"{result} = []")
        with self.source.indented_block(f"for _ in range({count})"):
            element = self._read_single_value(field, nullable=False)
            self._cursor.emit_deferred_reads()
            self.source.add_line(f"{result}.append({element})")

    def _emit_fixed_width_elements(
        self, struct: StructSpec, result: LocalName, length: LocalName
    ) -> None:
        """Emit the reading of all elements without a loop; None if one has tags."""
        source, flexible = self.source, self._layout.is_flexible
        rows = FixedWidthArrayReaders(self._layout, struct, self._classes)
        size = rows.element_struct.size
        few = source.add_constant(f"ROWS_{struct.name}", rows)
        source.add_line(f"end = pos + {size} * {length}{f' - {size}' if flexible else ''}")
        last, read = source.new_local("last"), source.new_local("rows")
        source.insert_line_at_mark(f"{last} = -1")
        with source.indented_block(f"if {length} < {LONG_ARRAY_LENGTH}"):
            with source.indented_block(f"if {length} != {last}"):
                source.add_line(f"{read} = {few}[{length}]")
                source.add_line(f"{last} = {length}")
            source.add_line(f"{result} = {read}(buf, pos)")
        if flexible:
            with source.indented_block(f"elif any(buf[pos + {size - 1} : end : {size}])"):
                source.add_line(f"{result} = None")
        with source.indented_block("else"):
            each = source.add_constant(
                struct_constant_name("EACH", rows.element_struct.format),
                rows.element_struct.iter_unpack,
            )
            source.add_line(f"{result} = {rows.elements_from_pos_to_end_expression(source, each)}")
        if not flexible:
            source.add_line("pos = end")

    def _emit_number_array(self, field: FieldSpec) -> LocalName:
        """Emit the reading of an array of numbers or uuids."""
        source, result = self.source, self.source.new_local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._emit_length("B" if compact else "i")
        code = STRUCT_CODES[field.element_kind]
        width = STRUCT_CODE_WIDTHS[code]
        position = self._cursor.position_expression()
        arguments = f'buf, {position}, {length}, "{code}", {nullable}, "{field.name}"'
        read_array = self._add_runtime_function(
            "read_compact_number_array" if compact else "read_number_array"
        )
        long = f"{result}, pos = {read_array}"
        if field.element_kind == "uuid":
            source.add_line(f"{long}({arguments})")
        else:
            table = source.add_constant(
                f"UNPACK_{field.element_kind}", runtime.fixed_count_unpackers(code)
            )
            low, index = (0, f"{length} - 1") if compact else (-1, length)
            rest = self._cursor.bytes_ahead - width if compact else self._cursor.bytes_ahead
            with source.indented_block(f"if {low} < {length} < {runtime.SHORT_ARRAY_LENGTH}"):
                source.add_line(
                    f"{result} = [*{table}[{index}](buf, {self._cursor.position_expression()})]"
                )
                signed = f" + {rest}" if rest > 0 else f" - {-rest}" if rest else ""
                source.add_line(f"pos += {width} * {length}{signed}")
            with source.indented_block("else"):
                source.add_line(f"{long}({arguments})")
        self._cursor.bytes_ahead = 0
        return result
