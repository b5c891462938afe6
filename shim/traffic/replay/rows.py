"""Which rows of two lists belong together."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kafka_shim.shim.traffic.replay.fields import ACL_NAMES, MEMBER_TRAITS, NO_ID, ROW_NAMES

Members = Mapping[str, str]
"""Ids of the target's members by those of the recorded ones, as far as they are known."""

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_NOBODY: Members = {}


def pairs(
    recorded: list[Any], actual: list[Any], members: Members = _NOBODY
) -> Iterator[tuple[Any, Any]]:
    """Rows of the same name, None where there is no partner; nameless rows by their place.

    Rows of the same name are taken in their order. Members of a group are matched by what is known
    of their ids; those that are not known by what else is told of them.
    """
    if recorded and hasattr(recorded[0], "member_id"):
        yield from _members(recorded, actual, members)
    else:
        yield from _paired(recorded, actual, name_of)


def _members(recorded: list[Any], actual: list[Any], members: Members) -> Iterator[tuple[Any, Any]]:
    by_id = {row.member_id: row for row in actual}
    strangers = []
    for row in recorded:
        if row.member_id in members:
            yield row, by_id.pop(members[row.member_id], None)
        else:
            strangers.append(row)
    taken = set(members.values())
    free = [row for row in by_id.values() if row.member_id not in taken]
    alike = list(_paired(strangers, free, _traits))
    yield from (pair for pair in alike if None not in pair)
    yield from _paired(
        [old for old, new in alike if new is None],
        [new for old, new in alike if old is None],
        lambda _: None,
    )
    yield from ((None, row) for row in by_id.values() if row.member_id in taken)


def _traits(row: Any) -> object:
    """What of a member does not change from run to run."""
    values = (getattr(row, name, None) for name in MEMBER_TRAITS)
    return _MADE_UP.sub("", row.member_id), *(str(value) for value in values)


def _paired(
    recorded: list[Any], actual: list[Any], name_of_row: Callable[[Any], object]
) -> Iterator[tuple[Any, Any]]:
    waiting: dict[object, list[Any]] = {}
    for row in actual:
        waiting.setdefault(name_of_row(row), []).append(row)
    for row in recorded:
        partners = waiting.get(name_of_row(row))
        yield row, partners.pop(0) if partners else None
    for rows in waiting.values():
        for row in rows:
            yield None, row


def name_of(row: Any) -> object:
    """What a row is about, as far as it says; topic ids only where there is no name."""
    if hasattr(row, "permission_type"):  # an ACL is all that it says
        return tuple(getattr(row, attribute, None) for attribute in ACL_NAMES)
    found: list[object] = []
    for attribute in ROW_NAMES:
        value = getattr(row, attribute, None)
        if value is None or (isinstance(value, bytes) and (found or value in NO_ID)):
            continue
        # ids of topics differ from run to run: rows without a name stay in their order
        found.append(b"" if isinstance(value, bytes) else value)
    return tuple(found)
