"""The tasks that a streams group assigns: those of its topology whose topics exist; and the
tasks of the members of one process, which limit the assignment of each member (KIP-1071).
"""

from collections.abc import Mapping
from copy import copy

from kafka_shim.shim.state.groups.assignors import Assignment, OrderedAssignment
from kafka_shim.shim.state.groups.reconciliation import IsUnowned
from kafka_shim.shim.state.groups.streams.sticky_tasks import TaskRunner
from kafka_shim.shim.state.groups.streams.streams_member import StreamsMember
from kafka_shim.shim.state.groups.streams.streams_topology import (
    ConfiguredTopology,
    ExistingTopics,
    StreamsTopology,
    TopologyIndex,
)
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_by_subtopology,
    is_standby_key,
    standby_key,
    standby_tasks_by_subtopology,
    without_standby_marker,
)
from kafka_shim.shim.state.topics import Topics


class StreamsTasks:
    """The tasks of a topology, which all members can run.

    The topology is `configured` with the topics that existed at the last heartbeat.
    """

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self.topology: StreamsTopology | None = None
        self.configured: ConfiguredTopology | None = None
        self._known: ExistingTopics | None = None

    @property
    def change_number(self) -> int:
        return self._topics.epoch

    def configure_with_existing_topics(self) -> None:
        """Configure the topology with the present topics."""
        known, epoch = self.configured, self._topics.epoch
        if self.topology is None or (known is not None and known.epoch == epoch):
            self.configured = known
            return
        shape = TopologyIndex(self.topology) if known is None else known.shape
        seen = shape.existing_topics(self._topics)
        if known is not None and known.seen == seen:
            self.configured = copy(known)
            self.configured.epoch = epoch
        else:
            self.configured = ConfiguredTopology(shape, seen, epoch)

    def update_topics(self) -> bool:
        """Return whether the topics have changed since the last call."""
        if self.configured is None:
            return False
        before, self._known = self._known, self.configured.seen
        return before != self._known

    def partition_counts(self, members: object) -> Mapping[bytes, int]:  # noqa: ARG002 - all run the same
        tasks = {} if self.configured is None else self.configured.tasks
        return {subtopology_id.encode(): count for subtopology_id, count in tasks.items()}

    @property
    def stateful_subtopology_ids(self) -> frozenset[bytes]:
        """The subtopologies with state, which have changelogs."""
        parts = () if self.topology is None else self.topology.subtopologies
        return frozenset(part.subtopology_id.encode() for part in parts if part.changelogs)

    def subscribed_topic_ids(self, member: object) -> frozenset[bytes]:
        return frozenset(self.partition_counts(member))

    def unknown_task_error(self, reported: Mapping[str, frozenset[int]]) -> str | None:
        """Return what is wrong with a member's reported tasks; None if they are valid."""
        tasks = {} if self.configured is None else self.configured.tasks
        for subtopology_id, partitions in reported.items() if tasks else ():
            count = tasks.get(subtopology_id)
            if count is None:
                return f"the topology has no subtopology `{subtopology_id}`"
            if strange := [at for at in partitions if not 0 <= at < count]:
                return f"subtopology `{subtopology_id}` has {count} tasks, but not {strange[0]}"
        return None

    def subtopology_reading_topic(self, topic_id: bytes) -> str | None:
        """Return the subtopology that reads a topic."""
        topic = self._topics.by_id(topic_id)
        if self.topology is None or topic is None:
            return None
        readers = (
            part for part in self.topology.subtopologies if topic.name in part.read_topic_names
        )
        return next((part.subtopology_id for part in readers), None)

    def partitions_read_by_tasks(self, assigned: Assignment) -> dict[str, frozenset[int]] | None:
        """Return the partitions that tasks read, by topic; None while topics of the topology are
        missing or do not match it, since brokers then do not answer.
        """
        configured, topology = self.configured, self.topology
        if configured is None or topology is None or not configured.fits:
            return None
        held = {subtopology_id.decode(): at for subtopology_id, at in assigned.items()}
        found: dict[str, frozenset[int]] = {}
        for subtopology in topology.subtopologies if held else ():
            partitions = held.get(subtopology.subtopology_id, frozenset())
            for name in dict.fromkeys(subtopology.read_topic_names) if partitions else ():
                count = configured.existing_partition_count(name)
                if there := frozenset(at for at in partitions if at < count):
                    found[name] = found.get(name, frozenset()) | there
        return found


class TasksOfProcess:
    """The tasks that members of the same process hold. A member's own tasks count if they do not
    change their kind (`converts_tasks`), or if it has to revoke them.
    """

    def __init__(
        self, members: Mapping[str, StreamsMember], member: StreamsMember, *, converts_tasks: bool
    ) -> None:
        self._members, self._member, self._converts = members, member, converts_tasks
        self._held: dict[bytes, set[int]] | None = None

    def owns_task(self, key: bytes, at: int) -> bool:
        if self._held is None:
            self._held = self._collect_owned_tasks()
        return at in self._held.get(key, ())

    def _collect_owned_tasks(self) -> dict[bytes, set[int]]:
        found: dict[bytes, set[int]] = {}
        process_id = self._member.process_id
        for other in self._members.values():
            if other.process_id == process_id:
                counts = not self._converts or other is not self._member
                for tasks in (other.assigned if counts else {}, other.revoking):
                    for key, partitions in tasks.items():
                        found.setdefault(key, set()).update(partitions)
        return found


def create_free_task_check(is_free_to_take: IsUnowned, process_tasks: TasksOfProcess) -> IsUnowned:
    """Return a check for a task: an active task must be unowned and no standby task of the process;
    a standby task must not run in the process.
    """

    def is_free_task(key: bytes, at: int) -> bool:
        if is_standby_key(key):
            return not (
                process_tasks.owns_task(key, at)
                or process_tasks.owns_task(without_standby_marker(key), at)
            )
        return is_free_to_take(key, at) and not process_tasks.owns_task(standby_key(key), at)

    return is_free_task


def task_runner_of_member(member: StreamsMember, tasks: OrderedAssignment) -> TaskRunner:
    """Return a member with tasks and reported offsets, as the assignor sees it."""
    return TaskRunner(
        member.member_id,
        member.process_id,
        active_tasks_by_subtopology(tasks),
        standby_tasks_by_subtopology(tasks),
        {(name.encode(), at): offset for name, at, offset in member.task_offsets},
    )
