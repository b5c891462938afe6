"""Match the rows of two lists."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.shim.traffic.replay.fields import ACL_NAMES, MEMBER_TRAITS, NO_ID, ROW_NAMES


class Partners(NamedTuple):
    """The target's ids by the recorded ones, as far as known.

    `target_topics` are the target's topic ids.
    """

    members: Mapping[str, str] = {}
    topics: Mapping[bytes, bytes] = {}
    target_topics: Container[bytes] = ()


NOBODY = Partners()

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def pairs(
    recorded: list[Any], actual: list[Any], partners: Partners = NOBODY
) -> Iterator[tuple[Any, Any]]:
    """Yield rows with the same name, in order, with None for missing ones; others by position.

    The name of a topic without one is its id, if that is known from other responses. Members of a
    group are matched by their known ids, and otherwise by their metadata.
    """
    if recorded and hasattr(recorded[0], "member_id"):
        yield from _members(recorded, actual, partners.members)
        return
    target, topics = partners.target_topics, partners.topics
    yield from _paired(
        *(recorded, lambda row: name_of(row, lambda topic_id: topics.get(topic_id, b""))),
        *(
            actual,
            lambda row: name_of(row, lambda topic_id: topic_id if topic_id in target else b""),
        ),
    )


def _members(
    recorded: list[Any], actual: list[Any], members: Mapping[str, str]
) -> Iterator[tuple[Any, Any]]:
    by_id = {row.member_id: row for row in actual}
    strangers = []
    for row in recorded:
        if row.member_id in members:
            yield row, by_id.pop(members[row.member_id], None)
        else:
            strangers.append(row)
    taken = set(members.values())
    free = [row for row in by_id.values() if row.member_id not in taken]
    alike = list(_paired(strangers, _traits, free, _traits))
    yield from (pair for pair in alike if None not in pair)
    yield from _paired(
        *([old for old, new in alike if new is None], lambda _: None),
        *([new for old, new in alike if old is None], lambda _: None),
    )
    yield from ((None, row) for row in by_id.values() if row.member_id in taken)


def _traits(row: Any) -> object:
    """Return the properties of a member that do not depend on the run."""
    values = (getattr(row, name, None) for name in MEMBER_TRAITS)
    return _MADE_UP.sub("", row.member_id), *(str(value) for value in values)


_Namer = Callable[[Any], object]


def _paired(
    recorded: list[Any], name_recorded: _Namer, actual: list[Any], name_actual: _Namer
) -> Iterator[tuple[Any, Any]]:
    waiting: dict[object, list[Any]] = {}
    for row in actual:
        waiting.setdefault(name_actual(row), []).append(row)
    for row in recorded:
        partners = waiting.get(name_recorded(row))
        yield row, partners.pop(0) if partners else None
    for rows in waiting.values():
        for row in rows:
            yield None, row


def name_of(row: Any, name_of_topic: Callable[[bytes], bytes]) -> object:
    """Return the name of a row; topic ids only if there is no name.

    Topic ids differ between runs, so an unknown one is not a name.
    """
    if hasattr(row, "permission_type"):  # the name of an ACL is all its fields
        return tuple(getattr(row, attribute, None) for attribute in ACL_NAMES)
    found: list[object] = []
    for attribute in ROW_NAMES:
        value = getattr(row, attribute, None)
        if value is None or (isinstance(value, bytes) and (found or value in NO_ID)):
            continue
        found.append(name_of_topic(value) if isinstance(value, bytes) else value)
    return tuple(found)
