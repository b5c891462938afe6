"""Subscriptions of members: topic names and regular expressions."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, Protocol
from weakref import WeakValueDictionary

import msgspec

from kafka_shim.shim.patterns import compile_pattern
from kafka_shim.shim.state.java_collections import ordered
from kafka_shim.shim.state.topics import Topics

RESOLVING_INTERVAL_MS: Final = 10_000
"""Minimum interval between two resolutions of expressions."""

Offload = Callable[..., frozenset[str]]
"""Calls a function whose result depends only on its arguments."""

TopicNameFilter = Callable[[list[str]], list[str]]
"""Filters topic names by the caller's DESCRIBE permission."""


def call_directly(work: Callable[..., frozenset[str]], *arguments: object) -> frozenset[str]:
    """Call the function synchronously."""
    return work(*arguments)


_NAMES: "WeakValueDictionary[frozenset[str], frozenset[str]]" = WeakValueDictionary()


def names_of(topics: Iterable[str]) -> frozenset[str]:
    """Return the names, as one set for all members with the same: sets are compared again and
    again, and a set is quickly found to be itself.
    """
    names = frozenset(topics)
    return _NAMES.setdefault(names, names)


class Matching(NamedTuple):
    """The matching topics of expressions, as of an epoch of `Topics`."""

    epoch: int
    topics: dict[str, frozenset[str]]


class Subscribing(Protocol):
    """The subscription of a member."""

    topic_names: frozenset[str]
    topic_regex: str | None


class SubscriptionsState(msgspec.Struct, frozen=True):
    """What heartbeats change in subscriptions; see the attributes of TopicSubscriptions."""

    matching: Mapping[str, frozenset[str]]
    resolved_epoch: int
    resolved_ms: int
    seen_epoch: int
    changes: int


class TopicSubscriptions:
    """The topics of a group's members; `changes` differs whenever they may differ."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._matching: Mapping[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._resolved_ms = 0
        self._seen_epoch = topics.epoch
        self.changes = 0

    def state(self) -> SubscriptionsState:
        """Return what heartbeats change; no value in it is ever changed in place."""
        return SubscriptionsState(
            self._matching,
            self._resolved_epoch,
            self._resolved_ms,
            self._seen_epoch,
            self.changes,
        )

    def set_state(self, state: SubscriptionsState) -> None:
        """Continue with a state."""
        self._matching = state.matching
        self._resolved_epoch, self._resolved_ms = state.resolved_epoch, state.resolved_ms
        self._seen_epoch = state.seen_epoch
        self.changes = state.changes

    @property
    def matched(self) -> Mapping[str, frozenset[str]]:
        """The topics that match each regular expression."""
        return self._matching

    def put_back(self, matching: Mapping[str, frozenset[str]]) -> None:
        """Restore the matching topics of expressions."""
        self._matching = dict(matching)
        self._resolved_epoch = self._seen_epoch = self._topics.epoch

    @property
    def has_noted_topic_changes(self) -> bool:
        """Whether no topic has changed since `notice`."""
        return self._seen_epoch == self._topics.epoch

    def notice(self, members: Iterable[Subscribing]) -> None:
        """Update `changes` if topics that members subscribe to have changed; other topics do not
        count, even while an expression is new (the oracle's seed 91042).
        """
        epoch = self._topics.epoch  # before the topics are read, so that later changes are noticed
        if self._seen_epoch != epoch:
            names = {name for member in members for name in self.topics_of(member)}
            self.changes += self._topics.changed_since(self._seen_epoch, names)
            self._seen_epoch = epoch

    def topics_of(self, member: Subscribing) -> frozenset[str]:
        """Return its topic names and those that match its expression."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def subscribed_topic_ids(self, member: Subscribing) -> frozenset[bytes]:
        """Return the ids of its topics that exist."""
        found = self._topics.named(self.topics_of(member))
        return frozenset(topic.topic_id for topic in found)

    def counts(self, members: Collection[Subscribing]) -> dict[bytes, int]:
        """Return the partition counts of all subscribed topics that exist, by topic id."""
        wishes = {(member.topic_names, member.topic_regex): member for member in members}
        names = frozenset[str]().union(*map(self.topics_of, wishes.values()))
        topics = {topic.name: topic for topic in self._topics.named(names)}
        in_order = [topics[name] for name in ordered(sorted(topics))]
        return {topic.topic_id: len(topic.partitions) for topic in in_order}

    def subscribe_alike(self, members: Collection[Subscribing]) -> bool:
        """Return whether all members have the same topic names, or all the same expression.

        Topics that do not exist count too; with both names and expression the result is False.
        """
        wishes = {(member.topic_names, member.topic_regex) for member in members}
        return len(wishes) < 2 and not any(names and regex for names, regex in wishes)

    def is_resolved(self, regex: str | None) -> bool:
        return regex in self._matching

    def due(self, members: Iterable[Subscribing], now_ms: int, refresh_ms: int) -> set[str]:
        """Return all expressions if they must be resolved, else none: if an expression or topics
        are new, after RESOLVING_INTERVAL_MS; otherwise after `refresh_ms`, as permissions may have
        changed.
        """
        wanted = _expressions(members)
        is_new = not wanted <= self._matching.keys() or self._resolved_epoch != self._topics.epoch
        is_due = not self._matching or now_ms > self._resolved_ms + RESOLVING_INTERVAL_MS
        is_old = bool(wanted) and now_ms > self._resolved_ms + refresh_ms
        return wanted if is_old or (is_new and is_due) else set()

    def matching(
        self, expressions: Iterable[str], visible: TopicNameFilter, offload: Offload = call_directly
    ) -> Matching:
        """Return the topics that match expressions, each among the topics that its caller may
        DESCRIBE, since the run time of the match would reveal others. The matching runs through
        `beside`.
        """
        epoch = self._topics.epoch
        names = [topic.name for topic in self._topics]
        found = {
            expression: offload(_matching, expression, visible(names)) for expression in expressions
        }
        return Matching(epoch, found)

    def take(self, matching: Matching, members: Iterable[Subscribing], now_ms: int) -> bool:
        """Set the topics of expressions; return whether they differ from before."""
        old = self._matching
        kept = {pattern: old[pattern] for pattern in _expressions(members) & old.keys()}
        self._matching = {**kept, **matching.topics}
        self._resolved_epoch, self._resolved_ms = matching.epoch, now_ms
        is_other = any(
            found != old.get(pattern, frozenset()) for pattern, found in matching.topics.items()
        )
        self.changes += is_other
        return is_other

    def forget(self, members: Iterable[Subscribing]) -> None:
        """Drop the expressions that no member has any more."""
        if not self._matching:
            return
        wanted = _expressions(members)
        self._matching = {
            pattern: found for pattern, found in self._matching.items() if pattern in wanted
        }


def _matching(expression: str, names: Iterable[str]) -> frozenset[str]:
    pattern = compile_pattern(expression)
    return frozenset(name for name in names if pattern.fullmatch(name))


def _expressions(members: Iterable[Subscribing]) -> set[str]:
    return {member.topic_regex for member in members if member.topic_regex is not None}
