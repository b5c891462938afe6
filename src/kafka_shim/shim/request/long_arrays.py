"""Long arrays of a large request: a time slice may end during any iteration over them."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from kafka_shim.protocol.codec.message_spec import StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.request.time_slices import TimeSlices

Message = TypeVar("Message")

LONG_ARRAY_ITEMS = 64
"""Shorter arrays are gone through in one time slice."""


class TimeSlicedList(list[Any]):
    """A list whose iteration is divided into time slices; after any element, other requests may be
    handled.
    """

    __slots__ = ("_slices",)

    def __init__(self, elements: list[Any], slices: TimeSlices[Any]) -> None:
        super().__init__(elements)
        self._slices = slices

    def __iter__(self) -> Iterator[Any]:
        return self._slices.time_sliced(super().__iter__())

    def __reversed__(self) -> Iterator[Any]:
        return self._slices.time_sliced(super().__reversed__())


def slice_long_arrays_unless_session_fetch(
    request: Any, key: ApiKey, slices: TimeSlices[Any]
) -> None:
    """Replace the long arrays of a request by TimeSlicedLists, except in a Fetch of a session."""
    changes_session = key is ApiKey.FETCH and request.session_epoch > 0
    if not changes_session:
        _replace_long_arrays(request, _fields_containing_arrays(type(request).__name__), slices)


def rewrite_and_slice_long_arrays(
    rewrite: Callable[[Message], Message], request: Message, slices: TimeSlices[Any]
) -> Message:
    """Return the request in another form, with TimeSlicedLists as its long arrays."""
    rewritten = rewrite(request)
    _replace_long_arrays(rewritten, _fields_containing_arrays(type(request).__name__), slices)
    return rewritten


def _replace_long_arrays(
    value: Any, array_fields: "tuple[_FieldContainingArrays, ...]", slices: TimeSlices[Any]
) -> None:
    for field in array_fields:
        content = getattr(value, field.attribute)
        if not content:
            continue
        if field.inner_fields:
            for row in content if field.is_array else (content,):
                _replace_long_arrays(row, field.inner_fields, slices)
        if field.is_array and len(content) >= LONG_ARRAY_ITEMS:
            setattr(value, field.attribute, TimeSlicedList(content, slices))


class _FieldContainingArrays(NamedTuple):
    """A field that is an array, or that leads to some."""

    attribute: str
    is_array: bool
    inner_fields: "tuple[_FieldContainingArrays, ...]"


@cache
def _fields_containing_arrays(message: str) -> tuple[_FieldContainingArrays, ...]:
    return _array_fields_of_struct(load_message_spec(message).top_level_struct)


def _array_fields_of_struct(spec: StructSpec) -> tuple[_FieldContainingArrays, ...]:
    array_fields = []
    for field in spec.fields:
        further = () if field.struct is None else _array_fields_of_struct(field.struct)
        if further or field.is_array:
            array_fields.append(_FieldContainingArrays(field.attribute, field.is_array, further))
    return tuple(array_fields)
