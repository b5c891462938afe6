"""A streams group (KIP-1071): members run the tasks of a topology, and follow step by step as the
members of consumer groups do.

DEVIATION: tasks are active ones only, neither standby nor warmup tasks are given out, and where
else a task runs is not told (interactive queries).
"""

from collections.abc import Mapping
from enum import IntEnum
from functools import partial

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import Refused
from kafka_shim.shim.state.group_settings import GroupSettings
from kafka_shim.shim.state.groups.assignors import Assignment, Subscriber
from kafka_shim.shim.state.groups.epoch_group import EpochGroup, check_epoch
from kafka_shim.shim.state.groups.group import GroupType
from kafka_shim.shim.state.groups.group_target import GroupTarget
from kafka_shim.shim.state.groups.reconciliation import LEAVING, ReconcilingMember
from kafka_shim.shim.state.groups.sticky_tasks import Runner, assign_sticky
from kafka_shim.shim.state.groups.streams_topology import Configured, InternalTopic, StreamsTopology
from kafka_shim.shim.state.java_hash_map import timeline_ordered
from kafka_shim.shim.state.topics import Topics

STREAMS = "streams"
FIRST_EPOCH = 1


class Status(IntEnum):
    """What a member should know beside its tasks, by its code on the wire."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6


class StreamsHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A StreamsGroupHeartbeat request; what is None has not changed.

    `owned` are the active tasks that the member runs, by subtopology id as bytes.
    """

    member_id: str
    member_epoch: int
    rack_id: str | None
    rebalance_timeout_ms: int  # -1: not changed
    topology: StreamsTopology | None
    owned: Assignment | None
    process_id: str | None
    endpoint: tuple[str, int] | None
    client_tags: tuple[tuple[str, str], ...] | None
    shuts_down: bool
    knows_tags: bool  # can be told which of its tags are missing
    client_id: str
    client_host: str


class StreamsAnswer(msgspec.Struct, frozen=True):
    """The answer to a heartbeat; `tasks` is None if the member knows them already.

    `to_make` are internal topics that somebody has to make. A member that leaves is told no
    interval between reports of its tasks' offsets, and no lag that is acceptable.
    """

    member_id: str
    member_epoch: int
    interval_ms: int
    tasks: Assignment | None
    statuses: tuple[tuple[Status, str], ...] = ()
    to_make: tuple[tuple[InternalTopic, int], ...] = ()
    task_offset_interval_ms: int = 0
    recovery_lag: int = -1


class StreamsMember(ReconcilingMember):
    """One member: the process it runs in and the topology it knows."""

    def __init__(self, member_id: str) -> None:
        super().__init__(member_id, None)
        self.epoch = FIRST_EPOCH
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        self.process_id = ""
        self.endpoint: tuple[str, int] | None = None
        self.client_tags: tuple[tuple[str, str], ...] = ()
        self.topology_epoch = 0

    def update(self, heartbeat: StreamsHeartbeat) -> bool:
        """Take over what the request tells; whether that calls for a new assignment."""
        before = self._told()
        self.client_id = heartbeat.client_id
        self.client_host = heartbeat.client_host
        if heartbeat.rebalance_timeout_ms >= 0:
            self.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.process_id is not None:
            self.process_id = heartbeat.process_id
        if heartbeat.endpoint is not None:
            self.endpoint = heartbeat.endpoint
        if heartbeat.client_tags is not None:
            self.client_tags = heartbeat.client_tags
        if heartbeat.topology is not None:
            self.topology_epoch = heartbeat.topology.epoch
        return before != self._told()

    def _told(self) -> tuple[object, ...]:
        return (
            self.rack_id,
            self.process_id,
            self.endpoint,
            self.client_tags,
            self.topology_epoch,
        )


class _Tasks:
    """What a streams group has to assign: the tasks of its topology, to every member alike.

    The topology is `configured` by the topics that there were at the last heartbeat.
    """

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self.topology: StreamsTopology | None = None
        self.configured: Configured | None = None

    @property
    def changes(self) -> int:
        return self._topics.epoch

    def configure(self) -> bool:
        """Look at the topics that there are now; whether they are others."""
        if self.topology is None:
            return False
        before, self.configured = self.configured, Configured(self.topology, self._topics)
        return before is None or before.seen != self.configured.seen

    def counts(self, members: object) -> Mapping[bytes, int]:  # noqa: ARG002 - all run the same
        tasks = {} if self.configured is None else self.configured.tasks
        return {subtopology_id.encode(): count for subtopology_id, count in tasks.items()}

    def wanted_by(self, member: object) -> frozenset[bytes]:
        return frozenset(self.counts(member))


class StreamsGroup(EpochGroup[StreamsMember]):
    """One streams group."""

    type = GroupType.STREAMS

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        facts: GroupFacts,
        topics: Topics,
        clock: Clock,
    ) -> None:
        timeout_ms = partial(settings.streams_session_timeout_ms, group_id)
        super().__init__(group_id, timeout_ms, facts, clock)
        self._settings = settings
        self.tasks = _Tasks(topics)
        self._shut_down_by: str | None = None
        self._assigned_by: tuple[object, ...] = ()  # settings of the assignor, as last seen
        self.target = GroupTarget(
            clock,
            partial(settings.streams_assignment_interval_ms, group_id),
            (FIRST_EPOCH, facts.new_group_epoch),
            delay_ms=settings.streams_initial_delay_ms(group_id),
        )

    @property
    def protocol_type(self) -> str:
        return STREAMS

    @property
    def topology(self) -> StreamsTopology | None:
        return self.tasks.topology

    @property
    def state_name(self) -> str:
        configured = self.tasks.configured
        if self.members and (configured is None or not configured.tasks):
            return "NotReady"
        return super().state_name

    # heartbeats

    def heartbeat(self, heartbeat: StreamsHeartbeat) -> StreamsAnswer:
        """Join, stay or leave; raises Refused with the error of the whole request."""
        if heartbeat.member_epoch == LEAVING:
            return self._leave(heartbeat)
        joins = heartbeat.member_epoch == 0
        known = self.members.get(heartbeat.member_id)
        if joins and known is None and len(self.members) >= self._settings.streams_size_max:
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, "the group is full")
        if not joins:
            known = self.member(heartbeat.member_id)
            check_epoch(known, heartbeat.member_epoch, heartbeat.owned)
        self._check_topology(heartbeat.topology)
        member = known or StreamsMember(heartbeat.member_id)
        changed = member.update(heartbeat) or known is None
        self.members[member.member_id] = member
        if heartbeat.shuts_down:
            self._shut_down_by = member.process_id
        changed = self.tasks.configure() or changed
        assigned_by = self._settings.streams_assignment(self.group_id)
        changed = assigned_by != self._assigned_by or changed
        self._assigned_by = assigned_by
        assign = partial(self._assign, member.member_id if known is None else None)
        self.target.refresh(self.tasks, self.members.values(), assign, changed=changed)
        moved = self.target.was_ever_set and self.reconcile(member, heartbeat.owned)
        self.watch(member)
        answer = self._answer(member, shows_tasks=joins or moved)
        if heartbeat.knows_tags and (missing := self._missing_tags(member)):
            text = f"the member lacks client tags: {', '.join(missing)}"
            answer = msgspec.structs.replace(
                answer, statuses=(*answer.statuses, (Status.MISSING_CLIENT_TAGS, text))
            )
        return answer

    def _assign(
        self,
        newcomer: str | None,
        subscribers: list[Subscriber],
        task_counts: Mapping[bytes, int],
    ) -> dict[str, Assignment]:
        targets = {subscriber.member_id: subscriber.current for subscriber in subscribers}
        order = timeline_ordered(member_id for member_id in targets if member_id != newcomer)
        runners = []
        for member_id in order if newcomer is None else [*order, newcomer]:
            member = self.members[member_id]
            tasks = member.assigned if self._facts.streams_tasks_stay else targets[member_id]
            runners.append(Runner(member_id, member.process_id, tasks))
        return assign_sticky(runners, task_counts)

    def _missing_tags(self, member: StreamsMember) -> list[str]:
        had = {key for key, _ in member.client_tags}
        return [tag for tag in self._settings.streams_rack_tags(self.group_id) if tag not in had]

    def _check_topology(self, topology: StreamsTopology | None) -> None:
        """The first member decides; later ones have the same, or an older one (KIP-1071)."""
        if topology is None:
            return
        known = self.tasks.topology
        if known is None:
            self.tasks.topology = topology
        elif topology.epoch > known.epoch or (topology.epoch == known.epoch and topology != known):
            text = f"group `{self.group_id}` runs another topology, of epoch {known.epoch}"
            raise Refused(ErrorCode.INVALID_REQUEST, text)

    @property
    def assignor_name(self) -> str:
        return self._settings.streams_assignor(self.group_id)

    def _answer(self, member: StreamsMember, *, shows_tasks: bool) -> StreamsAnswer:
        configured = self.tasks.configured
        to_make = []
        if configured is not None:
            to_make = [
                (topic, configured.partitions[topic.name]) for topic in configured.missing_internal
            ]
        return StreamsAnswer(
            member.member_id,
            member.epoch,
            self._settings.streams_heartbeat_interval_ms(self.group_id),
            member.assigned if shows_tasks else None,
            tuple(self._statuses(member, configured)),
            tuple(to_make),
            self._settings.streams_task_offset_interval_ms(self.group_id),
            self._settings.streams_recovery_lag(self.group_id),
        )

    def _statuses(
        self, member: StreamsMember, configured: Configured | None
    ) -> "list[tuple[Status, str]]":
        found = []
        topology = self.tasks.topology
        if topology is not None and member.topology_epoch < topology.epoch:
            found.append((Status.STALE_TOPOLOGY, "the member's topology is out of date"))
        if configured is not None and configured.missing_sources:
            names = ", ".join(configured.missing_sources)
            found.append((Status.MISSING_SOURCE_TOPICS, f"source topics are missing: {names}"))
        elif configured is not None and configured.misfits:
            names = ", ".join(configured.misfits)
            text = f"topics have the wrong number of partitions: {names}"
            found.append((Status.INCORRECTLY_PARTITIONED_TOPICS, text))
        elif configured is not None and configured.missing_internal:
            names = ", ".join(topic.name for topic in configured.missing_internal)
            found.append((Status.MISSING_INTERNAL_TOPICS, f"internal topics are missing: {names}"))
        if self._shut_down_by is not None:
            text = f"process `{self._shut_down_by}` asked the application to shut down"
            found.append((Status.SHUTDOWN_APPLICATION, text))
        if self.target.is_delayed:
            found.append((Status.ASSIGNMENT_DELAYED, "the assignment is delayed"))
        return found

    def _leave(self, heartbeat: StreamsHeartbeat) -> StreamsAnswer:
        self.remove(self.member(heartbeat.member_id))
        if not self.members:
            self._shut_down_by = None
        return StreamsAnswer(heartbeat.member_id, LEAVING, 0, None)

    def subscribes_to(self, topic_name: str) -> bool:
        topology = self.tasks.topology
        return bool(self.members) and topology is not None and topic_name in topology.read_topics()
