"""Generates the source of a writer from a message definition and a version.

The source is one flat function that collects chunks in a list and joins_chunks them once. A run of
consecutive values of fixed width becomes one precompiled `pack`, also with arrays of numbers
between them (see `runtime.PackersByArrayLengths`); the length of a string
joins the values before it.
"""

from collections.abc import Mapping
from struct import Struct, error as struct_error

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.function_source import (
    Expression,
    FunctionSource,
    non_struct_default_expression,
    struct_constant_name,
)
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.wire_layout import STRUCT_CODES, WireLayout
from kafka_shim.protocol.errors import EncodeError

WRITE_ERRORS = (
    struct_error, AttributeError, TypeError, ValueError, OverflowError, IndexError, EncodeError,
)  # fmt: skip
VARINT = "V"
"""Stands for a compact length in a run, which can only be its last value."""


def writer_source(
    message: MessageSpec, version: int, classes: Mapping[str, type], *, joins_chunks: bool = True
) -> FunctionSource:
    """Return the source of `write(message) -> bytes`; `classes` are its classes by name.

    Unless it `joins_chunks`, it returns a list of the bytes, in which `ByteChunks` are not joined.
    """
    return _WriterGenerator(WireLayout(message, version), classes).generate(
        'b"".join(out)' if joins_chunks else "out"
    )


class _WriterGenerator:
    def __init__(self, layout: WireLayout, classes: Mapping[str, type]) -> None:
        self._layout = layout
        self._classes = classes
        self._packed_run: list[tuple[Expression, str]] = []
        self._chunks: list[str] = []
        self._out = "out"
        self.source = FunctionSource("write(message)")

    def generate(self, result_expression: Expression) -> FunctionSource:
        source = self.source
        with source.indented_block("try"):
            source.add_line("out = []")
            source.mark_insertion_point()
            self._emit_struct(self._layout.message.top_level_struct, "message")
            self._emit_collected_chunks()
            source.add_line(f"return {result_expression}")
        source.add_constant("WRITE_ERRORS", WRITE_ERRORS)
        with source.indented_block("except WRITE_ERRORS as error"):
            unwritable = self._add_runtime_constant("unencodable_message_error")
            source.add_line(
                f'raise {unwritable}("{self._layout.name_with_version}", error) from error'
            )
        return source

    def _add_runtime_constant(self, name: str) -> str:
        return self.source.add_constant(name, getattr(runtime, name))

    # --- structs

    def _emit_struct(self, struct: StructSpec, struct_expression: Expression) -> None:
        for field in self._layout.fields_not_in_version(struct):
            self._emit_default_check(field, f"{struct_expression}.{field.attribute}")
        for field in self._layout.untagged_fields(struct):
            self._write_value(field, f"{struct_expression}.{field.attribute}")
        if not self._layout.is_flexible:
            return
        if known := self._layout.tagged_fields(struct):
            self._emit_tag_section_with_known_tags(known, struct_expression)
            return
        self._packed_run.append(("", "x"))
        self._emit_collected_chunks()
        with self.source.indented_block(f"if {struct_expression}.unknown_tags"):
            with_tags = self._add_runtime_constant("replace_empty_tag_section")
            out = self._out
            self.source.add_line(
                f"{out}[-1] = {with_tags}({out}[-1], {struct_expression}.unknown_tags)"
            )

    def _emit_default_check(self, field: FieldSpec, value: Expression) -> None:
        """Emit an error for a value that this version cannot encode, as Kafka's writers do."""
        if field.is_ignorable:
            return
        with self.source.indented_block(
            f"if {self._differs_from_default_expression(field, value)}"
        ):
            absent = self._add_runtime_constant("unsupported_field_error")
            self.source.add_line(f'raise {absent}("{field.name}", {self._layout.version})')

    def _differs_from_default_expression(self, field: FieldSpec, value: Expression) -> Expression:
        """Return the condition that a value is not the default."""
        if field.default is None:
            return f"{value} is not None"
        if field.is_array:
            return f"{value} is None or {value}" if field.may_be_null else value
        if field.struct:
            default = self._classes[field.struct.name]()
            name = self.source.add_constant(f"DEFAULT_{field.struct.name}", default)
            return f"{value} != {name}"
        if field.element_kind == "bool":
            return f"not {value}" if field.default else value
        return f"{value} != {non_struct_default_expression(self.source, field)}"

    def _emit_tag_section_with_known_tags(
        self, tagged_fields: list[FieldSpec], struct_expression: Expression
    ) -> None:
        source, out = self.source, self._out
        self._emit_collected_chunks()
        tagged = source.new_local("tagged")
        source.add_line(f"{tagged} = []")
        for field in tagged_fields:
            value = f"{struct_expression}.{field.attribute}"
            with source.indented_block(f"if {self._differs_from_default_expression(field, value)}"):
                inner = source.new_local("inner")
                source.add_line(f"{inner} = []")
                self._out = inner
                self._write_value(field, value)
                self._emit_collected_chunks()
                source.add_line(f'{tagged}.append(({field.tag}, b"".join({inner})))')
        self._out = out
        section = self._add_runtime_constant("encode_tag_section")
        with source.indented_block(f"if {tagged} or {struct_expression}.unknown_tags"):
            source.add_line(f"{out}.append({section}({tagged}, {struct_expression}.unknown_tags))")
        with source.indented_block("else"):
            source.add_line(f'{out}.append(b"\\0")')

    # --- values

    def _write_value(self, field: FieldSpec, value: Expression) -> None:
        if field.is_array:
            self._write_array(field, value)
        else:
            self._write_single_value(field, value, nullable=self._layout.is_nullable(field))

    def _write_single_value(self, field: FieldSpec, value: Expression, *, nullable: bool) -> None:
        if field.element_kind == "uuid":
            self._write_uuid(field, value)
        elif field.element_kind in STRUCT_CODES:
            self._packed_run.append((value, STRUCT_CODES[field.element_kind]))
        elif field.struct:
            null_first_byte = self._layout.first_byte_of_null_struct(field) if nullable else None
            self._emit_inner_struct(field.struct, value, null_first_byte)
        else:
            self._emit_bytes_like(field, value, nullable=nullable)

    def _write_uuid(self, field: FieldSpec, value: Expression) -> None:
        """Emit a uuid with a check of its length, since `pack` would pad or truncate it."""
        local = self.source.new_local(field.attribute)
        self.source.add_line(f"{local} = {value}")
        with self.source.indented_block(f"if len({local}) != 16"):
            self.source.add_line(
                f'raise {self._add_runtime_constant("uuid_length_error")}("{field.name}")'
            )
        self._packed_run.append((local, STRUCT_CODES["uuid"]))

    def _emit_inner_struct(
        self, struct: StructSpec, value: Expression, null_first_byte: int | None
    ) -> None:
        """Emit a struct; one that can be null begins with a byte: `null_first_byte` or 1."""
        source = self.source
        local = value
        if "." in value:
            local = source.new_local(value.rpartition(".")[2])
            source.add_line(f"{local} = {value}")
        if null_first_byte is None:
            self._emit_struct(struct, local)
            return
        self._emit_collected_chunks()
        with source.indented_block(f"if {local} is None"):
            source.add_line(f"{self._out}.append({bytes([null_first_byte])!r})")
        with source.indented_block("else"):
            self._packed_run.append(("1", "b"))
            self._emit_struct(struct, local)
            self._emit_collected_chunks()

    def _emit_bytes_like(self, field: FieldSpec, value: Expression, *, nullable: bool) -> None:
        """Emit a string, bytes or records: the length joins the run, the content is a chunk."""
        source = self.source
        content, length = source.new_local(field.attribute), source.new_local("n")
        compact = self._layout.is_compact(field)
        encoded = self._content_expression(field, content if nullable else value)
        counted = f"len({content}) + 1" if compact else f"len({content})"
        source.add_line(f"{content} = {value if nullable else encoded}")
        if nullable:
            with source.indented_block(f"if {content} is None"):
                source.add_line(f'{content} = b""')
                source.add_line(f"{length} = {0 if compact else -1}")
            with source.indented_block("else"):
                if encoded != content:
                    source.add_line(f"{content} = {encoded}")
                source.add_line(f"{length} = {counted}")
        else:
            source.add_line(f"{length} = {counted}")
        self._append_length(length, "h" if field.element_kind == "string" else "i", compact=compact)
        self._chunks.append(content)

    def _content_expression(self, field: FieldSpec, non_null_value: Expression) -> Expression:
        """Return the expression for the bytes of a value that is not null."""
        if field.element_kind != "string":
            return non_null_value
        if field.attribute.endswith("error_message"):
            encode = self._add_runtime_constant("encode_error_message_cut_with_ellipsis")
            return f"{encode}({non_null_value})"
        return f"{non_null_value}.encode()"

    def _append_length(self, length: Expression, struct_code: str, *, compact: bool) -> None:
        """Add a length to the run and close the run."""
        if compact and any(c.startswith("[") for _, c in self._packed_run):
            self._end_packed_run()
        self._packed_run.append((length, VARINT if compact else struct_code))
        self._end_packed_run()

    # --- arrays

    def _write_array(self, field: FieldSpec, value: Expression) -> None:
        source = self.source
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        items = source.new_local(field.attribute)
        source.add_line(f"{items} = {value}")
        if field.element_kind in STRUCT_CODES and field.element_kind != "uuid" and not nullable:
            self._packed_run.append((items, "[" + STRUCT_CODES[field.element_kind]))
            return
        length = source.new_local("n")
        null = "0" if compact else "-1"
        counted = f"len({items}) + 1" if compact else f"len({items})"
        length_expression = f"{null} if {items} is None else {counted}" if nullable else counted
        source.add_line(f"{length} = {length_expression}")
        self._append_length(length, "i", compact=compact)
        self._emit_collected_chunks()
        present = f"{items} or ()" if nullable else items
        if field.element_kind in STRUCT_CODES:
            self._emit_number_array_without_count(
                STRUCT_CODES[field.element_kind], present, field.name
            )
            return
        element = source.new_local("item")
        with source.indented_block(f"for {element} in {present}"):
            self._write_single_value(field, element, nullable=False)
            self._emit_collected_chunks()

    def _emit_number_array_without_count(
        self, struct_code: str, numbers: Expression, field_name: str
    ) -> None:
        if struct_code == "16s":
            check = self._add_runtime_constant("encode_uuids")
            self.source.add_line(f'{self._out}.append({check}({numbers}, "{field_name}"))')
        else:
            pack = self._add_runtime_constant("encode_numbers")
            self.source.add_line(f'{self._out}.append({pack}("{struct_code}", {numbers}))')

    # --- runs and chunks

    def _end_packed_run(self) -> None:
        """Make the run one chunk."""
        run, self._packed_run = self._packed_run, []
        if not run:
            return
        if any(code.startswith("[") for _, code in run):
            self._chunks.append(self._emit_packer_choice_by_array_lengths(run))
        elif run[-1][1] == VARINT:
            self._chunks.append(self._pack_with_compact_length_expression(run[:-1], run[-1][0]))
        else:
            self._chunks.append(self._pack_expression(run))

    def _pack_expression(self, run: list[tuple[Expression, str]]) -> Expression:
        codes = "".join(code for _, code in run)
        if set(codes) == {"x"}:
            return repr(bytes(len(codes)))
        if codes == "B":
            return f"{self._add_runtime_constant('BYTE')}[{run[0][0]}]"
        name = self.source.add_constant(
            struct_constant_name("PACK", codes), Struct(f">{codes}").pack
        )
        return f"{name}({', '.join(value for value, _ in run if value)})"

    def _pack_with_compact_length_expression(
        self, run: list[tuple[Expression, str]], length: Expression
    ) -> Expression:
        """Return a chunk that ends in a compact length; most lengths fit one byte."""
        varint = f"{self._add_runtime_constant('encode_unsigned_varint')}({length})"
        short = self._pack_expression([*run, (length, "B")])
        long = f"{self._pack_expression(run)} + {varint}" if run else varint
        return f"({short} if {length} < 128 else {long})"

    def _emit_packer_choice_by_array_lengths(self, run: list[tuple[Expression, str]]) -> Expression:
        """Return a chunk with arrays of numbers; its packer depends on their lengths.

        The packer is kept for the next element, whose arrays usually have the same lengths.
        """
        compact, source = self._layout.is_flexible, self.source
        template, values = ">", []
        lengths: dict[str, str] = {}
        for value, code in run:
            if not code.startswith("["):
                template += code
                values += [value] if value else []
                continue
            length = source.new_local("n")
            source.add_line(f"{length} = len({value})")
            lengths[length] = source.new_local("last")
            template += ("B" if compact else "i") + "{}" + code[1:]
            values += [f"{length} + 1" if compact else length, f"*{value}"]
        name = f"SHAPES_{template[1:].replace('{}', '_').replace('?', 'o')}"
        shapes = source.add_constant(name, runtime.PackersByArrayLengths(template, compact=compact))
        pack = source.new_local("pack")
        for last in lengths.values():
            source.insert_line_at_mark(f"{last} = -1")
        with source.indented_block(
            f"if {' or '.join(f'{n} != {last}' for n, last in lengths.items())}"
        ):
            source.add_line(f"{pack} = {shapes}[{', '.join(lengths)}]")
            for length, last in lengths.items():
                source.add_line(f"{last} = {length}")
        return f"{pack}({', '.join(values)})"

    def _emit_collected_chunks(self) -> None:
        """Emit the chunks collected so far."""
        self._end_packed_run()
        chunks, self._chunks = self._chunks, []
        if len(chunks) == 1:
            self.source.add_line(f"{self._out}.append({chunks[0]})")
        elif chunks:
            self.source.add_line(f"{self._out} += ({', '.join(chunks)})")
