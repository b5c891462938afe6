"""Generates the source that reads only the resource names of a request.

Other fields are skipped: those of fixed width by arithmetic, strings by their length. Bytes after
the last name are not read.
"""

from collections.abc import Mapping
from struct import Struct

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.message_spec import FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.read_cursor import Cursor
from kafka_shim.protocol.codec.reader_source import READ_ERRORS
from kafka_shim.protocol.codec.source import Source
from kafka_shim.protocol.codec.wire_layout import CODES, WIDTHS, Layout

LISTS = ("topics", "topic_ids", "groups", "transactional_ids", "config_resources")
"""Attributes of `skim.ResourceNames`, in their order."""
_ENTITIES = {"topicName": "topics", "groupId": "groups", "transactionalId": "transactional_ids"}
_STRUCTS_WITHOUT_ACCESS = {"Cursor", "ForgottenTopic"}
"""Structs whose topics are mentioned but not accessed."""
_DECODE = '.decode("utf-8", "kafka-shim-replace")'


def skim_source(message: MessageSpec, version: int, constants: Mapping[str, object]) -> Source:
    """Return the source of `skim(buf, pos) -> names`; `constants` has ResourceNames and NOTHING."""
    return _Skimmer(Layout(message, version), constants).build()


class _Skimmer:
    def __init__(self, layout: Layout, constants: Mapping[str, object]) -> None:
        self._layout = layout
        self.source = Source("skim(buf, pos)")
        self._cursor = Cursor(self.source)
        for name, value in constants.items():
            self.source.constant(name, value)

    def build(self) -> Source:
        source, struct = self.source, self._layout.message.struct
        fields = self._layout.plain(struct)
        while fields and not self._is_resource_name(fields[-1], struct):
            fields.pop()
        if not fields:
            source.line("return ResourceNames()")
            return source
        source.line("start = pos")
        with source.block("try"):
            for name in LISTS:
                source.line(f"{name} = []")
            self._emit_fields(fields, struct)
            self._cursor.settle()
            with source.block("if pos > len(buf)"):
                source.line(f"raise {self._runtime_constant('too_short')}(buf, pos)")
            source.line(f"return ResourceNames({', '.join(LISTS)})")
        source.constant("READ_ERRORS", READ_ERRORS)
        with source.block("except READ_ERRORS as error"):
            damaged = self._runtime_constant("damaged")
            title = self._layout.title
            source.line(f'raise {damaged}("{title}", buf, start, error) from error')
        return source

    def _runtime_constant(self, name: str) -> str:
        return self.source.constant(name, getattr(runtime, name))

    # --- what is wanted

    def _is_resource_name(self, field: FieldSpec, struct: StructSpec) -> bool:
        if field.struct:
            return self._contains_resource_names(field.struct)
        return self._list_for_field(field, struct) is not None

    def _contains_resource_names(self, struct: StructSpec) -> bool:
        return any(self._is_resource_name(field, struct) for field in self._layout.plain(struct))

    def _list_for_field(self, field: FieldSpec, struct: StructSpec) -> str | None:
        """Return the list for a field's value; None if it is not the name of a resource."""
        if struct.name in _STRUCTS_WITHOUT_ACCESS:
            return None
        if field.name == "TopicId":
            return "topic_ids"
        if field.name == "GroupId":
            return "groups"
        if field.name == "ResourceName" and struct.name.endswith("ConfigsResource"):
            return "config_resources"
        return _ENTITIES.get(field.entity)

    # --- stepping

    def _emit_struct(self, struct: StructSpec) -> None:
        self._emit_fields(self._layout.plain(struct), struct)
        if self._layout.is_flexible:
            here, after = self._cursor.at(), self._cursor.at(1)
            with self.source.block(f"if buf[{here}]"):
                skip = self._runtime_constant("skip_tags")
                self.source.line(f"pos = {skip}(buf, {after}, buf[{here}])")
            with self.source.block("else"):
                self.source.line(f"pos += {self._cursor.ahead + 1}")
            self._cursor.ahead = 0

    def _emit_fields(self, fields: list[FieldSpec], struct: StructSpec) -> None:
        for field in fields:
            goal = self._list_for_field(field, struct)
            if field.is_array:
                self._emit_array(field, goal)
            else:
                self._emit_single_field(field, goal, nullable=self._layout.is_nullable(field))

    def _emit_single_field(self, field: FieldSpec, goal: str | None, *, nullable: bool) -> None:
        if field.kind in CODES:
            self._emit_fixed_width(field, goal)
        elif field.struct:
            self._emit_inner_struct(field.struct, nullable=nullable)
        else:
            self._emit_string(field, goal)

    def _emit_fixed_width(self, field: FieldSpec, goal: str | None) -> None:
        width = WIDTHS[CODES[field.kind]]
        if goal:
            value = self.source.local(field.attribute)
            self.source.line(f"{value} = buf[{self._cursor.at()} : {self._cursor.at(width)}]")
            with self.source.block(f"if {value} != NOTHING"):
                self.source.line(f"{goal}.append({value})")
        elif field.name == "ResourceType":
            self.source.line(f"resource_type = buf[{self._cursor.at()}]")
        self._cursor.ahead += width

    def _emit_inner_struct(self, struct: StructSpec, *, nullable: bool) -> None:
        if not nullable:
            self._emit_struct(struct)
            return
        self._cursor.ahead += 1
        self._cursor.settle()
        with self.source.block("if buf[pos - 1] < 128"):
            self._emit_struct(struct)
            self._cursor.settle()

    def _emit_length(self, code: str) -> str:
        """Emit the reading of a length, of its first byte if it is compact; return its local."""
        length = self.source.local("n")
        if code == "B":
            self.source.line(f"{length} = buf[{self._cursor.at()}]")
        else:
            unpack = self.source.constant(f"READ_{code}", Struct(f">{code}").unpack_from)
            self.source.line(f"({length},) = {unpack}(buf, {self._cursor.at()})")
        self._cursor.ahead += WIDTHS[code]
        return length

    def _emit_string(self, field: FieldSpec, goal: str | None) -> None:
        source = self.source
        if not self._layout.is_compact(field):
            length = self._emit_length("h" if field.kind == "string" else "i")
            self._cursor.settle()
            with source.block(f"if {length} > 0" if not goal else f"if {length} >= 0"):
                source.line(self._emit_skip_or_append(goal, length, 0))
            return
        length = self._emit_length("B")
        with source.block(f"if {length} and {length} < 128"):
            source.line(self._emit_skip_or_append(goal, length, self._cursor.ahead - 1))
        with source.block("else"):
            if goal:
                value = source.local("value")
                long = self._runtime_constant("long_nullable_string")
                source.line(
                    f'{value}, pos = {long}(buf, {self._cursor.at()}, {length}, "{field.name}")'
                )
                with source.block(f"if {value} is not None"):
                    source.line(self._emit_append(goal, value))
            else:
                skip = self._runtime_constant("skip_long")
                source.line(f"pos = {skip}(buf, {self._cursor.at()}, {length})")
        self._cursor.ahead = 0

    def _emit_skip_or_append(self, goal: str | None, length: str, more: int) -> str:
        if goal:
            return self._emit_append(goal, f"{self._cursor.take(length, more)}{_DECODE}")
        return f"pos += {length} + {more}" if more else f"pos += {length}"

    def _emit_append(self, goal: str, value: str) -> str:
        name_expression = f"(resource_type, {value})" if goal == "config_resources" else value
        return f"{goal}.append({name_expression})"

    # --- arrays

    def _emit_array(self, field: FieldSpec, goal: str | None) -> None:
        source, compact = self.source, self._layout.is_compact(field)
        length = self._emit_length("B" if compact else "i")
        self._cursor.settle()
        minimum = self._layout.element_minimum(field)
        check = self._runtime_constant("long_count" if compact else "wide_count")
        is_long = f"{length} > 127"
        with source.block(f"if {is_long}"):
            arguments = f'buf, pos, {length}, {minimum}, True, "{field.name}"'
            source.line(f"{length}, pos = {check}({arguments})")
        with source.block(f"if {length} > {1 if compact else 0}"):
            self._emit_elements(field, goal, f"{length} - 1" if compact else length)

    def _emit_elements(self, field: FieldSpec, goal: str | None, count: str) -> None:
        source, struct = self.source, field.struct
        if field.kind in CODES and not goal:
            source.line(f"pos += {WIDTHS[CODES[field.kind]]} * ({count})")
            return
        stride = (
            self._layout.stride(struct)
            if struct and not self._contains_resource_names(struct)
            else None
        )
        if not stride:
            self._emit_element_loop(field, goal, count)
            return
        tag_bytes = int(self._layout.is_flexible)
        size = Struct(f">{stride}").size + tag_bytes
        source.line(f"end = pos + {size} * ({count})")
        if not tag_bytes:
            source.line("pos = end")
            return
        with source.block(f"if any(buf[pos + {size - 1} : end : {size}])"):
            self._emit_element_loop(field, goal, count)
        with source.block("else"):
            source.line("pos = end")

    def _emit_element_loop(self, field: FieldSpec, goal: str | None, count: str) -> None:
        with self.source.block(f"for _ in range({count})"):
            self._emit_single_field(field, goal, nullable=False)
            self._cursor.settle()
