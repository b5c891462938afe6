"""A member of a streams group (KIP-1071): its heartbeats, their responses and its state."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Self

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.reconciliation import (
    ReconciliationStep,
    ReconcilingMember,
    intersection_of_assignments,
    may_still_own_revoking,
    subtract_assignment,
    union_of_assignments,
)
from kafka_shim.shim.state.groups.streams.streams_topology import InternalTopic, StreamsTopology
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_as_standby,
    only_standby_tasks,
)

FIRST_EPOCH = 1

Endpoint = tuple[str, int]
TaskOffsets = tuple[tuple[str, int, int], ...]
"""(subtopology id, partition, offset) triples."""


class StreamsStatus(IntEnum):
    """Status codes of a StreamsGroupHeartbeat response; the values are those on the wire."""

    STALE_TOPOLOGY = 0
    MISSING_SOURCE_TOPICS = 1
    INCORRECTLY_PARTITIONED_TOPICS = 2
    MISSING_INTERNAL_TOPICS = 3
    SHUTDOWN_APPLICATION = 4
    ASSIGNMENT_DELAYED = 5
    MISSING_CLIENT_TAGS = 6


class StreamsHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A StreamsGroupHeartbeat request; fields that are None are unchanged.

    `owned` are the active and standby tasks that the member runs, with the keys of `task_kinds`.
    """

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int  # -1: not changed
    topology: StreamsTopology | None
    owned: Assignment | None
    reported_tasks: Mapping[str, frozenset[int]]  # task partitions of all kinds, by subtopology
    task_offsets: TaskOffsets | None
    task_end_offsets: TaskOffsets | None
    process_id: str | None
    endpoint: Endpoint | None
    endpoint_epoch: int  # epoch of the endpoint list that the member has
    client_tags: Mapping[str, str] | None
    shuts_down_application: bool
    is_version_1: bool  # supports MISSING_CLIENT_TAGS and requests for a topology description
    client_id: str
    client_host: str


class EndpointTasks(msgspec.Struct, frozen=True):
    """A member's endpoint and the partitions, by topic, that its tasks read."""

    endpoint: Endpoint
    active: Mapping[str, frozenset[int]]
    standby: Mapping[str, frozenset[int]]


class StreamsHeartbeatResult(msgspec.Struct, frozen=True):
    """The response to a heartbeat.

    `tasks` is None if the member's tasks have not changed, `endpoints` if the member already has
    the list of `endpoint_epoch`. `topics_to_create` are missing internal topics. The default
    `task_offset_interval_ms` and `recovery_lag` are those of the response to a leaving member.
    """

    member_id: str
    member_epoch: int
    interval_ms: int
    tasks: Assignment | None
    statuses: tuple[tuple[StreamsStatus, str], ...] = ()
    topics_to_create: tuple[tuple[InternalTopic, int], ...] = ()
    task_offset_interval_ms: int = 0
    recovery_lag: int = -1
    endpoint_epoch: int = 0
    endpoints: tuple[EndpointTasks, ...] | None = None
    requests_description: bool = False

    @property
    def has_stale_topology(self) -> bool:
        return any(status is StreamsStatus.STALE_TOPOLOGY for status, _ in self.statuses)


class StreamsMember(ReconcilingMember):
    """One member: its process, client, endpoint and topology epoch.

    `converts_tasks`: a standby task becomes active without being revoked, and vice versa.
    """

    converts_tasks: bool = False
    epoch: int = FIRST_EPOCH
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    process_id: str = ""
    endpoint: Endpoint | None = None
    client_tags: Mapping[str, str] = {}
    topology_epoch: int = -1
    task_offsets: TaskOffsets = ()
    task_end_offsets: TaskOffsets = ()

    def update_from_heartbeat(self, heartbeat: StreamsHeartbeat, *, forgets_endpoint: bool) -> None:
        """Set the fields that the request contains."""
        self.client_id = heartbeat.client_id
        self.client_host = heartbeat.client_host
        if heartbeat.instance_id is not None:
            self.instance_id = heartbeat.instance_id
        if heartbeat.rebalance_timeout_ms >= 0:
            self.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.process_id is not None:
            self.process_id = heartbeat.process_id
        if heartbeat.endpoint is not None or forgets_endpoint:
            self.endpoint = heartbeat.endpoint
        if heartbeat.client_tags is not None:
            self.client_tags = heartbeat.client_tags
        if heartbeat.topology is not None:
            self.topology_epoch = heartbeat.topology.epoch
        if heartbeat.task_offsets is not None:
            self.task_offsets = heartbeat.task_offsets
        if heartbeat.task_end_offsets is not None:
            self.task_end_offsets = heartbeat.task_end_offsets

    def copy_from_replaced_member(self, replaced_member: Self) -> None:
        super().copy_from_replaced_member(replaced_member)
        self.instance_id = replaced_member.instance_id
        self.rack_id = replaced_member.rack_id
        self.client_id = replaced_member.client_id
        self.client_host = replaced_member.client_host
        self.process_id = replaced_member.process_id
        self.endpoint = replaced_member.endpoint
        self.client_tags = replaced_member.client_tags
        self.topology_epoch = replaced_member.topology_epoch

    def convert_task_kinds(
        self, step: ReconciliationStep, target: Assignment, owned: Assignment | None
    ) -> ReconciliationStep:
        """Grant standby tasks that were active immediately; keep standby tasks that become active
        until they are.
        """
        if not self.converts_tasks:
            return step
        kept, revoking, free = step
        demoted = intersection_of_assignments(active_tasks_as_standby(self.assigned), free)
        kept, free = union_of_assignments(kept, demoted), subtract_assignment(free, demoted)
        promoted = intersection_of_assignments(
            only_standby_tasks(self.assigned), active_tasks_as_standby(target)
        )
        revoking = subtract_assignment(revoking, promoted)
        if not (revoking and may_still_own_revoking(owned, revoking)):
            promoted = subtract_assignment(promoted, active_tasks_as_standby(free))
        return ReconciliationStep(union_of_assignments(kept, promoted), revoking, free)

    def assignment_inputs_of_static_member(self) -> tuple[object, ...]:
        """Return the fields whose change triggers a new assignment for a static member."""
        return self.topology_epoch, self.rack_id, self.client_tags, self.process_id

    def assignment_inputs_of_dynamic_member(self) -> tuple[object, ...]:
        """Return the fields whose change triggers a new assignment for a dynamic member."""
        return (
            *self.assignment_inputs_of_static_member(),
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.endpoint,
        )
