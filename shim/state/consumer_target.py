"""What the members of a consumer group should have: group epoch, target assignment, and why.

A new epoch begins whenever a subscription, the set of members or a subscribed topic changes; the
target of that epoch is computed at once.
"""

import re
from collections.abc import Callable, Collection, Iterable

from shim.clock import Clock
from shim.state.assignors import ASSIGNORS, Assignment, Subscriber
from shim.state.consumer_member import ConsumerMember
from shim.state.group_settings import GroupSettings
from shim.state.topics import Topics

Visible = Callable[[list[str]], list[str]]
"""Leaves of some topic names those that a caller may describe."""


class ConsumerTarget:
    """Epochs and assignments of one group; `epoch` runs ahead of `target_epoch` in between."""

    def __init__(
        self, topics: Topics, clock: Clock, settings: GroupSettings, first_epoch: int = 1
    ) -> None:
        self._topics = topics
        self._clock = clock
        self._default_assignor = settings.group_consumer_assignors[0]
        self._interval_ms = settings.group_consumer_assignment_interval_ms
        self._first_epoch = first_epoch  # if there are topics
        self.epoch = 0
        self.target_epoch = 0
        self._assigned_ms: int | None = None  # when a target was last set
        self._by_member: dict[str, Assignment] = {}
        self._topics_epoch = -1
        self._counts: dict[bytes, int] = {}  # partitions of the subscribed topics, as last seen
        self._matching: dict[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._is_stale = False  # an expression matches other topics than before

    def of(self, member_id: str) -> Assignment:
        return self._by_member.get(member_id, {})

    def forget(self, member_id: str) -> Assignment:
        return self._by_member.pop(member_id, {})

    def hand_over(self, old_id: str, new_id: str) -> None:
        """A static member is back under another id: its target is the same."""
        self._by_member[new_id] = self.forget(old_id)

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """The names it subscribes to, those that match its expression among them."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def assignor_name(self, members: Iterable[ConsumerMember]) -> str:
        """The assignor that most members ask for, else the first that is configured."""
        votes: dict[str, int] = {}
        for member in members:
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        return max(votes, key=lambda name: votes[name]) if votes else self._default_assignor

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

    def refresh(self, members: Collection[ConsumerMember], *, changed: bool) -> None:
        """Begin a new epoch if something changed, and set its target."""
        counts = self._counts
        if changed or self._is_stale or self._topics_epoch != self._topics.epoch:
            self._topics_epoch = self._topics.epoch
            self._is_stale = False
            counts = self._partition_counts(members)
        if changed or counts != self._counts:
            self._counts = counts
            self.epoch = self._first_epoch if counts and not self.epoch else self.epoch + 1
        if self.epoch > self.target_epoch and self._is_due():
            self._assigned_ms = self._clock.now_ms()
            assign = ASSIGNORS[self.assignor_name(members)]
            self._by_member = assign([self._subscriber(one) for one in members], self._counts)
            self.target_epoch = self.epoch

    def _is_due(self) -> bool:
        """Whether the last target is old enough to be replaced (KIP-1263)."""
        last_ms = self._assigned_ms
        return last_ms is None or self._clock.now_ms() - last_ms >= self._interval_ms

    def somebody_left(self) -> None:
        """A new epoch begins; its target is set when a member is heard next."""
        self.epoch += 1

    def _partition_counts(self, members: Iterable[ConsumerMember]) -> dict[bytes, int]:
        names = {name for member in members for name in self.topics_of(member)}
        topics = [topic for name in sorted(names) if (topic := self._topics.get(name)) is not None]
        return {topic.topic_id: len(topic.partitions) for topic in topics}

    def _subscriber(self, member: ConsumerMember) -> Subscriber:
        found = [self._topics.get(name) for name in self.topics_of(member)]
        return Subscriber(
            member.member_id,
            member.instance_id,
            frozenset(topic.topic_id for topic in found if topic is not None),
            self.of(member.member_id),
        )
