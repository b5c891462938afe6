"""Requests with one long array: each array of each API in turn."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.arrays.values import OF_API, value
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header


class Case(NamedTuple):
    """An API and the path of its long array; `equal`: all elements are equal."""

    api: ApiKey
    version: int
    path: tuple[str, ...]
    is_equal: bool

    @property
    def name(self) -> str:
        kind = " equal" if self.is_equal else ""
        return f"{self.api.wire_name} {self.version} {'.'.join(self.path)}{kind}"

    @property
    def is_of_partitions(self) -> bool:
        """Return whether the elements are partitions of the first topic, not topics."""
        return "partition" in self.path[-1] and "topic" not in self.path[-1]

    def elements(self, frame_bytes: int) -> int:
        """Return the number of elements for a request of about this size."""
        count = 1000
        for _ in range(2):  # larger numbers have more digits
            count = max(1, int(count * frame_bytes / len(self.frame(count))))
        return count

    def request(self, elements: int) -> Any:
        """Return the request; of the tagged fields, it has those on the path."""
        spec = load_message_spec(f"{self.api.wire_name}Request")
        return _Making(self, message_classes_by_name(spec.name), elements).struct(
            spec.top_level_struct, 0, self.path, ()
        )

    def frame(self, elements: int) -> bytes:
        head = write_request_header(RequestHeader(self.api, self.version, 7, "arrays"))
        return head + codecs.write_request(self.request(elements), self.version)


class _Making(NamedTuple):
    """Fills structs with valid values; `number` is the position in the long array.

    `path` is the rest of the path to that array, `behind` the path to this struct.
    """

    case: Case
    types: Any
    elements: int

    def struct(
        self, spec: StructSpec, number: int, path: tuple[str, ...], behind: tuple[str, ...]
    ) -> Any:
        values = {
            field.attribute: self._field(field, number, path, behind)
            for field in spec.fields
            if field.versions.has(self.case.version)
            and (path[:1] == (field.attribute,) or not field.tagged_versions.has(self.case.version))
        }
        return self.types[spec.name](**values)

    def _field(
        self, field: FieldSpec, number: int, path: tuple[str, ...], behind: tuple[str, ...]
    ) -> Any:
        is_on_path = path[:1] == (field.attribute,)
        further = path[1:] if is_on_path else ()
        if not field.is_array:
            return self._value(field, number, further, behind)
        if is_on_path and not further:
            numbers = [0] * self.elements if self.case.is_equal else range(self.elements)
            return [self._value(field, at, (), behind) for at in numbers]
        usual = OF_API.get(self.case.api, {})
        if field.attribute in usual and not is_on_path:
            return usual[field.attribute]
        return [self._value(field, number if field.attribute == "entity" else 0, further, behind)]

    def _value(
        self, field: FieldSpec, number: int, path: tuple[str, ...], behind: tuple[str, ...]
    ) -> Any:
        if field.struct is not None:
            return self.struct(field.struct, number, path, (*behind, field.attribute))
        return value(self.case.api, field, number, behind)


def cases(api: ApiKey, version: int) -> Iterator[Case]:
    """Yield each array of a request, with different and with equal elements."""
    for path in _paths(load_message_spec(f"{api.wire_name}Request").top_level_struct, version):
        for is_equal in (False, True):
            yield Case(api, version, path, is_equal)


def _paths(spec: StructSpec, version: int) -> Iterator[tuple[str, ...]]:
    for field in spec.fields:
        if not field.versions.has(version) or field.tagged_versions.has(version):
            continue
        if field.is_array:
            yield (field.attribute,)
        if field.struct is not None:
            for further in _paths(field.struct, version):
                yield (field.attribute, *further)
