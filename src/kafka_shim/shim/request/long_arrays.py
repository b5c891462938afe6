"""Long arrays of a large request: a turn may end during any iteration over them."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.request.time_slices import TimeSlices

LONG = 64
"""Shorter arrays are gone through in one turn."""


class LongArray(list[Any]):
    """A list whose iteration takes turns; after any element, other requests may be handled."""

    __slots__ = ("_slices",)

    def __init__(self, elements: list[Any], slices: TimeSlices[Any]) -> None:
        super().__init__(elements)
        self._slices = slices

    def __iter__(self) -> Iterator[Any]:
        return self._slices.over(super().__iter__())

    def __reversed__(self) -> Iterator[Any]:
        return self._slices.over(super().__reversed__())


def time_sliced(request: Any, key: ApiKey, slices: TimeSlices[Any]) -> None:
    """Replace the long arrays of a request by such lists."""
    changes_session = key is ApiKey.FETCH and request.session_epoch > 0
    if not changes_session:
        _replace(request, _ways(type(request).__name__), slices)


def _replace(value: Any, ways: "tuple[_Way, ...]", slices: TimeSlices[Any]) -> None:
    for way in ways:
        content = getattr(value, way.attribute)
        if not content:
            continue
        if way.further:
            for row in content if way.is_array else (content,):
                _replace(row, way.further, slices)
        if way.is_array and len(content) >= LONG:
            setattr(value, way.attribute, LongArray(content, slices))


class _Way(NamedTuple):
    """A field that is an array, or that leads to some."""

    attribute: str
    is_array: bool
    further: "tuple[_Way, ...]"


@cache
def _ways(message: str) -> tuple[_Way, ...]:
    return _ways_of(load_message_spec(message).struct)


def _ways_of(spec: StructSpec) -> tuple[_Way, ...]:
    found = []
    for field in spec.fields:
        further = () if field.struct is None else _ways_of(field.struct)
        if further or field.is_array:
            found.append(_Way(field.attribute, field.is_array, further))
    return tuple(found)
