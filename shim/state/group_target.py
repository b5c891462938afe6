"""What the members of a group should have: group epoch, target assignment, and why.

A new epoch begins whenever a subscription, the set of members or a subscribed topic changes; the
target of that epoch is computed at once.
"""

import re
from collections.abc import Callable, Collection
from typing import Protocol

from shim.clock import Clock
from shim.state.assignors import Assignment, Assignor, Subscriber
from shim.state.topics import Topics

Visible = Callable[[list[str]], list[str]]
"""Leaves of some topic names those that a caller may describe."""


class Subscribing(Protocol):
    """What a target has to know of a member."""

    member_id: str
    instance_id: str | None
    topic_names: frozenset[str]
    topic_regex: str | None


Members = Collection[Subscribing]


class GroupTarget:
    """Epochs and assignments of one group; `epoch` runs ahead of `target_epoch` in between."""

    def __init__(
        self, topics: Topics, clock: Clock, interval_ms: int, new_group_epoch: int
    ) -> None:
        self._topics = topics
        self._clock = clock
        self._interval_ms = interval_ms
        self._new_group_epoch = new_group_epoch
        self.epoch = new_group_epoch
        self.target_epoch = new_group_epoch
        self._by_member: dict[str, Assignment] = {}
        self._assigned_ms: int | None = None  # when a target was last set
        self._topics_epoch = -1
        self._counts: dict[bytes, int] = {}  # partitions of the subscribed topics, as last seen
        self._matching: dict[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._is_stale = False  # an expression matches other topics than before
        self._has_more = False

    def of(self, member_id: str) -> Assignment:
        return self._by_member.get(member_id, {})

    def forget(self, member_id: str) -> Assignment:
        return self._by_member.pop(member_id, {})

    def hand_over(self, old_id: str, new_id: str) -> None:
        """A static member is back under another id: its target is the same."""
        self._by_member[new_id] = self.forget(old_id)

    def topics_of(self, member: Subscribing) -> frozenset[str]:
        """The names it subscribes to, those that match its expression among them."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def topic_ids_of(self, member: Subscribing) -> frozenset[bytes]:
        """The ids of those of its topics that exist."""
        found = [self._topics.get(name) for name in self.topics_of(member)]
        return frozenset(topic.topic_id for topic in found if topic is not None)

    def resolve(self, regex: str, visible: Visible) -> None:
        """Find the topics of an expression, if it or the topics are new."""
        if regex in self._matching and self._resolved_epoch == self._topics.epoch:
            return
        pattern = re.compile(regex)
        matching = [one.name for one in self._topics if pattern.fullmatch(one.name)]
        found = frozenset(visible(matching))
        self._resolved_epoch = self._topics.epoch
        self._is_stale = self._is_stale or found != self._matching.get(regex, frozenset())
        self._matching[regex] = found

    def refresh(self, members: Members, assign: Assignor, *, changed: bool) -> None:
        """Begin a new epoch if something changed, and set its target if that is due."""
        counts = self._counts
        if changed or self._is_stale or self._topics_epoch != self._topics.epoch:
            self._topics_epoch = self._topics.epoch
            self._is_stale = False
            counts = self._partition_counts(members)
        if self._has_more and self.epoch == self.target_epoch:
            changed = True
        self._has_more = False
        if changed or counts != self._counts:
            self._counts = counts
            if counts or not self._is_first_epoch():
                self.epoch += 1
        if self._assigned_ms is None or (self.epoch > self.target_epoch and self._is_due()):
            self._assigned_ms = self._clock.now_ms()
            self._by_member = assign([self._subscriber(one) for one in members], self._counts)
            self.target_epoch = self.epoch

    def _is_first_epoch(self) -> bool:
        """A group that begins with an epoch keeps it until there is something to assign."""
        return self._new_group_epoch > 0 and self._assigned_ms is None

    def _is_due(self) -> bool:
        """Whether the last target is old enough to be replaced (KIP-1263)."""
        assert self._assigned_ms is not None
        return self._clock.now_ms() - self._assigned_ms >= self._interval_ms

    def has_more_to_assign(self) -> None:
        """More partitions can be given out: a new epoch, unless one waits for its target."""
        self._has_more = True

    def begin_epoch(self) -> None:
        """A member left: the target is set when another one is heard."""
        self.epoch += 1

    def _partition_counts(self, members: Members) -> dict[bytes, int]:
        names = {name for member in members for name in self.topics_of(member)}
        topics = [topic for name in sorted(names) if (topic := self._topics.get(name)) is not None]
        return {topic.topic_id: len(topic.partitions) for topic in topics}

    def _subscriber(self, member: Subscribing) -> Subscriber:
        return Subscriber(
            member.member_id,
            member.instance_id,
            self.topic_ids_of(member),
            self.of(member.member_id),
        )
