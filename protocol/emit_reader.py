"""From a message definition and a version to the source of its reader.

The source is one flat function: fields of fixed width that follow each other are read by one
precompiled Struct, together with the first byte of the length that comes after them. What is rare
(lengths of several bytes, null where it is refused, tags) is a call into `runtime`.
"""

from collections.abc import Mapping
from itertools import starmap
from struct import Struct, calcsize, error as struct_error

from protocol import runtime
from protocol.emit import Source
from protocol.emit_text import literal, struct_name
from protocol.errors import DecodeError
from protocol.layout import CODES, WIDTHS, Layout
from protocol.spec import FieldSpec, MessageSpec, StructSpec

STRIDE_FROM = 3
"""Elements of fixed width are read in one go from this many on; fewer are faster one by one."""
FAULTS = (IndexError, struct_error, MemoryError, OverflowError, DecodeError)


def reader_source(
    message: MessageSpec,
    version: int,
    classes: Mapping[str, type],
    *,
    replaces: bool = False,
    gives_end: bool = False,
) -> Source:
    """Return the source of `read(buf, pos) -> message`.

    `classes` are the message's classes by name. With `replaces` malformed UTF-8 is replaced;
    without, the function hands over to the constant `again`, a reader that replaces. With
    `gives_end` it returns the message and the position after it.
    """
    decode = '.decode("utf-8", "kafka-shim-replace")' if replaces else ".decode()"
    reader = _Reader(Layout(message, version), classes, decode)
    return reader.build(replaces=replaces, gives_end=gives_end)


class _Reader:
    def __init__(self, layout: Layout, classes: Mapping[str, type], decode: str) -> None:
        self._layout = layout
        self._classes = classes
        self._decode = decode
        self._run: list[tuple[str, str]] = []
        self.source = Source("read(buf, pos)")

    def build(self, *, replaces: bool, gives_end: bool) -> Source:
        source, title = self.source, self._layout.title
        source.line("start = pos")
        with source.block("try"):
            message = self._struct(self._layout.message.struct, "message")
            with source.block("if pos > len(buf)"):
                source.line(f"raise {self._runtime('too_short')}(buf, pos)")
            source.line(f"return {message}, pos" if gives_end else f"return {message}")
        if not replaces:
            with source.block("except UnicodeDecodeError"):
                source.line("return again(buf, start)")
        source.constant("FAULTS", FAULTS)
        with source.block("except FAULTS as fault"):
            damaged = self._runtime("damaged")
            source.line(f'raise {damaged}("{title}", buf, start, fault) from fault')
        return source

    def _runtime(self, name: str) -> str:
        return self.source.constant(name, getattr(runtime, name))

    def _class(self, struct: StructSpec) -> str:
        return self.source.constant(struct.name, self._classes[struct.name])

    # --- structs

    def _struct(self, struct: StructSpec, name: str) -> str:
        """Emit the reading of a struct and return the local that holds it."""
        values = {field.name: self._value(field) for field in self._layout.plain(struct)}
        result = self.source.local(name)
        if not self._layout.is_flexible:
            self._flush()
            self.source.line(f"{result} = {self._construct(struct, values)}")
            return result
        tags = self.source.local("tags")
        self._run.append((tags, "B"))
        self._flush()
        if known := self._layout.tagged(struct):
            unknown = self._known_tags(known, tags, values)
            self.source.line(f"{result} = {self._construct(struct, values)}")
            with self.source.block(f"if {unknown}"):
                self.source.line(f"{result}.unknown_tags = tuple({unknown})")
        else:
            self.source.line(f"{result} = {self._construct(struct, values)}")
            with self.source.block(f"if {tags}"):
                read_tags = self._runtime("read_tags")
                self.source.line(f"{result}.unknown_tags, pos = {read_tags}(buf, pos, {tags})")
        return result

    def _construct(self, struct: StructSpec, values: Mapping[str, str]) -> str:
        """Return the call that builds a struct; what comes last and is absent keeps its default."""
        given = [values.get(field.name) for field in struct.fields]
        while given and given[-1] is None:
            given.pop()
        pairs = zip(struct.fields, given, strict=False)
        parts = [self._default(field) if value is None else value for field, value in pairs]
        return f"{self._class(struct)}({', '.join(parts)})"

    def _default(self, field: FieldSpec) -> str:
        if field.default is ...:
            assert field.struct is not None
            return f"{self._class(field.struct)}()"
        return literal(self.source, field)

    def _known_tags(self, known: list[FieldSpec], count: str, values: dict[str, str]) -> str:
        """Emit the reading of a tag section with known tags; return the list of the unknown."""
        source = self.source
        for field in known:
            values[field.name] = source.local(field.attribute)
            source.line(f"{values[field.name]} = {self._default(field)}")
        unknown = source.local("unknown")
        source.line(f"{unknown} = ()")
        with source.block(f"if {count}"):
            varint = self._runtime("varint")
            source.line(f"{unknown} = []")
            with source.block(f"if {count} > 127"):
                source.line(f"{count}, pos = {varint}(buf, pos - 1)")
            tag, size = source.local("tag"), source.local("size")
            with source.block(f"for _ in range({count})"):
                source.line(f"{tag}, pos = {varint}(buf, pos)")
                source.line(f"{size}, pos = {varint}(buf, pos)")
                for index, field in enumerate(known):
                    with source.block(f"{'elif' if index else 'if'} {tag} == {field.tag}"):
                        value = self._value(field)
                        self._flush()
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
            self._run.append((local, CODES[field.kind]))
            return local
        if field.struct:
            return self._inner(field, field.struct, nullable=nullable)
        if field.kind == "string":
            return self._string(field, nullable=nullable)
        return self._bytes(field, nullable=nullable)

    def _inner(self, field: FieldSpec, struct: StructSpec, *, nullable: bool) -> str:
        if not nullable:
            return self._struct(struct, field.attribute)
        mark, result = self.source.local("mark"), self.source.local(field.attribute)
        self._run.append((mark, "B"))
        self._flush()
        with self.source.block(f"if {mark} > 127"):
            self.source.line(f"{result} = None")
        with self.source.block("else"):
            inner = self._struct(struct, field.attribute)
            self.source.line(f"{result} = {inner}")
        return result

    def _string(self, field: FieldSpec, *, nullable: bool) -> str:
        source, result = self.source, self.source.local(field.attribute)
        what = f'"{field.name}"'
        if self._layout.is_compact(field):
            length = self._length("B")
            with source.block(f"if 0 < {length} < 128"):
                source.line(f"end = pos + {length} - 1")
                source.line(f"{result} = buf[pos:end]{self._decode}")
                source.line("pos = end")
            with source.block("else"):
                long = self._runtime("long_nullable_string" if nullable else "long_string")
                source.line(f"{result}, pos = {long}(buf, pos, {length}, {what})")
            return result
        length = self._length("h")
        self._unless_null(length, result, what, nullable=nullable)
        with source.block(f"if {length} >= 0") if nullable else source.straight():
            source.line(f"end = pos + {length}")
            source.line(f"{result} = buf[pos:end]{self._decode}")
            source.line("pos = end")
        return result

    def _bytes(self, field: FieldSpec, *, nullable: bool) -> str:
        source, result = self.source, self.source.local(field.attribute)
        what = f'"{field.name}"'
        if self._layout.is_compact(field):
            length = self._length("B")
            with source.block(f"if 0 < {length} < 128"):
                source.line(f"end = pos + {length} - 1")
                source.line(f"{result} = buf[pos:end]")
                source.line("pos = end")
            with source.block("else"):
                long = self._runtime("long_nullable_bytes" if nullable else "long_bytes")
                source.line(f"{result}, pos = {long}(buf, pos, {length}, {what})")
            return result
        length = self._length("i")
        self._unless_null(length, result, what, nullable=nullable)
        with source.block(f"if {length} >= 0") if nullable else source.straight():
            source.line(f"end = pos + {length}")
            source.line(f"{result} = buf[pos:end]")
            source.line("pos = end")
        return result

    def _unless_null(self, length: str, result: str, what: str, *, nullable: bool) -> None:
        """Emit what a negative length means: null, or a refusal."""
        if nullable:
            self.source.line(f"{result} = None")
            return
        with self.source.block(f"if {length} < 0"):
            self.source.line(f"raise {self._runtime('null')}({what}, pos)")

    def _length(self, code: str) -> str:
        """Emit the reading of a length, of its first byte if it is compact; return its local."""
        length = self.source.local("n")
        self._run.append((length, code))
        self._flush()
        return length

    # --- arrays

    def _array(self, field: FieldSpec) -> str:
        if field.kind in CODES:
            return self._values(field)
        source, result = self.source, self.source.local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._length("B" if compact else "i")
        low = 0 if compact else -1
        count = f"{length} - 1" if compact else length
        minimum = self._layout.element_minimum(field)
        is_long = f"{length} > 127" if nullable else f"not {low} < {length} < 128"
        with source.block(f"if {is_long}"):
            check = self._runtime("long_count" if compact else "wide_count")
            arguments = f'buf, pos, {length}, {minimum}, {nullable}, "{field.name}"'
            source.line(f"{length}, pos = {check}({arguments})")
        if nullable:
            source.line(f"{result} = None")
        with source.block(f"if {length} > {low}") if nullable else source.straight():
            self._elements(field, result, length, count)
        return result

    def _elements(self, field: FieldSpec, result: str, length: str, count: str) -> None:
        source = self.source
        codes = self._layout.stride(field.struct) if field.struct else None
        if codes is None or field.struct is None:
            source.line(f"{result} = []")
            self._loop(field, result, count)
            return
        tag_byte = self._layout.is_flexible
        stride = Struct(f">{codes}{'x' if tag_byte else ''}")
        many = f"{length} > {STRIDE_FROM}"
        source.line(f"end = pos + {stride.size} * ({count})")
        if tag_byte:
            many += f" and not any(buf[pos + {stride.size - 1} : end : {stride.size}])"
        with source.block(f"if {many}"):
            source.line(f"{result} = {self._strides(field.struct, stride)}")
            source.line("pos = end")
        with source.block("else"):
            source.line(f"{result} = []")
            self._loop(field, result, count)

    def _strides(self, struct: StructSpec, stride: Struct) -> str:
        """Return the expression that reads all elements of fixed width between `pos` and `end`."""
        unpack = self.source.constant(struct_name("EACH", stride.format), stride.iter_unpack)
        plain = self._layout.plain(struct)
        if plain == list(struct.fields[: len(plain)]):
            self.source.constant("starmap", starmap)
            return f"[*starmap({self._class(struct)}, {unpack}(buf[pos:end]))]"
        values = {field.name: self.source.local(field.attribute) for field in plain}
        targets = "".join(f"{local}, " for local in values.values())
        call = self._construct(struct, values)
        return f"[{call} for {targets.rstrip()} in {unpack}(buf[pos:end])]"

    def _loop(self, field: FieldSpec, result: str, count: str) -> None:
        with self.source.block(f"for _ in range({count})"):
            element = self._single(field, nullable=False)
            self._flush()
            self.source.line(f"{result}.append({element})")

    def _values(self, field: FieldSpec) -> str:
        """Emit the reading of an array of numbers or uuids."""
        source, result = self.source, self.source.local(field.attribute)
        compact, nullable = self._layout.is_compact(field), self._layout.is_nullable(field)
        length = self._length("B" if compact else "i")
        code = CODES[field.kind]
        width = WIDTHS[code]
        arguments = f'buf, pos, {length}, "{code}", {nullable}, "{field.name}"'
        long = f"{result}, pos = {self._runtime('long_values' if compact else 'wide_values')}"
        if field.kind == "uuid":
            source.line(f"{long}({arguments})")
            return result
        table = source.constant(f"UNPACK_{field.kind}", runtime.unpackers(code))
        low, shift = (0, f" - {width}") if compact else (-1, "")
        index = f"{length} - 1" if compact else length
        with source.block(f"if {low} < {length} < {runtime.SMALL}"):
            source.line(f"{result} = [*{table}[{index}](buf, pos)]")
            source.line(f"pos += {width} * {length}{shift}")
        with source.block("else"):
            source.line(f"{long}({arguments})")
        return result

    # --- runs of fixed width

    def _flush(self) -> None:
        """Emit the reading of the fields noted so far."""
        run, self._run = self._run, []
        if not run:
            return
        source = self.source
        codes = "".join(code for _, code in run)
        if len(run) <= 2 and set(codes) <= set("Bb?"):
            for offset, (local, code) in enumerate(run):
                source.line(f"{local} = {self._byte(code, offset)}")
        elif codes == "16s":
            source.line(f"{run[0][0]} = buf[pos : pos + 16]")
        else:
            unpack = source.constant(struct_name("READ", codes), Struct(f">{codes}").unpack_from)
            targets = ", ".join(local for local, _ in run)
            source.line(f"{targets}{',' if len(run) == 1 else ''} = {unpack}(buf, pos)")
        source.line(f"pos += {calcsize('>' + codes)}")

    def _byte(self, code: str, offset: int) -> str:
        byte = f"buf[pos + {offset}]" if offset else "buf[pos]"
        if code == "B":
            return byte
        if code == "?":
            return f"{byte} != 0"
        return f"{self.source.constant('INT8', runtime.INT8)}[{byte}]"
