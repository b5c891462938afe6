"""The topology of a streams application (KIP-1071): its subtopologies, the topics they need, and
how many tasks each has.

A subtopology has a task for each partition of its sources. Topics between subtopologies and those
of state stores are internal: the broker makes them, as wide as what they are filled from.
"""

import heapq
from collections.abc import Iterator, Mapping
from itertools import repeat

import msgspec

from kafka_shim.shim.state.topic_names import name_error
from kafka_shim.shim.state.topics import Topics


class InternalTopic(msgspec.Struct, frozen=True):
    """A topic that the broker makes for the application; 0 stands for the usual number."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class Subtopology(msgspec.Struct, frozen=True):
    """A part of the topology that runs as a whole."""

    subtopology_id: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]  # names of repartition topics of other subtopologies
    repartition: tuple[InternalTopic, ...]  # those it reads
    changelogs: tuple[InternalTopic, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """The topics that its tasks read."""
        return (*self.sources, *(topic.name for topic in self.repartition))


class StreamsTopology(msgspec.Struct, frozen=True):
    """All subtopologies; `epoch` numbers the application's versions."""

    epoch: int
    subtopologies: tuple[Subtopology, ...]

    def topics(self) -> Iterator[str]:
        """Every topic that is mentioned, some more than once."""
        for subtopology in self.subtopologies:
            yield from subtopology.sources
            yield from subtopology.sinks
            for topic in (*subtopology.repartition, *subtopology.changelogs):
                yield topic.name

    def read_topics(self) -> frozenset[str]:
        """The topics that tasks read."""
        return frozenset(name for subtopology in self.subtopologies for name in subtopology.reads)

    def error(self, internal_topics: frozenset[str]) -> str | None:
        """Why no group can run it; None if nothing speaks against it."""
        for name in self.topics():
            error = name_error(name)
            if error is not None:
                return error
            if name in internal_topics:
                return f"`{name}` is a topic of Kafka's own"
        return None

    @property
    def has_twins(self) -> bool:
        """Whether two subtopologies have the same id."""
        return len({subtopology.subtopology_id for subtopology in self.subtopologies}) < len(
            self.subtopologies
        )

    def sourceless(self) -> str | None:
        """The id of a subtopology that reads nothing."""
        reads = (
            (subtopology.subtopology_id, subtopology.sources or subtopology.repartition)
            for subtopology in self.subtopologies
        )
        return next((name for name, sources in reads if not sources), None)


class Configured:
    """A topology against the topics that there are."""

    def __init__(self, topology: StreamsTopology, topics: Topics) -> None:
        self._topics = topics
        there = {
            topic.name: len(topic.partitions) for topic in topics.named(topology.read_topics())
        }
        self._from_sources = [
            max(map(there.get, subtopology.sources, repeat(0)), default=0)
            for subtopology in topology.subtopologies
        ]
        self.missing_sources = [
            name
            for subtopology in topology.subtopologies
            for name in subtopology.sources
            if name not in there
        ]
        self.partitions: dict[str, int] = {}
        """Partitions of the internal topics, as far as they are known."""
        self._widen(topology)
        internal = {
            topic.name: topic
            for subtopology in topology.subtopologies
            for topic in (*subtopology.repartition, *subtopology.changelogs)
            if topic.name in self.partitions and not self.missing_sources
        }
        self.misfits = [
            name for name in internal if self.count(name) not in (0, self.partitions[name])
        ]
        """Internal topics that are there, and too wide or too narrow."""
        self.missing_internal = [
            topic for name, topic in internal.items() if name not in topics and not self.misfits
        ]
        self.tasks: dict[str, int] = {}
        """Tasks of each subtopology; none while something is missing."""
        if not (self.missing_sources or self.misfits or self.missing_internal):
            self.tasks = {
                subtopology.subtopology_id: self._width(at, subtopology)
                for at, subtopology in enumerate(topology.subtopologies)
            }
        self.fits = not (self.missing_sources or self.misfits)
        """Whether only internal topics are missing, if any are."""
        self.seen = self._seen(topology)
        """The topics that were there, by name: id and number of partitions."""

    def _seen(self, topology: StreamsTopology) -> dict[str, tuple[bytes, int]]:
        changelogs = {
            topic.name for subtopology in topology.subtopologies for topic in subtopology.changelogs
        }
        return {
            topic.name: (topic.topic_id, len(topic.partitions))
            for topic in self._topics.named(topology.read_topics() | changelogs)
        }

    def count(self, name: str) -> int:
        """How many partitions a topic has; 0 if there is none."""
        topic = self._topics.get(name)
        return 0 if topic is None else len(topic.partitions)

    def _widen(self, topology: StreamsTopology) -> None:
        """Repartition topics are as wide as the widest subtopology that fills them, changelogs as
        wide as the subtopology whose they are.
        """
        fixed: dict[str, int] = {}
        readers: dict[str, list[int]] = {}
        for at, subtopology in enumerate(topology.subtopologies):
            for topic in subtopology.repartition:
                fixed.setdefault(topic.name, topic.partitions)
                readers.setdefault(topic.name, []).append(at)
                if topic.partitions:
                    self.partitions[topic.name] = topic.partitions
        self._spread(topology, fixed, readers)
        for at, subtopology in enumerate(topology.subtopologies):
            width = self._width(at, subtopology)
            for topic in subtopology.changelogs if width else ():
                self.partitions[topic.name] = width

    def _spread(
        self, topology: StreamsTopology, fixed: Mapping[str, int], readers: Mapping[str, list[int]]
    ) -> None:
        """Pass widths on, the widest first: so each subtopology passes its own on once."""
        widest = [(-self._width(at, each), at) for at, each in enumerate(topology.subtopologies)]
        heapq.heapify(widest)
        done: set[int] = set()
        partitions = self.partitions
        while widest and widest[0][0]:
            width, at = heapq.heappop(widest)
            if at in done:
                continue
            done.add(at)
            for name in dict.fromkeys(topology.subtopologies[at].sinks):
                known = partitions.get(name, 0)
                passed = fixed.get(name) or max(-width, known)
                if passed != known:
                    partitions[name] = passed
                    for reader in readers.get(name, ()):
                        heapq.heappush(widest, (-passed, reader))

    def _width(self, at: int, subtopology: Subtopology) -> int:
        counts = [self.partitions.get(topic.name, 0) for topic in subtopology.repartition]
        return max([self._from_sources[at], *counts])
