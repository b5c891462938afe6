"""Responses to requests that failed as a whole: the error on each row, in the request's order."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode

Response = TypeVar("Response", bound=msgspec.Struct)


class _ResponseField(NamedTuple):
    """A field of a response; `row_type` is that of its rows if it is an array of structs."""

    name: str
    row_type: type[msgspec.Struct] | None
    is_nullable: bool


def mirroring_error_builder(
    response_type: type[Response],
    request_field_names: Mapping[str, str] | None = None,
    constant_fields: Mapping[str, Any] | None = None,
) -> Callable[[Any, ErrorCode, str | None], Response]:
    """Return a function that builds the error response of an API.

    It sets each `error_code` and `error_message`, has a row for each row of the request's array of
    the same name, and copies the fields of rows that have the same names. `request_field_names` has
    the names in the request of response fields with another name. `constant_fields` are values of
    fields that are not copied. A row of a plain value has the value in its first field that is no
    error.
    """
    names, values = request_field_names or {}, constant_fields or {}

    def error_response(request: Any, error: ErrorCode, message: str | None) -> Response:
        errors = {"error_code": error, "error_message": message, **values}
        return response_type(**_mirrored_fields(response_type, request, errors, names))

    return error_response


def _mirrored_fields(
    row_type: type[msgspec.Struct],
    source: Any,
    errors: Mapping[str, Any],
    names: Mapping[str, str],
) -> dict[str, Any]:
    """Return the error fields of a struct, and its arrays by those of the request."""
    fields: dict[str, Any] = {}
    for name, inner, _ in _response_fields(row_type):
        if name in errors:
            fields[name] = errors[name]
        elif inner is not None and hasattr(source, names.get(name, name)):
            rows = getattr(source, names.get(name, name)) or ()
            fields[name] = [_mirror_row(inner, row, errors, names) for row in rows]
    return fields


def _mirror_row(
    row_type: type[msgspec.Struct], source: Any, errors: Mapping[str, Any], names: Mapping[str, str]
) -> msgspec.Struct:
    fields = _mirrored_fields(row_type, source, errors, names)
    for name, inner, is_nullable in _response_fields(row_type):
        if inner is not None or name in fields or name == "unknown_tags":
            continue
        if not isinstance(source, msgspec.Struct):
            fields[name] = source
            break
        if hasattr(source, names.get(name, name)):
            value = getattr(source, names.get(name, name))
            if value is not None or is_nullable:
                fields[name] = value
    return row_type(**fields)


@cache
def _response_fields(row_type: type[msgspec.Struct]) -> tuple[_ResponseField, ...]:
    return tuple(
        _ResponseField(
            field.name, _struct_type_of_array(field.type), type(None) in get_args(field.type)
        )
        for field in msgspec.structs.fields(row_type)
    )


def _struct_type_of_array(kind: Any) -> type[msgspec.Struct] | None:
    """Return the type of the rows of an array; None if it is no array of structs."""
    for inner in (kind, *get_args(kind)):
        for element in get_args(inner) or (inner,):
            if isinstance(element, type) and issubclass(element, msgspec.Struct):
                return element
    return None
