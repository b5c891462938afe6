"""The topology of a streams application (KIP-1071): its subtopologies and the topics they need."""

from collections.abc import Iterator

import msgspec

from kafka_shim.shim.state.topics import name_error


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
