"""What members subscribe to: topics by name, or those that match a regular expression."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final, NamedTuple, Protocol

from kafka_shim.shim.patterns import compile_pattern
from kafka_shim.shim.state.java_hash_map import ordered
from kafka_shim.shim.state.topics import Topics

RESOLVING_INTERVAL_MS: Final = 10_000
"""What expressions match is not looked up more often than this."""

Beside = Callable[..., frozenset[str]]
"""Calls a function with arguments, on which alone it depends."""

Visible = Callable[[list[str]], list[str]]
"""Leaves of some topic names those that a caller may describe."""


def at_once(work: Callable[..., frozenset[str]], *arguments: object) -> frozenset[str]:
    """Call a function while nothing else is done."""
    return work(*arguments)


class Matching(NamedTuple):
    """The topics of some expressions, as of an epoch of all topics."""

    epoch: int
    topics: dict[str, frozenset[str]]


class Subscribing(Protocol):
    """What has to be known of a member."""

    topic_names: frozenset[str]
    topic_regex: str | None


class TopicSubscriptions:
    """The topics of a group's members; `changes` is another number when they may be others."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._matching: dict[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._resolved_ms = 0
        self._seen_epoch = topics.epoch
        self.changes = 0

    @property
    def matched(self) -> Mapping[str, frozenset[str]]:
        """The topics of each regular expression."""
        return self._matching

    def put_back(self, matching: Mapping[str, frozenset[str]]) -> None:
        """Know again what expressions match."""
        self._matching = dict(matching)
        self._resolved_epoch = self._seen_epoch = self._topics.epoch

    @property
    def are_noticed(self) -> bool:
        """Whether no topic has changed since `notice`."""
        return self._seen_epoch == self._topics.epoch

    def notice(self, members: Iterable[Subscribing]) -> None:
        """Look whether topics changed that the members subscribed to until now: other topics do
        not concern a group (the oracle's seed 91042: not while an expression is new to it either).
        """
        if self._seen_epoch != self._topics.epoch:
            names = {name for member in members for name in self.topics_of(member)}
            self.changes += self._topics.changed_since(self._seen_epoch, names)
            self._seen_epoch = self._topics.epoch

    def topics_of(self, member: Subscribing) -> frozenset[str]:
        """The names it subscribes to, those that match its expression among them."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def wanted_by(self, member: Subscribing) -> frozenset[bytes]:
        """The ids of those of its topics that exist."""
        found = self._topics.named(self.topics_of(member))
        return frozenset(topic.topic_id for topic in found)

    def counts(self, members: Collection[Subscribing]) -> dict[bytes, int]:
        """The numbers of partitions of all subscribed topics that exist, by topic id."""
        wishes = {(member.topic_names, member.topic_regex): member for member in members}
        names = frozenset[str]().union(*map(self.topics_of, wishes.values()))
        topics = {topic.name: topic for topic in self._topics.named(names)}
        in_order = [topics[name] for name in ordered(sorted(topics))]
        return {topic.topic_id: len(topic.partitions) for topic in in_order}

    def are_alike(self, members: Collection[Subscribing]) -> bool:
        """Whether all members subscribe to the same names, or all to the same expression only.

        A topic that does not exist counts too; names besides expressions never do.
        """
        wishes = {(member.topic_names, member.topic_regex) for member in members}
        return len(wishes) < 2 and not any(names and regex for names, regex in wishes)

    def is_resolved(self, regex: str | None) -> bool:
        return regex in self._matching

    def due(self, members: Iterable[Subscribing], now_ms: int, refresh_ms: int) -> set[str]:
        """All expressions, if one of them or the topics are new, and not too soon after the last
        time, or else after `refresh_ms`: others may be visible then. Otherwise none.
        """
        wanted = _expressions(members)
        is_new = not wanted <= self._matching.keys() or self._resolved_epoch != self._topics.epoch
        is_due = not self._matching or now_ms > self._resolved_ms + RESOLVING_INTERVAL_MS
        is_old = bool(wanted) and now_ms > self._resolved_ms + refresh_ms
        return wanted if is_old or (is_new and is_due) else set()

    def matching(
        self, expressions: Iterable[str], visible: Visible, beside: Beside = at_once
    ) -> Matching:
        """The topics of expressions, of which each sees only those that its caller may see, since
        its time tells of them. The names are gone through `beside` other work.
        """
        epoch = self._topics.epoch
        names = [topic.name for topic in self._topics]
        found = {
            expression: beside(_matching, expression, visible(names)) for expression in expressions
        }
        return Matching(epoch, found)

    def take(self, matching: Matching, members: Iterable[Subscribing], now_ms: int) -> bool:
        """Have these topics of these expressions; return whether they are others than before."""
        old = self._matching
        kept = {pattern: old[pattern] for pattern in _expressions(members) & old.keys()}
        self._matching = kept | matching.topics
        self._resolved_epoch, self._resolved_ms = matching.epoch, now_ms
        is_other = any(
            found != old.get(pattern, frozenset()) for pattern, found in matching.topics.items()
        )
        self.changes += is_other
        return is_other

    def forget(self, members: Iterable[Subscribing]) -> None:
        """Expressions that none of the members has any more."""
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
