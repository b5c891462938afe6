"""Which rows of two lists belong together."""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, NamedTuple

from kafka_shim.shim.traffic.replay.fields import ACL_NAMES, MEMBER_TRAITS, NO_ID, ROW_NAMES


class Partners(NamedTuple):
    """The target's ids by the recorded ones, as far as they are known.

    `target_topics` are the topic ids of the target among them.
    """

    members: Mapping[str, str] = {}
    topics: Mapping[bytes, bytes] = {}
    target_topics: Container[bytes] = ()


NOBODY = Partners()

_MADE_UP = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def pairs(
    recorded: list[Any], actual: list[Any], partners: Partners = NOBODY
) -> Iterator[tuple[Any, Any]]:
    """Rows of the same name, None where there is no partner; nameless rows by their place.

    The name of a topic that has none is its id, if that is known from other answers.

    Rows of the same name are taken in their order. Members of a group are matched by what is known
    of their ids; those that are not known by what else is told of them.
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
    """What of a member does not change from run to run."""
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
    """What a row is about, as far as it says; topic ids only where there is no name.

    Ids of topics differ from run to run: those that nothing is known of have no name.
    """
    if hasattr(row, "permission_type"):  # an ACL is all that it says
        return tuple(getattr(row, attribute, None) for attribute in ACL_NAMES)
    found: list[object] = []
    for attribute in ROW_NAMES:
        value = getattr(row, attribute, None)
        if value is None or (isinstance(value, bytes) and (found or value in NO_ID)):
            continue
        found.append(name_of_topic(value) if isinstance(value, bytes) else value)
    return tuple(found)
