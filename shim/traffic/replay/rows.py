"""Which rows of two lists belong together."""

from collections.abc import Iterator
from typing import Any

from kafka_shim.shim.traffic.replay.fields import NO_ID, ROW_NAMES


def pairs(recorded: list[Any], actual: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Rows of the same name, None where there is no partner; nameless rows by their place.

    Rows of the same name (the ACLs of a resource) are taken in their order.
    """
    waiting: dict[object, list[Any]] = {}
    for row in actual:
        waiting.setdefault(name_of(row), []).append(row)
    for row in recorded:
        partners = waiting.get(name_of(row))
        yield row, partners.pop(0) if partners else None
    for rows in waiting.values():
        for row in rows:
            yield None, row


def name_of(row: Any) -> object:
    """What a row is about, as far as it says; topic ids only where there is no name."""
    found: list[object] = []
    for attribute in ROW_NAMES:
        value = getattr(row, attribute, None)
        if value is None or (isinstance(value, bytes) and (found or value in NO_ID)):
            continue
        # ids of topics differ from run to run: rows without a name stay in their order
        found.append(b"" if isinstance(value, bytes) else value)
    return tuple(found)
