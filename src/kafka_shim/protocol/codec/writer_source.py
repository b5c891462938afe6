"""Generates the source of a writer from a message definition and a version.

The source is one flat function that collects pieces in a list and joins them once. A run of
consecutive values of fixed width becomes one precompiled `pack`, also with arrays of numbers
between them (see `runtime.Shapes`); the length of a string joins the values before it.
"""

from collections.abc import Mapping
from struct import Struct, error as struct_error

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.source import Source
from kafka_shim.protocol.codec.source_text import literal, struct_name
from kafka_shim.protocol.codec.wire_layout import CODES, Layout
from kafka_shim.protocol.errors import EncodeError

WRITE_ERRORS = (
    struct_error, AttributeError, TypeError, ValueError, OverflowError, IndexError, EncodeError,
)  # fmt: skip
VARINT = "V"
"""Stands for a compact length in a run, which can only be its last value."""


def writer_source(
    message: MessageSpec, version: int, classes: Mapping[str, type], *, joins: bool = True
) -> Source:
    """Return the source of `write(message) -> bytes`; `classes` are its classes by name.

    Unless it `joins`, it returns a list of the bytes, in which `Pieces` stay what they are.
    """
    return _Writer(Layout(message, version), classes).build('b"".join(out)' if joins else "out")


class _Writer:
    def __init__(self, layout: Layout, classes: Mapping[str, type]) -> None:
        self._layout = layout
        self._classes = classes
        self._run: list[tuple[str, str]] = []
        self._pieces: list[str] = []
        self._out = "out"
        self.source = Source("write(message)")

    def build(self, result: str) -> Source:
        source = self.source
        with source.block("try"):
            source.line("out = []")
            source.here_is_first()
            self._emit_struct(self._layout.message.struct, "message")
            self._emit_pieces()
            source.line(f"return {result}")
        source.constant("WRITE_ERRORS", WRITE_ERRORS)
        with source.block("except WRITE_ERRORS as error"):
            unwritable = self._runtime_constant("unwritable")
            source.line(f'raise {unwritable}("{self._layout.title}", error) from error')
        return source

    def _runtime_constant(self, name: str) -> str:
        return self.source.constant(name, getattr(runtime, name))

    # --- structs

    def _emit_struct(self, struct: StructSpec, holder: str) -> None:
        for field in self._layout.absent(struct):
            self._emit_error_if_unsupported(field, f"{holder}.{field.attribute}")
        for field in self._layout.plain(struct):
            self._emit_value(field, f"{holder}.{field.attribute}")
        if not self._layout.is_flexible:
            return
        if known := self._layout.tagged(struct):
            self._emit_tagged_fields(known, holder)
            return
        self._run.append(("", "x"))
        self._emit_pieces()
        with self.source.block(f"if {holder}.unknown_tags"):
            with_tags = self._runtime_constant("with_tags")
            out = self._out
            self.source.line(f"{out}[-1] = {with_tags}({out}[-1], {holder}.unknown_tags)")

    def _emit_error_if_unsupported(self, field: FieldSpec, value: str) -> None:
        """Emit an error for a value that this version cannot encode, as Kafka's writers do."""
        if field.is_ignorable:
            return
        with self.source.block(f"if {self._differs_from_default(field, value)}"):
            absent = self._runtime_constant("absent")
            self.source.line(f'raise {absent}("{field.name}", {self._layout.version})')

    def _differs_from_default(self, field: FieldSpec, value: str) -> str:
        """Return the condition that a value is not the default."""
        if field.default is None:
            return f"{value} is not None"
        if field.is_array:
            return f"{value} is None or {value}" if field.is_ever_null else value
        if field.struct:
            default = self._classes[field.struct.name]()
            name = self.source.constant(f"DEFAULT_{field.struct.name}", default)
            return f"{value} != {name}"
        if field.kind == "bool":
            return f"not {value}" if field.default else value
        return f"{value} != {literal(self.source, field)}"

    def _emit_tagged_fields(self, known: list[FieldSpec], holder: str) -> None:
        source, out = self.source, self._out
        self._emit_pieces()
        tagged = source.local("tagged")
        source.line(f"{tagged} = []")
        for field in known:
            value = f"{holder}.{field.attribute}"
            with source.block(f"if {self._differs_from_default(field, value)}"):
                inner = source.local("inner")
                source.line(f"{inner} = []")
                self._out = inner
                self._emit_value(field, value)
                self._emit_pieces()
                source.line(f'{tagged}.append(({field.tag}, b"".join({inner})))')
        self._out = out
        section = self._runtime_constant("tag_section")
        with source.block(f"if {tagged} or {holder}.unknown_tags"):
            source.line(f"{out}.append({section}({tagged}, {holder}.unknown_tags))")
        with source.block("else"):
            source.line(f'{out}.append(b"\\0")')

    # --- values

    def _emit_value(self, field: FieldSpec, value: str) -> None:
        if field.is_array:
            self._emit_array(field, value)
        else:
            self._emit_single_value(field, value, nullable=self._layout.is_nullable(field))

    def _emit_single_value(self, field: FieldSpec, value: str, *, nullable: bool) -> None:
        if field.kind == "uuid":
            self._emit_uuid(field, value)
        elif field.kind in CODES:
            self._run.append((value, CODES[field.kind]))
        elif field.struct:
            self._emit_inner_struct(field.struct, value, nullable=nullable)
        else:
            self._emit_bytes(field, value, nullable=nullable)

    def _emit_uuid(self, field: FieldSpec, value: str) -> None:
        """Emit a uuid with a check of its length, since `pack` would pad or truncate it."""
        local = self.source.local(field.attribute)
        self.source.line(f"{local} = {value}")
        with self.source.block(f"if len({local}) != 16"):
            self.source.line(f'raise {self._runtime_constant("not_a_uuid")}("{field.name}")')
        self._run.append((local, CODES["uuid"]))

    def _emit_inner_struct(self, struct: StructSpec, value: str, *, nullable: bool) -> None:
        source = self.source
        local = value
        if "." in value:
            local = source.local(value.rpartition(".")[2])
            source.line(f"{local} = {value}")
        if not nullable:
            self._emit_struct(struct, local)
            return
        self._emit_pieces()
        with source.block(f"if {local} is None"):
            source.line(f'{self._out}.append(b"\\xff")')
        with source.block("else"):
            self._run.append(("1", "b"))
            self._emit_struct(struct, local)
            self._emit_pieces()

    def _emit_bytes(self, field: FieldSpec, value: str, *, nullable: bool) -> None:
        """Emit a string, bytes or records: the length joins the run, the content is a piece."""
        source = self.source
        content, length = source.local(field.attribute), source.local("n")
        compact = self._layout.is_compact(field)
        encoded = self._encoded_expression(field, content if nullable else value)
        counted = f"len({content}) + 1" if compact else f"len({content})"
        source.line(f"{content} = {value if nullable else encoded}")
        if nullable:
            with source.block(f"if {content} is None"):
                source.line(f'{content} = b""')
                source.line(f"{length} = {0 if compact else -1}")
            with source.block("else"):
                if encoded != content:
                    source.line(f"{content} = {encoded}")
                source.line(f"{length} = {counted}")
        else:
            source.line(f"{length} = {counted}")
        self._add_length(length, "h" if field.kind == "string" else "i", compact=compact)
        self._pieces.append(content)

    def _encoded_expression(self, field: FieldSpec, value: str) -> str:
        """Return the expression for the bytes of a value that is not null."""
        if field.kind != "string":
            return value
        if field.attribute.endswith("error_message"):
            return f"{self._runtime_constant('error_text')}({value})"
        return f"{value}.encode()"

    def _add_length(self, length: str, code: str, *, compact: bool) -> None:
        """Add a length to the run and close the run."""
        if compact and any(c.startswith("[") for _, c in self._run):
            self._finish_run()
        self._run.append((length, VARINT if compact else code))
        self._finish_run()

    # --- arrays

    def _emit_array(self, field: FieldSpec, value: str) -> None:
        source = self.source
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        items = source.local(field.attribute)
        source.line(f"{items} = {value}")
        if field.kind in CODES and field.kind != "uuid" and not nullable:
            self._run.append((items, "[" + CODES[field.kind]))
            return
        length = source.local("n")
        null = "0" if compact else "-1"
        counted = f"len({items}) + 1" if compact else f"len({items})"
        length_expression = f"{null} if {items} is None else {counted}" if nullable else counted
        source.line(f"{length} = {length_expression}")
        self._add_length(length, "i", compact=compact)
        self._emit_pieces()
        present = f"{items} or ()" if nullable else items
        if field.kind in CODES:
            self._emit_numbers(CODES[field.kind], present, field.name)
            return
        element = source.local("item")
        with source.block(f"for {element} in {present}"):
            self._emit_single_value(field, element, nullable=False)
            self._emit_pieces()

    def _emit_numbers(self, code: str, present: str, name: str) -> None:
        if code == "16s":
            check = self._runtime_constant("uuids")
            self.source.line(f'{self._out}.append({check}({present}, "{name}"))')
        else:
            pack = self._runtime_constant("values")
            self.source.line(f'{self._out}.append({pack}("{code}", {present}))')

    # --- runs and pieces

    def _finish_run(self) -> None:
        """Make the run one piece."""
        run, self._run = self._run, []
        if not run:
            return
        if any(code.startswith("[") for _, code in run):
            self._pieces.append(self._pack_with_number_arrays(run))
        elif run[-1][1] == VARINT:
            self._pieces.append(self._pack_with_varint(run[:-1], run[-1][0]))
        else:
            self._pieces.append(self._pack_expression(run))

    def _pack_expression(self, run: list[tuple[str, str]]) -> str:
        codes = "".join(code for _, code in run)
        if set(codes) == {"x"}:
            return repr(bytes(len(codes)))
        if codes == "B":
            return f"{self._runtime_constant('BYTE')}[{run[0][0]}]"
        name = self.source.constant(struct_name("PACK", codes), Struct(f">{codes}").pack)
        return f"{name}({', '.join(value for value, _ in run if value)})"

    def _pack_with_varint(self, run: list[tuple[str, str]], length: str) -> str:
        """Return a piece that ends in a compact length; most lengths fit one byte."""
        varint = f"{self._runtime_constant('varint_bytes')}({length})"
        short = self._pack_expression([*run, (length, "B")])
        long = f"{self._pack_expression(run)} + {varint}" if run else varint
        return f"({short} if {length} < 128 else {long})"

    def _pack_with_number_arrays(self, run: list[tuple[str, str]]) -> str:
        """Return a piece with arrays of numbers; its packer depends on their lengths.

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
            length = source.local("n")
            source.line(f"{length} = len({value})")
            lengths[length] = source.local("last")
            template += ("B" if compact else "i") + "{}" + code[1:]
            values += [f"{length} + 1" if compact else length, f"*{value}"]
        name = f"SHAPES_{template[1:].replace('{}', '_').replace('?', 'o')}"
        shapes = source.constant(name, runtime.Shapes(template, compact=compact))
        pack = source.local("pack")
        for last in lengths.values():
            source.at_first(f"{last} = -1")
        with source.block(f"if {' or '.join(f'{n} != {last}' for n, last in lengths.items())}"):
            source.line(f"{pack} = {shapes}[{', '.join(lengths)}]")
            for length, last in lengths.items():
                source.line(f"{last} = {length}")
        return f"{pack}({', '.join(values)})"

    def _emit_pieces(self) -> None:
        """Emit the pieces collected so far."""
        self._finish_run()
        pieces, self._pieces = self._pieces, []
        if len(pieces) == 1:
            self.source.line(f"{self._out}.append({pieces[0]})")
        elif pieces:
            self.source.line(f"{self._out} += ({', '.join(pieces)})")
