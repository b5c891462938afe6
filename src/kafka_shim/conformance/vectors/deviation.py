"""The first deviation of a response from what a vector expects, with the mistake in words."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kafka_shim.conformance.vectors.permission_fields import (
    DENIALS,
    IDENTIFYING,
    NOT_COMPARED,
    SOME,
)
from kafka_shim.protocol.code_names import error_name_with_code

_EMPTY: Final[tuple[Any, ...]] = (None, "", 0, -1, [], -(2**31))
"""Values that tell nothing; False equals 0."""
_IDENTITY: Final = (*IDENTIFYING, "key", "topicId", "partitionIndex", "partition", "index")
_INDEX = re.compile(r"\[\d*\]")


class Deviation(NamedTuple):
    """Where and how a response deviates; `mistake` follows the name of the API.

    With `is_decision`, the decision may be another; otherwise it is right, but the response tells
    too much, or in another order.
    """

    text: str
    mistake: str
    is_decision: bool = True


def first_deviation(
    expected: Any, actual: Any, list_in_order: str | None = None
) -> Deviation | None:
    """Return where a response deviates from what is expected; None if nowhere.

    An object may have more fields than expected, unless it has an error code of DENIALS: then all
    other fields have to be empty. Null is an empty list. Lists are compared without their order,
    except for one.
    """
    return _Comparison(list_in_order).first(expected, actual, "", None)


class _Comparison:
    def __init__(self, list_in_order: str | None) -> None:
        self._list_in_order = list_in_order

    def first(self, expected: Any, actual: Any, path: str, denial: int | None) -> Deviation | None:
        """Compare values; `denial` is the error code of the element that has them."""
        if isinstance(expected, dict) and isinstance(actual, dict):
            return self._compare_objects(expected, actual, path, denial)
        if isinstance(expected, list) and isinstance(actual, list):
            if path == self._list_in_order:
                return self._compare_ordered_lists(expected, actual, path, denial)
            return self._compare_lists(expected, actual, path, denial)
        name = _last_name(path)
        if _are_equal(name, expected, actual):
            return None
        text = f"{path}: {_json_text(actual)}, expected {_json_text(expected)}"
        if denial and expected in _EMPTY and not _is_error_code(name):
            return _leak_deviation(text, name, denial)
        return Deviation(text, _value_mistake(name, expected, actual))

    def _compare_objects(
        self,
        expected: Mapping[str, Any],
        actual: Mapping[str, Any],
        path: str,
        denial: int | None,
    ) -> Deviation | None:
        denial = next(
            (code for name, code in expected.items() if _is_denial(name, code)),
            denial,
        )
        for name, value in sorted(expected.items(), key=_has_error_code, reverse=True):
            where = f"{path}.{name}" if path else name
            if name not in actual:
                return Deviation(f"{where} is missing", f"returns no {name}")
            deviation = self.first(value, actual[name], where, denial)
            if deviation is not None:
                return deviation
        if denial is None:
            return None
        for name, value in actual.items():
            if name not in expected and name not in NOT_COMPARED and not _is_empty(value):
                where = f"{path}.{name}" if path else name
                text = f"{where}: {_json_text(value)}, expected nothing beside {denial}"
                return _leak_deviation(text, name, denial)
        return None

    def _compare_ordered_lists(
        self, expected: list[Any], actual: list[Any], path: str, denial: int | None
    ) -> Deviation | None:
        deviation = self._compare_lists(expected, actual, path, denial)
        if deviation is not None:
            return deviation
        for at, (wanted, element) in enumerate(zip(expected, actual, strict=True)):
            different = self.first(wanted, element, f"{path}[{at}]", denial)
            if different is not None:
                mistake = f"returns {path} in another order than that of the request"
                return Deviation(different.text, mistake, is_decision=False)
        return None

    def _compare_lists(
        self, expected: list[Any], actual: list[Any], path: str, denial: int | None
    ) -> Deviation | None:
        remaining = list(actual)
        name = _last_name(path)
        for element in expected:
            match = next(
                (each for each in remaining if self.first(element, each, "", denial) is None), None
            )
            if match is None:
                nearest = next(
                    (each for each in remaining if _have_same_identity(element, each)), None
                )
                if nearest is not None:
                    return self.first(element, nearest, f"{path}[]", denial)
                return Deviation(
                    f"{path} has no {_json_text(element)}", f"leaves out elements of {name}"
                )
            remaining.remove(match)
        if not remaining:
            return None
        extra = f"{path} has also {_json_text(remaining[0])}"
        if denial and not expected:
            return _leak_deviation(extra, name, denial)
        return Deviation(extra, f"returns more elements of {name} than allowed")


def _are_equal(name: str, expected: Any, actual: Any) -> bool:
    if expected == SOME and name not in _IDENTITY:
        return actual not in _EMPTY
    return bool(expected == actual) or (expected in (None, []) and actual in (None, []))


def _has_error_code(field: tuple[str, Any]) -> bool:
    return _is_error_code(field[0])


def _is_error_code(name: str) -> bool:
    return name.endswith("rrorCode")


def _is_denial(name: str, value: Any) -> bool:
    return _is_error_code(name) and value in DENIALS


def _value_mistake(name: str, expected: Any, actual: Any) -> str:
    if _is_error_code(name) and isinstance(expected, int) and isinstance(actual, int):
        return f"returns {_error_text(actual)} instead of {_error_text(expected)}"
    return f"returns no {name}" if expected == SOME else f"returns another {name}"


def _error_text(code: int) -> str:
    return error_name_with_code(code) if code else "no error"


def _leak_deviation(text: str, name: str, denial: int) -> Deviation:
    mistake = f"returns {name} beside {error_name_with_code(denial)}"
    return Deviation(text, mistake, is_decision=False)


def _last_name(path: str) -> str:
    return _INDEX.sub("", path).rpartition(".")[2]


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value in _EMPTY


def _have_same_identity(left: Any, right: Any) -> bool:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    return all(left.get(name) == right.get(name) for name in _IDENTITY if name in left)


def _json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
