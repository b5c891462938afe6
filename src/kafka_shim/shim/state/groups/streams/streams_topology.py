"""The topology of a streams application (KIP-1071): its subtopologies, their topics and tasks.

A subtopology has a task for each partition of its sources. Topics between subtopologies and of
state stores are internal: the broker creates them, with as many partitions as their sources.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.state.topics import Topic, Topics, name_error


class InternalTopic(msgspec.Struct, frozen=True):
    """A topic that the broker creates for the application; 0 means the default number."""

    name: str
    partitions: int
    replication_factor: int
    configs: tuple[tuple[str, str], ...]


class CopartitionGroup(msgspec.Struct, frozen=True):
    """Topics of a subtopology that need equally many partitions, by their places in its lists."""

    sources: tuple[int, ...]
    repartition: tuple[int, ...]
    expressions: tuple[int, ...]


class Subtopology(msgspec.Struct, frozen=True):
    """A part of the topology that runs as a whole."""

    subtopology_id: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]  # names of repartition topics of other subtopologies
    repartition: tuple[InternalTopic, ...]  # those it reads
    changelogs: tuple[InternalTopic, ...]
    copartition_groups: tuple[CopartitionGroup, ...] = ()

    def copartitioned_names(self, group: CopartitionGroup) -> list[str]:
        """Return the names of a group's topics. Raise IndexError if a place is outside."""
        if any(at < 0 for at in (*group.sources, *group.repartition)):
            raise IndexError
        names = [self.sources[at] for at in group.sources]
        names += [self.repartition[at].name for at in group.repartition]
        return list(dict.fromkeys(names))

    @property
    def read_topic_names(self) -> tuple[str, ...]:
        """The topics that the subtopology reads."""
        return (*self.sources, *(topic.name for topic in self.repartition))


class StreamsTopology(msgspec.Struct, frozen=True):
    """All subtopologies; `epoch` numbers the application's versions."""

    epoch: int
    subtopologies: tuple[Subtopology, ...]

    def all_topic_names(self) -> Iterator[str]:
        """Every topic of the topology, possibly more than once."""
        for subtopology in self.subtopologies:
            yield from subtopology.sources
            yield from subtopology.sinks
            for topic in (*subtopology.repartition, *subtopology.changelogs):
                yield topic.name

    def invalid_topic_name_error(self, internal_topics: frozenset[str]) -> str | None:
        """Return why the topology is invalid; None if it is valid."""
        for name in self.all_topic_names():
            error = name_error(name)
            if error is not None:
                return error
            if name in internal_topics:
                return f"`{name}` is an internal topic of Kafka"
        return None

    @property
    def has_duplicate_subtopology_ids(self) -> bool:
        """Return whether two subtopologies have the same id."""
        return len({subtopology.subtopology_id for subtopology in self.subtopologies}) < len(
            self.subtopologies
        )

    @property
    def has_duplicate_settings(self) -> bool:
        """Return whether a setting of an internal topic is given twice."""
        return any(
            len(dict(topic.configs)) < len(topic.configs)
            for subtopology in self.subtopologies
            for topic in (*subtopology.repartition, *subtopology.changelogs)
        )

    def subtopology_without_sources(self) -> str | None:
        """The id of a subtopology without sources."""
        reads = (
            (subtopology.subtopology_id, subtopology.sources or subtopology.repartition)
            for subtopology in self.subtopologies
        )
        return next((name for name, sources in reads if not sources), None)


ExistingTopics = Mapping[str, tuple[bytes, int]]
"""Topics that exist, by name: id and number of partitions."""


class TopologyIndex:
    """What follows from a topology alone, so that little is left to do when topics change."""

    def __init__(self, topology: StreamsTopology) -> None:
        self.topology = topology
        self.sources = tuple(
            name for subtopology in topology.subtopologies for name in subtopology.sources
        )
        self.sources_of: dict[str, list[int]] = {}
        """The subtopologies that read a source topic, by their places."""
        self.readers: dict[str, list[int]] = {}
        """The same of a repartition topic."""
        self.fixed: dict[str, int] = {}
        """The number of partitions that a repartition topic asks for; 0 if any will do."""
        self.widths: dict[str, int] = {}
        """Those that are not 0; of several the last one counts."""
        self.internal: dict[str, InternalTopic] = {}
        for at, subtopology in enumerate(topology.subtopologies):
            self._index_subtopology(at, subtopology)
        self.names = frozenset(self.sources).union(self.internal)
        """The topics that tasks need."""
        self.has_duplicate_settings = topology.has_duplicate_settings
        self.copartitioned: list[list[str]] = []
        """Topics that need equally many partitions."""
        self.has_places_outside = False
        """Whether a copartition group has a place outside of its subtopology's lists."""
        for subtopology in topology.subtopologies:
            for group in subtopology.copartition_groups:
                try:
                    self.copartitioned.append(subtopology.copartitioned_names(group))
                except IndexError:
                    self.has_places_outside = True
        sinks = {name for subtopology in topology.subtopologies for name in subtopology.sinks}
        self.has_unwritten_repartition = any(
            not count and name not in sinks for name, count in self.fixed.items()
        )
        """Whether no subtopology writes a repartition topic without a number of partitions."""

    def is_read_by_tasks(self, topic_name: str) -> bool:
        """Return whether a task reads a topic."""
        return topic_name in self.sources_of or topic_name in self.readers

    def existing_topics(self, topics: Topics) -> ExistingTopics:
        """Return the existing topics of the topology."""
        return _index_existing_topics(topics.find_existing(self.names))

    def _index_subtopology(self, at: int, subtopology: Subtopology) -> None:
        for name in subtopology.sources:
            self.sources_of.setdefault(name, []).append(at)
        for topic in subtopology.repartition:
            self.readers.setdefault(topic.name, []).append(at)
            self.fixed.setdefault(topic.name, topic.partitions)
            if topic.partitions:
                self.widths[topic.name] = topic.partitions
        for topic in (*subtopology.repartition, *subtopology.changelogs):
            self.internal[topic.name] = topic


def _index_existing_topics(topics: Iterable[Topic]) -> ExistingTopics:
    return {topic.name: (topic.topic_id, len(topic.partitions)) for topic in topics}


class ConfiguredTopology:
    """A topology with the existing topics."""

    def __init__(
        self, topology_index: TopologyIndex, existing_topics: ExistingTopics, topics_epoch: int
    ) -> None:
        self.shape = topology_index
        self.seen = existing_topics
        self.epoch = topics_epoch
        """That of the topics, at which they were as seen."""
        self.missing_sources: list[str] = []
        if not topology_index.sources_of.keys() <= existing_topics.keys():
            self.missing_sources = [
                name for name in topology_index.sources if name not in existing_topics
            ]
        self.error = self._configuration_error()
        """The error of a heartbeat with this topology, or NONE."""
        self.partitions = dict(topology_index.widths)
        """Partitions of the internal topics, as far as they are known."""
        widths = self._compute_partition_counts()
        unequal = [] if self.missing_sources else self._enforce_copartitions()
        if topology_index.copartitioned and not self.missing_sources and not unequal:
            widths = self._largest_input_counts()
            self._set_changelog_counts(widths)
        internal: dict[str, InternalTopic] = {}
        if not self.missing_sources:
            known = self.partitions
            internal = {
                name: topic for name, topic in topology_index.internal.items() if name in known
            }
        self.misfits = unequal or [
            name
            for name in internal
            if name in existing_topics
            and self.existing_partition_count(name) != self.partitions[name]
        ]
        """Internal topics that are there, and too wide or too narrow."""
        self.missing_internal: list[InternalTopic] = []
        if not self.misfits:
            self.missing_internal = [
                topic for name, topic in internal.items() if name not in existing_topics
            ]
        self.fits = not (self.missing_sources or self.misfits)
        """Whether only internal topics are missing, if any are."""
        self.is_ready = self.fits and not self.missing_internal
        """Whether nothing is missing."""
        self.tasks: dict[str, int] = {}
        """Tasks of each subtopology; none while something is missing."""
        if self.is_ready:
            self.tasks = {
                subtopology.subtopology_id: widths.get(at, 0)
                for at, subtopology in enumerate(topology_index.topology.subtopologies)
            }

    def existing_partition_count(self, topic_name: str) -> int:
        """Return the number of a topic's partitions; 0 if it does not exist."""
        topic = self.seen.get(topic_name)
        return 0 if topic is None else topic[1]

    def _compute_partition_counts(self) -> dict[int, int]:
        """Compute the partitions of internal topics; return those of subtopologies, by position.

        Repartition topics have as many as the largest subtopology that writes them, changelogs as
        many as their subtopology. The largest is first, so that each passes its number on once.
        """
        subtopologies = self.shape.topology.subtopologies
        partitions, fixed, readers = self.partitions, self.shape.fixed, self.shape.readers
        widths = self._largest_input_counts()
        widest = [(-width, at) for at, width in widths.items() if subtopologies[at].sinks]
        heapq.heapify(widest)
        done: set[int] = set()
        while widest:
            width, at = heapq.heappop(widest)
            if at in done:
                continue
            done.add(at)
            for name in dict.fromkeys(subtopologies[at].sinks):
                known = partitions.get(name, 0)
                passed = fixed.get(name) or max(-width, known)
                if passed != known:
                    partitions[name] = passed
                    for reader in readers.get(name, ()):
                        widths[reader] = max(widths.get(reader, 0), passed)
                        heapq.heappush(widest, (-passed, reader))
        self._set_changelog_counts(widths)
        return widths

    def _set_changelog_counts(self, widths: Mapping[int, int]) -> None:
        for at in sorted(widths):
            for topic in self.shape.topology.subtopologies[at].changelogs:
                self.partitions[topic.name] = widths[at]

    def _configuration_error(self) -> ErrorCode:
        """Return the error of a topology that Kafka cannot configure, some only if all sources
        exist; a setting given twice has no error of its own.
        """
        if self.shape.has_places_outside:
            return ErrorCode.UNKNOWN_SERVER_ERROR
        if self.missing_sources:
            return NO_ERROR
        if self.shape.has_unwritten_repartition:
            return ErrorCode.STREAMS_INVALID_TOPOLOGY
        return ErrorCode.UNKNOWN_SERVER_ERROR if self.shape.has_duplicate_settings else NO_ERROR

    def _enforce_copartitions(self) -> list[str]:
        """Give repartition topics the number of partitions of those that belong with them; return
        the topics of the first group in which numbers differ.

        A number that the application has set, or that of an existing source, is not changed.
        """
        partitions, fixed = self.partitions, self.shape.fixed
        for names in self.shape.copartitioned:
            set_counts = {
                fixed.get(name) or self.existing_partition_count(name)
                for name in names
                if fixed.get(name) != 0
            }
            if len(set_counts) > 1:
                return names
            flexible = [name for name in names if fixed.get(name) == 0]
            known = max((partitions.get(name, 0) for name in flexible), default=0)
            count = next(iter(set_counts), known)
            partitions.update(dict.fromkeys(flexible, count))
        return []

    def _largest_input_counts(self) -> dict[int, int]:
        """Return the numbers given by existing sources, and by repartition topics with a fixed
        number.
        """
        widths: dict[int, int] = {}
        for name in self.shape.sources_of.keys() & self.seen.keys():
            count = self.existing_partition_count(name)
            for at in self.shape.sources_of[name]:
                widths[at] = max(widths.get(at, 0), count)
        for name, readers in self.shape.readers.items():
            count = self.partitions.get(name, 0)
            for at in readers if count else ():
                widths[at] = max(widths.get(at, 0), count)
        return widths
