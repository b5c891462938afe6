"""What members subscribe to: topics by name, or those that match a regular expression."""

import re
from collections.abc import Callable, Collection
from typing import Protocol

from shim.state.topics import Topics

Visible = Callable[[list[str]], list[str]]
"""Leaves of some topic names those that a caller may describe."""


class Subscribing(Protocol):
    """What has to be known of a member."""

    topic_names: frozenset[str]
    topic_regex: str | None


class TopicSubscriptions:
    """The topics of a group's members; `changes` tells that they may be others than before."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._matching: dict[str, frozenset[str]] = {}  # topics of each regular expression
        self._resolved_epoch = -1
        self._resolutions = 0

    @property
    def changes(self) -> int:
        """A number that grows with every change of the topics or of what expressions match."""
        return self._topics.epoch + self._resolutions

    def topics_of(self, member: Subscribing) -> frozenset[str]:
        """The names it subscribes to, those that match its expression among them."""
        return member.topic_names | self._matching.get(member.topic_regex or "", frozenset())

    def wanted_by(self, member: Subscribing) -> frozenset[bytes]:
        """The ids of those of its topics that exist."""
        found = [self._topics.get(name) for name in self.topics_of(member)]
        return frozenset(topic.topic_id for topic in found if topic is not None)

    def counts(self, members: Collection[Subscribing]) -> dict[bytes, int]:
        """The numbers of partitions of all subscribed topics that exist, by topic id."""
        names = {name for member in members for name in self.topics_of(member)}
        topics = [topic for name in sorted(names) if (topic := self._topics.get(name)) is not None]
        return {topic.topic_id: len(topic.partitions) for topic in topics}

    def resolve(self, regex: str, visible: Visible) -> None:
        """Find the topics of an expression, if it or the topics are new."""
        if regex in self._matching and self._resolved_epoch == self._topics.epoch:
            return
        pattern = re.compile(regex)
        matching = [one.name for one in self._topics if pattern.fullmatch(one.name)]
        found = frozenset(visible(matching))
        self._resolved_epoch = self._topics.epoch
        self._resolutions += found != self._matching.get(regex, frozenset())
        self._matching[regex] = found
