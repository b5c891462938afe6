"""The base of rows in results: dicts whose keys are also attributes."""

from typing import TYPE_CHECKING, Any, TypeAlias

from kafka_shim.testing.unknown_name import unknown_name_message

MaybeNone: TypeAlias = Any
"""None in rare cases that tests need not handle: in a union, it lets them index immediately."""


class Row(dict[str, Any]):
    """A row: `row.name` is `row["name"]`.

    At run time it is the broker's response, whatever its version.
    """

    if not TYPE_CHECKING:  # otherwise every attribute would exist, of any type

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(unknown_name_message("column", name, self)) from None
