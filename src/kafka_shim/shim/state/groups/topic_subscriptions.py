"""Subscriptions of members: topic names and regular expressions."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, Protocol
from weakref import WeakValueDictionary

from kafka_shim.shim.re2_patterns import compile_client_pattern
from kafka_shim.shim.state.java_collections import in_hash_map_order
from kafka_shim.shim.state.topics import Topics

RESOLVING_INTERVAL_MS: Final = 10_000
"""Minimum interval between two resolutions of expressions."""

VisibleTopicNames = Callable[[list[str]], list[str]]
"""Filters topic names by the caller's DESCRIBE permission."""


_NAMES: "WeakValueDictionary[frozenset[str], frozenset[str]]" = WeakValueDictionary()


def interned_name_set(topics: Iterable[str]) -> frozenset[str]:
    """Return the names, as one set for all members with the same: sets are compared again and
    again, and a set is quickly found to be itself.
    """
    names = frozenset(topics)
    return _NAMES.setdefault(names, names)


class ResolvedExpressions(NamedTuple):
    """The matching topics of expressions, as of an epoch of `Topics`."""

    topics_epoch: int
    topics_by_expression: dict[str, frozenset[str]]


class SubscribingMember(Protocol):
    """The subscription of a member."""

    topic_names: frozenset[str]
    topic_regex: str | None


class TopicSubscriptions:
    """The topics of a group's members; `change_number` grows when they may differ."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._matching: Mapping[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._resolved_ms = 0
        self._seen_epoch = topics.epoch
        self.change_number = 0

    @property
    def topics_by_expression(self) -> Mapping[str, frozenset[str]]:
        """The topics that match each regular expression."""
        return self._matching

    def restore_resolved_expressions(
        self, topics_by_expression: Mapping[str, frozenset[str]]
    ) -> None:
        """Restore the matching topics of expressions."""
        self._matching = dict(topics_by_expression)
        self._resolved_epoch = self._seen_epoch = self._topics.epoch

    def update_change_number(self, members: Iterable[SubscribingMember]) -> None:
        """Raise `change_number` if topics that members subscribe to have changed; others do not
        count, even while an expression is new (the oracle's seed 91042).
        """
        epoch = self._topics.epoch  # before the topics are read, so that later changes are noticed
        if self._seen_epoch != epoch:
            names = {name for member in members for name in self.subscribed_topic_names(member)}
            self.change_number += self._topics.any_may_have_changed_since(self._seen_epoch, names)
            self._seen_epoch = epoch

    def subscribed_topic_names(self, member: SubscribingMember) -> frozenset[str]:
        """Return its topic names and those that match its expression."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def subscribed_topic_ids(self, member: SubscribingMember) -> frozenset[bytes]:
        """Return the ids of its topics that exist."""
        found = self._topics.find_existing(self.subscribed_topic_names(member))
        return frozenset(topic.topic_id for topic in found)

    def partition_counts(self, members: Collection[SubscribingMember]) -> dict[bytes, int]:
        """Return the partition counts of all subscribed topics that exist, by topic id."""
        wishes = {(member.topic_names, member.topic_regex): member for member in members}
        names = frozenset[str]().union(*map(self.subscribed_topic_names, wishes.values()))
        topics = {topic.name: topic for topic in self._topics.find_existing(names)}
        in_order = [topics[name] for name in in_hash_map_order(sorted(topics))]
        return {topic.topic_id: len(topic.partitions) for topic in in_order}

    def all_subscribe_alike(self, members: Collection[SubscribingMember]) -> bool:
        """Return whether all members have the same topic names, or all the same expression.

        Topics that do not exist count too; with both names and expression the result is False.
        """
        wishes = {(member.topic_names, member.topic_regex) for member in members}
        return len(wishes) < 2 and not any(names and regex for names, regex in wishes)

    def is_expression_resolved(self, regex: str | None) -> bool:
        return regex in self._matching

    def due_expressions(
        self, members: Iterable[SubscribingMember], now_ms: int, refresh_ms: int
    ) -> set[str]:
        """Return all expressions if they must be resolved, else none: if an expression or topics
        are new, after RESOLVING_INTERVAL_MS; otherwise after `refresh_ms`, as permissions may have
        changed.
        """
        wanted = _distinct_expressions(members)
        is_new = not wanted <= self._matching.keys() or self._resolved_epoch != self._topics.epoch
        is_due = not self._matching or now_ms > self._resolved_ms + RESOLVING_INTERVAL_MS
        is_old = bool(wanted) and now_ms > self._resolved_ms + refresh_ms
        return wanted if is_old or (is_new and is_due) else set()

    def resolve_expressions(
        self,
        expressions: Iterable[str],
        visible: VisibleTopicNames,
    ) -> ResolvedExpressions:
        """Return the topics that match expressions, each among the topics that its caller may
        DESCRIBE, since the run time of the match would reveal others.
        """
        epoch = self._topics.epoch
        names = [topic.name for topic in self._topics]
        found = {
            expression: _names_matching_expression(expression, visible(names))
            for expression in expressions
        }
        return ResolvedExpressions(epoch, found)

    def update_resolved_topics(
        self, resolved: ResolvedExpressions, members: Iterable[SubscribingMember], now_ms: int
    ) -> bool:
        """Set the topics of expressions, drop unused expressions, and return whether any differ."""
        old = self._matching
        kept = {pattern: old[pattern] for pattern in _distinct_expressions(members) & old.keys()}
        self._matching = {**kept, **resolved.topics_by_expression}
        self._resolved_epoch, self._resolved_ms = resolved.topics_epoch, now_ms
        is_other = any(
            found != old.get(pattern, frozenset())
            for pattern, found in resolved.topics_by_expression.items()
        )
        self.change_number += is_other
        return is_other

    def drop_unused_expressions(self, members: Iterable[SubscribingMember]) -> None:
        """Drop the expressions that no member has any more."""
        if not self._matching:
            return
        wanted = _distinct_expressions(members)
        self._matching = {
            pattern: found for pattern, found in self._matching.items() if pattern in wanted
        }


def _names_matching_expression(expression: str, names: Iterable[str]) -> frozenset[str]:
    pattern = compile_client_pattern(expression)
    return frozenset(name for name in names if pattern.fullmatch(name))


def _distinct_expressions(members: Iterable[SubscribingMember]) -> set[str]:
    return {member.topic_regex for member in members if member.topic_regex is not None}
