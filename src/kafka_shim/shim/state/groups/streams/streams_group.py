"""A streams group (KIP-1071): members run the tasks of a topology, and reach their target
assignment in steps, as members of consumer groups do.

The broker assigns active and standby tasks; warm-up tasks exist only in reports.
"""

from collections.abc import Callable, Mapping
from copy import copy
from functools import partial

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.streams_group_topology_description_update import (
    TopologyDescription,
)
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import Assignment, Subscriber
from kafka_shim.shim.state.groups.epoch_group import EpochGroup, require_acceptable_epoch
from kafka_shim.shim.state.groups.group import GroupType
from kafka_shim.shim.state.groups.group_target import GroupTarget
from kafka_shim.shim.state.groups.reconciliation import LEAVING, LEAVING_FOR_A_WHILE, IsUnowned
from kafka_shim.shim.state.groups.streams.sticky_tasks import (
    StickyAssignorRules,
    TasksToAssign,
    assign_tasks_sticky,
)
from kafka_shim.shim.state.groups.streams.streams_member import (
    FIRST_EPOCH,
    Endpoint,
    EndpointTasks,
    StreamsHeartbeat,
    StreamsHeartbeatResult,
    StreamsMember,
    StreamsStatus,
)
from kafka_shim.shim.state.groups.streams.streams_tasks import (
    StreamsTasks,
    TasksOfProcess,
    create_free_task_check,
    task_runner_of_member,
)
from kafka_shim.shim.state.groups.streams.streams_topology import (
    ConfiguredTopology,
    StreamsTopology,
)
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_by_subtopology,
    standby_tasks_by_subtopology,
)
from kafka_shim.shim.state.java_collections import in_timeline_hash_map_order
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topics

STREAMS = "streams"


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
        self._topics = topics
        self.tasks = StreamsTasks(topics)
        self.description: tuple[int, TopologyDescription | None] | None = None
        """The described topology's epoch and description; None once the description is deleted."""
        self._shut_down_by: str | None = None
        self._endpoint_epoch = 0
        self.shows_partition_counts = True
        """Whether the group is described with the configured numbers of partitions."""
        self._rules = StickyAssignorRules(
            facts.streams_assignor_uses_reported_offsets, facts.standby_prefers_other_owner
        )
        self._assigned_by: tuple[object, ...] = ()  # assignor settings at the last heartbeat
        self.target = GroupTarget(
            clock,
            partial(settings.streams_assignment_interval_ms, group_id),
            (FIRST_EPOCH, facts.empty_group_epoch),
            delay_ms=partial(settings.streams_initial_delay_ms, group_id),
        )

    @property
    def protocol_type(self) -> str:
        return STREAMS

    @property
    def topology(self) -> StreamsTopology | None:
        return self.tasks.topology

    @property
    def topology_epoch(self) -> int:
        return -1 if self.topology is None else self.topology.epoch

    @property
    def state_name(self) -> str:
        configured = self.tasks.configured
        if self.members and (configured is None or not configured.is_ready):
            return "NotReady"
        return super().state_name

    def restore_topology(self, topology: StreamsTopology | None) -> None:
        """Restore a topology and resolve it against the existing topics."""
        self.tasks.topology = topology
        self.tasks.configure_with_existing_topics()
        self.tasks.update_topics()
        self._assigned_by = self._settings.streams_assignor_settings(self.group_id)
        self.target.record_assignable_partitions(self.tasks, self.members.values())

    # heartbeats

    def handle_heartbeat(self, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        """Handle a heartbeat that joins, stays or leaves. Raise RequestRejected if invalid."""
        if heartbeat.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
            return self._handle_leaving_heartbeat(heartbeat)
        return self.handle_heartbeat_without_timers(heartbeat, self.restart_timeouts)

    def handle_heartbeat_without_timers(
        self, heartbeat: StreamsHeartbeat, restart_member_timers: Callable[[StreamsMember], None]
    ) -> StreamsHeartbeatResult:
        """Handle a heartbeat that joins or stays; the callback starts its member's timers."""
        before = self._validate_member(heartbeat)
        is_new_group = self.tasks.topology is None
        if not self.members:
            self.target.restart_initial_delay()
        self._accept_topology(heartbeat.topology)
        self.tasks.configure_with_existing_topics()
        error = NO_ERROR if self.tasks.configured is None else self.tasks.configured.error
        if error is ErrorCode.STREAMS_INVALID_TOPOLOGY:
            raise RequestRejected(error, "no subtopology writes one of the repartition topics")
        if error is not NO_ERROR:
            raise RequestRejected(error)
        if (text := self.tasks.unknown_task_error(heartbeat.reported_tasks)) is not None:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
        member = self._store_member(heartbeat, before)
        endpoint, assigned = member.endpoint, member.assigned
        changed = self._update_member(member, heartbeat, is_known=before is not None)
        if heartbeat.shuts_down_application:
            self._shut_down_by = member.process_id
        is_new = before is None or before.member_id != member.member_id
        self._advance_member(member, heartbeat, is_new=is_new, changed=changed)
        if before is None:
            member.previous_epoch = 0
        restart_member_timers(member)
        joins, moved = heartbeat.member_epoch == 0, member.assigned != assigned
        if self._has_endpoint_list_changed(member, endpoint, joins=joins, tasks_changed=moved):
            self._endpoint_epoch += 1
        response = self._heartbeat_result(member, heartbeat, shows_tasks=joins or moved)
        # Kafka does not log these fields, and loses them in the request that creates the group
        self.shows_partition_counts = not is_new_group
        if is_new_group:
            self._endpoint_epoch = 0
            self._shut_down_by = None
            member.task_offsets = member.task_end_offsets = ()
            response = msgspec.structs.replace(response, endpoint_epoch=0)
        return response

    def _validate_member(self, heartbeat: StreamsHeartbeat) -> StreamsMember | None:
        """Return the existing member of a heartbeat, or the static one it replaces; None if new."""
        instance_id = heartbeat.instance_id
        if heartbeat.member_epoch != 0:
            known = self.require_leaving_member(heartbeat.member_id, instance_id)
            require_acceptable_epoch(known, heartbeat.member_epoch, heartbeat.owned)
            return known
        is_full = len(self.members) >= self._settings.streams_size_max
        if (
            is_full
            and heartbeat.member_id not in self.members
            and instance_id not in self.instances
        ):
            raise RequestRejected(
                ErrorCode.GROUP_MAX_SIZE_REACHED, "the group has reached its maximum size"
            )
        current = None if instance_id is None else self.require_released_static_member(instance_id)
        return current or self.members.get(heartbeat.member_id)

    def create_detached_member(self, member_id: str) -> StreamsMember:
        return StreamsMember(
            member_id, converts_tasks=self._facts.streams_assignor_uses_reported_offsets
        )

    def _store_member(
        self, heartbeat: StreamsHeartbeat, before: StreamsMember | None
    ) -> StreamsMember:
        """Return the member of the heartbeat, after adding it to the group."""
        instance_id = heartbeat.instance_id
        if before is None:
            member = self.create_detached_member(heartbeat.member_id)
            member.epoch = max(FIRST_EPOCH, self.target.target_epoch)
        elif instance_id is not None and before.epoch == LEAVING_FOR_A_WHILE:
            member = self.create_detached_member(heartbeat.member_id)
            member.copy_from_replaced_member(before)
            self.target.replace_target_member_id(before.member_id, member.member_id)
            self.drop_member_in_epoch(before)
        else:
            member = copy(before)
        if instance_id is not None:
            self.instances.pop(member.instance_id or "", None)
            self.instances[instance_id] = member.member_id
        self.members[member.member_id] = member
        return member

    def _update_member(
        self, member: StreamsMember, heartbeat: StreamsHeartbeat, *, is_known: bool
    ) -> bool:
        """Update a member from its heartbeat; return whether a new assignment is needed."""
        assignment_inputs = (
            member.assignment_inputs_of_dynamic_member
            if heartbeat.instance_id is None
            else member.assignment_inputs_of_static_member
        )
        before = assignment_inputs()
        forgets = (
            heartbeat.member_epoch == 0 and self._facts.streams_members_learn_changed_endpoints
        )
        member.update_from_heartbeat(heartbeat, forgets_endpoint=forgets)
        return not is_known or assignment_inputs() != before

    def _advance_member(
        self, member: StreamsMember, heartbeat: StreamsHeartbeat, *, is_new: bool, changed: bool
    ) -> None:
        """Begin a new group epoch if anything changed, and reconcile the member by one step."""
        changed = self.tasks.update_topics() or changed
        assigned_by = self._settings.streams_assignor_settings(self.group_id)
        changed = assigned_by != self._assigned_by or changed
        self._assigned_by = assigned_by
        newcomer = member.member_id if is_new else None
        distribute = partial(self._compute_task_assignments, newcomer)
        self.target.update_target(
            self.tasks, self.members.values(), distribute, subscription_changed=changed
        )
        if self.target.has_ever_been_computed:
            self.reconcile_member(member, heartbeat.owned)

    def _has_endpoint_list_changed(
        self, member: StreamsMember, before: Endpoint | None, *, joins: bool, tasks_changed: bool
    ) -> bool:
        """Return whether the endpoint list has changed, so that all members get it again."""
        if not self._facts.streams_members_learn_changed_endpoints:
            return member.endpoint is not None and (joins or tasks_changed)
        return member.endpoint != before or (tasks_changed and member.endpoint is not None)

    def _compute_task_assignments(
        self,
        newcomer: str | None,
        subscribers: list[Subscriber],
        task_counts: Mapping[bytes, int],
    ) -> dict[str, Assignment]:
        targets = {
            subscriber.member_id: subscriber.current_assignment for subscriber in subscribers
        }
        order = in_timeline_hash_map_order(
            member_id for member_id in targets if member_id != newcomer
        )
        runners = []
        for member_id in order if newcomer is None else [*order, newcomer]:
            member = self.members[member_id]
            tasks = (
                member.assigned
                if self._facts.streams_tasks_stay_with_current_owner
                else targets[member_id]
            )
            runners.append(task_runner_of_member(member, tasks))
        replicas = self._settings.streams_standby_replicas(self.group_id)
        stateful = self.tasks.stateful_subtopology_ids & task_counts.keys()
        return assign_tasks_sticky(
            runners, TasksToAssign(task_counts, stateful, replicas), self._rules
        )

    def _create_unowned_check(self, member: StreamsMember) -> IsUnowned:
        is_free = super()._create_unowned_check(member)
        converts = self._facts.streams_assignor_uses_reported_offsets
        return create_free_task_check(
            is_free, TasksOfProcess(self.members, member, converts_tasks=converts)
        )

    def _missing_client_tags(self, member: StreamsMember) -> list[str]:
        tags = self._settings.streams_rack_tags(self.group_id)
        return [tag for tag in tags if tag not in member.client_tags]

    def _accept_topology(self, topology: StreamsTopology | None) -> None:
        """Adopt the first member's topology; raise RequestRejected for a newer or different one."""
        if topology is None:
            return
        known = self.tasks.topology
        if known is None:
            self.tasks.topology = topology
        elif topology.epoch > known.epoch or (topology.epoch == known.epoch and topology != known):
            text = f"group `{self.group_id}` runs another topology, that of epoch {known.epoch}"
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)

    @property
    def assignor_name(self) -> str:
        return self._settings.streams_assignor(self.group_id)

    def _heartbeat_result(
        self, member: StreamsMember, heartbeat: StreamsHeartbeat, *, shows_tasks: bool
    ) -> StreamsHeartbeatResult:
        configured = self.tasks.configured
        to_make = []
        if configured is not None:
            to_make = [
                (topic, configured.partitions[topic.name]) for topic in configured.missing_internal
            ]
        return StreamsHeartbeatResult(
            member.member_id,
            member.epoch,
            self._settings.streams_heartbeat_interval_ms(self.group_id),
            member.assigned if shows_tasks else None,
            tuple(self._response_statuses(member, configured, heartbeat)),
            tuple(to_make),
            self._settings.streams_task_offset_interval_ms(self.group_id),
            self._settings.streams_acceptable_recovery_lag(self.group_id),
            self._endpoint_epoch,
            None
            if self._endpoint_epoch == heartbeat.endpoint_epoch
            else self._endpoints_with_partitions(),
        )

    def _endpoints_with_partitions(self) -> tuple[EndpointTasks, ...]:
        found = []
        for member in self.members.values():
            if member.endpoint is not None:
                active = self.tasks.partitions_read_by_tasks(
                    active_tasks_by_subtopology(member.assigned)
                )
                standby = self.tasks.partitions_read_by_tasks(
                    standby_tasks_by_subtopology(member.assigned)
                )
                if active is None or standby is None:  # Kafka has no error of its own for this
                    raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
                found.append(EndpointTasks(member.endpoint, active, standby))
        return tuple(found)

    def _response_statuses(
        self,
        member: StreamsMember,
        configured: ConfiguredTopology | None,
        heartbeat: StreamsHeartbeat,
    ) -> "list[tuple[StreamsStatus, str]]":
        found = []
        topology = self.tasks.topology
        if topology is not None and member.topology_epoch < topology.epoch:
            found.append((StreamsStatus.STALE_TOPOLOGY, "the member's topology is out of date"))
        if self.target.awaits_computation:
            found.append((StreamsStatus.ASSIGNMENT_DELAYED, "the assignment is delayed"))
        if configured is not None and configured.missing_sources:
            names = ", ".join(configured.missing_sources)
            found.append(
                (StreamsStatus.MISSING_SOURCE_TOPICS, f"source topics are missing: {names}")
            )
        elif configured is not None and configured.misfits:
            names = ", ".join(configured.misfits)
            text = f"topics have the wrong number of partitions: {names}"
            found.append((StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS, text))
        elif configured is not None and configured.missing_internal:
            names = ", ".join(topic.name for topic in configured.missing_internal)
            found.append(
                (StreamsStatus.MISSING_INTERNAL_TOPICS, f"internal topics are missing: {names}")
            )
        if self._shut_down_by is not None:
            text = f"process `{self._shut_down_by}` asked the application to shut down"
            found.append((StreamsStatus.SHUTDOWN_APPLICATION, text))
        if heartbeat.is_version_1 and (missing := self._missing_client_tags(member)):
            text = f"the member lacks client tags: {', '.join(missing)}"
            found.append((StreamsStatus.MISSING_CLIENT_TAGS, text))
        return found

    def _handle_leaving_heartbeat(self, heartbeat: StreamsHeartbeat) -> StreamsHeartbeatResult:
        if heartbeat.shuts_down_application and self._shut_down_by is None:
            self._shut_down_by = heartbeat.member_id
        member = self.require_leaving_member(heartbeat.member_id, heartbeat.instance_id)
        if heartbeat.instance_id is not None and heartbeat.member_epoch == LEAVING_FOR_A_WHILE:
            self.leave_as_static_member(member)
        else:
            self.remove_members(member)
        if not self.members:
            self._shut_down_by = None
        return StreamsHeartbeatResult(heartbeat.member_id, heartbeat.member_epoch, 0, None)

    def member_has_owned_since_epoch(
        self, member: StreamsMember, epoch: int, topic_id: bytes, partition: int
    ) -> bool:
        subtopology_id = self.tasks.subtopology_reading_topic(topic_id)
        return subtopology_id is not None and member.has_owned_since_epoch(
            epoch, subtopology_id.encode(), partition
        )

    def subscribes_to(self, topic_name: str) -> bool:
        configured = self.tasks.configured
        return (
            bool(self.members)
            and configured is not None
            and configured.shape.is_read_by_tasks(topic_name)
        )
