"""The parts of a cluster's state that requests depend on and change, as later responses show it."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.traces.api_kinds import (
    ADMIN_CHANGES,
    BEFORE_AUTHENTICATION,
    GROUP_HEARTBEATS,
    TOPIC_CHANGES,
)
from kafka_shim.traces.cassettes.request_content import ContentField

ADMIN = "settings"
"""Changed by all administrative requests."""
ADMIN_EXCEPT_TOPICS = "settings except topics"
TRANSACTIONS = "transactions"
_GROUP = "group "

StateCounts = dict[str, int]
"""How often each part of the state was changed."""


class TouchedState(NamedTuple):
    """The names of the parts that a request depends on, and of those that it changes once."""

    reads: frozenset[str]
    changes: frozenset[str] = frozenset()


def touched_state(api_key: int, message: Any, fields: Sequence[ContentField]) -> TouchedState:
    """Return what a request with these fields depends on and changes."""
    if api_key in BEFORE_AUTHENTICATION:
        return TouchedState(frozenset())
    topics = [*_named_topics(fields)]
    if api_key in ADMIN_CHANGES:
        is_of_topics = api_key in TOPIC_CHANGES
        parts = map(topic_settings_key, topics) if is_of_topics else (ADMIN_EXCEPT_TOPICS,)
        changes = frozenset((ADMIN, *parts))
        return TouchedState(changes, changes)
    return TouchedState(
        frozenset(_read_parts(api_key, message, topics)),
        frozenset(_changed_parts(api_key, message, topics)),
    )


def topic_settings_key(topic: str) -> str:
    """Return the name of the state that CreateTopics changes."""
    return f"settings of topic {topic}"


def group_counts(state: StateCounts) -> StateCounts:
    """Return the counts of groups, whose members wait for each other."""
    return {part: count for part, count in state.items() if part.startswith(_GROUP)}


def topic_records_key(topic: str) -> str:
    """Return the name of the state that the records of Produce requests change."""
    return f"topic {topic}"


def _read_parts(api_key: int, message: Any, topics: Sequence[str]) -> Iterator[str]:
    yield from (ADMIN_EXCEPT_TOPICS, *map(topic_settings_key, topics)) if topics else (ADMIN,)
    yield from _groups(message)
    if getattr(message, "transactional_id", None):
        yield f"transactional id {message.transactional_id}"
    if api_key in (ApiKey.LIST_OFFSETS, ApiKey.FETCH, ApiKey.SHARE_FETCH):
        yield from (TRANSACTIONS, *map(topic_records_key, topics))


def _changed_parts(api_key: int, message: Any, topics: Sequence[str]) -> Iterator[str]:
    if api_key == ApiKey.PRODUCE:
        yield from map(topic_records_key, topics)
    if api_key == ApiKey.END_TXN:
        yield TRANSACTIONS
    if (
        api_key in (ApiKey.JOIN_GROUP, ApiKey.LEAVE_GROUP)
        or (api_key == ApiKey.SYNC_GROUP and message.assignments)
        or (api_key in GROUP_HEARTBEATS and message.member_epoch <= 0)
    ):  # it can begin or end a rebalance
        yield from _groups(message)


def _named_topics(fields: Sequence[ContentField]) -> Iterator[str]:
    for field in fields:
        if field.is_topic_name and field.value:
            yield from field.value if isinstance(field.value, list) else (field.value,)


def _groups(message: Any) -> Iterator[str]:
    for name in ("group_id", "group_ids", "groups"):
        value = getattr(message, name, None)
        for group in value if isinstance(value, list) else (value,):
            group_id = getattr(group, "group_id", group)
            if isinstance(group_id, str) and group_id:
                yield f"{_GROUP}{group_id}"
