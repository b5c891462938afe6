"""Reads only the names of resources in a request, without building the request.

It is for code that reads many requests and needs only their resources. Other fields are skipped:
those of fixed width by arithmetic, strings by their length. Bytes after the last name are not read,
so damage there is not noticed; an unreadable name is a DecodeError.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from struct import Struct

import msgspec

from kafka_shim.protocol.codec import runtime
from kafka_shim.protocol.codec.catalogue import api_name, message_spec_of_version
from kafka_shim.protocol.codec.codecs import message_reader
from kafka_shim.protocol.codec.function_source import Expression, FunctionSource, LocalName
from kafka_shim.protocol.codec.message_spec import ZERO_UUID, FieldSpec, MessageSpec, StructSpec
from kafka_shim.protocol.codec.read_cursor import ReadCursor
from kafka_shim.protocol.codec.reader_source import READ_ERRORS
from kafka_shim.protocol.codec.wire_layout import STRUCT_CODE_WIDTHS, STRUCT_CODES, WireLayout

NAME_LISTS = ("topics", "topic_ids", "groups", "transactional_ids", "config_resources")
"""Attributes of `ResourceNames`, in their order."""
_ENTITIES = {"topicName": "topics", "groupId": "groups", "transactionalId": "transactional_ids"}
_STRUCTS_WITHOUT_ACCESS = {"Cursor", "ForgottenTopic"}
"""Structs whose topics are mentioned but not accessed."""
_DECODE = '.decode("utf-8", "kafka-shim-replace")'


def resource_names_source(
    message: MessageSpec, version: int, constants: Mapping[str, object]
) -> FunctionSource:
    """Return the source of `read_names(buf, pos) -> names`.

    `constants` has ResourceNames and NOTHING.
    """
    return _NamesReaderGenerator(WireLayout(message, version), constants).generate()


def name_lists(message: MessageSpec, version: int) -> frozenset[str]:
    """Return the lists of `ResourceNames` that a request of this version can fill."""
    return frozenset(_NamesReaderGenerator(WireLayout(message, version), {}).name_lists())


class _NamesReaderGenerator:
    def __init__(self, layout: WireLayout, constants: Mapping[str, object]) -> None:
        self._layout = layout
        self.source = FunctionSource("read_names(buf, pos)")
        self._cursor = ReadCursor(self.source)
        for name, value in constants.items():
            self.source.add_constant(name, value)

    def generate(self) -> FunctionSource:
        source, struct = self.source, self._layout.message.top_level_struct
        fields = self._layout.untagged_fields(struct)
        while fields and not self._has_resource_name(fields[-1], struct):
            fields.pop()
        if not fields:
            source.add_line("return ResourceNames()")
            return source
        source.add_line("start = pos")
        with source.indented_block("try"):
            for name in NAME_LISTS:
                source.add_line(f"{name} = []")
            self._emit_fields(fields, struct)
            self._cursor.emit_deferred_reads()
            with source.indented_block("if pos > len(buf)"):
                source.add_line(
                    f"raise {self._add_runtime_function('missing_bytes_error')}(buf, pos)"
                )
            source.add_line(f"return ResourceNames({', '.join(NAME_LISTS)})")
        source.add_constant("READ_ERRORS", READ_ERRORS)
        with source.indented_block("except READ_ERRORS as error"):
            damaged = self._add_runtime_function("undecodable_message_error")
            title = self._layout.name_with_version
            source.add_line(f'raise {damaged}("{title}", buf, start, error) from error')
        return source

    def _add_runtime_function(self, name: str) -> str:
        return self.source.add_constant(name, getattr(runtime, name))

    # --- resource names

    def _has_resource_name(self, field: FieldSpec, parent_struct: StructSpec) -> bool:
        if field.struct:
            return self._contains_resource_names(field.struct)
        return self._list_name_for_field(field, parent_struct) is not None

    def _contains_resource_names(self, struct: StructSpec) -> bool:
        return any(
            self._has_resource_name(field, struct) for field in self._layout.untagged_fields(struct)
        )

    def name_lists(self) -> Iterator[str]:
        """Yield the list of each field with a resource's name."""
        message = self._layout.message
        for struct in (message.top_level_struct, *message.structs_inner_first):
            for field in self._layout.untagged_fields(struct):
                list_name = self._list_name_for_field(field, struct)
                if list_name is not None:
                    yield list_name

    def _list_name_for_field(self, field: FieldSpec, struct: StructSpec) -> str | None:
        """Return the list for a field's value; None if it is not the name of a resource."""
        if struct.name in _STRUCTS_WITHOUT_ACCESS:
            return None
        if field.name == "TopicId":
            return "topic_ids"
        if field.name == "GroupId":
            return "groups"
        if field.name == "ResourceName" and struct.name.endswith("ConfigsResource"):
            return "config_resources"
        return _ENTITIES.get(field.entity_type)

    # --- fields

    def _emit_struct(self, struct: StructSpec) -> None:
        self._emit_fields(self._layout.untagged_fields(struct), struct)
        if self._layout.is_flexible:
            here, after = self._cursor.position_expression(), self._cursor.position_expression(1)
            with self.source.indented_block(f"if buf[{here}]"):
                skip = self._add_runtime_function("skip_tags")
                self.source.add_line(f"pos = {skip}(buf, {after}, buf[{here}])")
            with self.source.indented_block("else"):
                self.source.add_line(f"pos += {self._cursor.bytes_ahead + 1}")
            self._cursor.bytes_ahead = 0

    def _emit_fields(self, fields: list[FieldSpec], struct: StructSpec) -> None:
        for field in fields:
            list_name = self._list_name_for_field(field, struct)
            if field.is_array:
                self._emit_array(field, list_name)
            else:
                self._emit_single_field(field, list_name, nullable=self._layout.is_nullable(field))

    def _emit_single_field(
        self, field: FieldSpec, list_name: str | None, *, nullable: bool
    ) -> None:
        if field.element_kind in STRUCT_CODES:
            self._emit_fixed_width(field, list_name)
        elif field.struct:
            self._emit_inner_struct(field.struct, nullable=nullable)
        else:
            self._emit_string(field, list_name)

    def _emit_fixed_width(self, field: FieldSpec, list_name: str | None) -> None:
        """Emit the reading of a field of fixed width; zero ids are not appended.

        A resource type stays in a local for the name that follows it.
        """
        width = STRUCT_CODE_WIDTHS[STRUCT_CODES[field.element_kind]]
        if list_name:
            value = self.source.new_local(field.attribute)
            position = self._cursor.position_expression()
            self.source.add_line(
                f"{value} = buf[{position} : {self._cursor.position_expression(width)}]"
            )
            with self.source.indented_block(f"if {value} != NOTHING"):
                self.source.add_line(f"{list_name}.append({value})")
        elif field.name == "ResourceType":
            self.source.add_line(f"resource_type = buf[{self._cursor.position_expression()}]")
        self._cursor.bytes_ahead += width

    def _emit_inner_struct(self, struct: StructSpec, *, nullable: bool) -> None:
        if not nullable:
            self._emit_struct(struct)
            return
        self._cursor.bytes_ahead += 1
        self._cursor.emit_deferred_reads()
        with self.source.indented_block("if buf[pos - 1] < 128"):
            self._emit_struct(struct)
            self._cursor.emit_deferred_reads()

    def _emit_length(self, struct_code: str) -> LocalName:
        """Emit the reading of a length, of its first byte if it is compact; return its local."""
        length = self.source.new_local("n")
        if struct_code == "B":
            self.source.add_line(f"{length} = buf[{self._cursor.position_expression()}]")
        else:
            unpack = self.source.add_constant(
                f"READ_{struct_code}", Struct(f">{struct_code}").unpack_from
            )
            self.source.add_line(
                f"({length},) = {unpack}(buf, {self._cursor.position_expression()})"
            )
        self._cursor.bytes_ahead += STRUCT_CODE_WIDTHS[struct_code]
        return length

    def _emit_string(self, field: FieldSpec, list_name: str | None) -> None:
        source = self.source
        if not self._layout.is_compact(field):
            length = self._emit_length("h" if field.element_kind == "string" else "i")
            self._cursor.emit_deferred_reads()
            with source.indented_block(
                f"if {length} > 0" if not list_name else f"if {length} >= 0"
            ):
                source.add_line(self._name_statement(list_name, length, 0))
            return
        length = self._emit_length("B")
        with source.indented_block(f"if {length} and {length} < 128"):
            source.add_line(self._name_statement(list_name, length, self._cursor.bytes_ahead - 1))
        with source.indented_block("else"):
            if list_name:
                value = source.new_local("value")
                long = self._add_runtime_function("read_compact_nullable_string")
                position = self._cursor.position_expression()
                source.add_line(f'{value}, pos = {long}(buf, {position}, {length}, "{field.name}")')
                with source.indented_block(f"if {value} is not None"):
                    source.add_line(self._append_statement(list_name, value))
            else:
                skip = self._add_runtime_function("skip_compact_bytes")
                source.add_line(
                    f"pos = {skip}(buf, {self._cursor.position_expression()}, {length})"
                )
        self._cursor.bytes_ahead = 0

    def _name_statement(self, list_name: str | None, length: LocalName, extra_bytes: int) -> str:
        if list_name:
            return self._append_statement(
                list_name,
                f"{self._cursor.slice_expression(length, extra_bytes)}{_DECODE}",
            )
        return f"pos += {length} + {extra_bytes}" if extra_bytes else f"pos += {length}"

    def _append_statement(self, list_name: str, value: Expression) -> str:
        name_expression = f"(resource_type, {value})" if list_name == "config_resources" else value
        return f"{list_name}.append({name_expression})"

    # --- arrays

    def _emit_array(self, field: FieldSpec, list_name: str | None) -> None:
        source, compact = self.source, self._layout.is_compact(field)
        length = self._emit_length("B" if compact else "i")
        self._cursor.emit_deferred_reads()
        minimum = self._layout.min_element_bytes(field)
        check = self._add_runtime_function(
            "read_compact_count_plus_one" if compact else "check_int32_count"
        )
        is_long = f"{length} > 127"
        with source.indented_block(f"if {is_long}"):
            arguments = f'buf, pos, {length}, {minimum}, True, "{field.name}"'
            source.add_line(f"{length}, pos = {check}({arguments})")
        with source.indented_block(f"if {length} > {1 if compact else 0}"):
            self._emit_elements(field, list_name, f"{length} - 1" if compact else length)

    def _emit_elements(self, field: FieldSpec, list_name: str | None, count: Expression) -> None:
        source, struct = self.source, field.struct
        if field.element_kind in STRUCT_CODES and not list_name:
            source.add_line(
                f"pos += {STRUCT_CODE_WIDTHS[STRUCT_CODES[field.element_kind]]} * ({count})"
            )
            return
        stride = (
            self._layout.fixed_width_struct_codes(struct)
            if struct and not self._contains_resource_names(struct)
            else None
        )
        if not stride:
            self._emit_element_loop(field, list_name, count)
            return
        tag_bytes = int(self._layout.is_flexible)
        size = Struct(f">{stride}").size + tag_bytes
        source.add_line(f"end = pos + {size} * ({count})")
        if not tag_bytes:
            source.add_line("pos = end")
            return
        with source.indented_block(f"if any(buf[pos + {size - 1} : end : {size}])"):
            self._emit_element_loop(field, list_name, count)
        with source.indented_block("else"):
            source.add_line("pos = end")

    def _emit_element_loop(
        self, field: FieldSpec, list_name: str | None, count: Expression
    ) -> None:
        with self.source.indented_block(f"for _ in range({count})"):
            self._emit_single_field(field, list_name, nullable=False)
            self._cursor.emit_deferred_reads()


_TRANSACTION_COORDINATOR = 1


class ResourceNames(msgspec.Struct, gc=False):
    """Names in the order of the request, including repeated ones; null names are left out.

    `topic_ids` are of 16 bytes, zero ids are left out; `config_resources` are pairs of a config
    resource type's code (2 topic, 4 broker, ...) and a name. Names in
    ACLs, and names of users, quotas and settings, are not resources that the request accesses.
    """

    topics: list[str] = []
    topic_ids: list[bytes] = []
    groups: list[str] = []
    transactional_ids: list[str] = []
    config_resources: list[tuple[int, str]] = []


NamesReader = Callable[[bytes, int], ResourceNames]


@cache
def names_reader(message_name: str, version: int) -> NamesReader:
    """Return `read(buf, pos) -> names` for a request by its full name, such as `FetchRequest`."""
    if message_name == "FindCoordinatorRequest":
        return _find_coordinator_names_reader(version)
    spec = message_spec_of_version(message_name, version)
    constants = {"ResourceNames": ResourceNames, "NOTHING": ZERO_UUID}
    return resource_names_source(spec, version, constants).compile(
        f"names reader of {message_name} v{version}"
    )


@cache
def names_in_requests(api_key: int, version: int) -> frozenset[str]:
    """Return the attributes of `ResourceNames` that requests of an API can fill."""
    message_name = f"{api_name(api_key)}Request"
    if message_name == "FindCoordinatorRequest":
        return frozenset({"groups", "transactional_ids"} if version else {"groups"})
    return name_lists(message_spec_of_version(message_name, version), version)


def read_resource_names(api_key: int, version: int, frame: bytes, pos: int) -> ResourceNames:
    """Return the names in the request whose body starts at `pos`."""
    return _request_names_reader(api_key, version)(frame, pos)


@cache
def _request_names_reader(api_key: int, version: int) -> NamesReader:
    return names_reader(f"{api_name(api_key)}Request", version)


def _find_coordinator_names_reader(version: int) -> NamesReader:
    """Return a reader that reads also the key type, which may follow the keys."""
    read = message_reader("FindCoordinatorRequest", version)

    def read_names(buf: bytes, pos: int) -> ResourceNames:
        request = read(buf, pos)
        keys = list(request.coordinator_keys) or [request.key]
        if request.key_type == _TRANSACTION_COORDINATOR:
            return ResourceNames(transactional_ids=keys)
        return ResourceNames(groups=keys)

    return read_names
