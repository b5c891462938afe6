"""A member of a streams group (KIP-1071): what it tells in its heartbeats, and what it is told."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Self

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.configured_topology import Configured
from kafka_shim.shim.state.groups.reconciliation import ReconcilingMember
from kafka_shim.shim.state.groups.streams_topology import InternalTopic, StreamsTopology

FIRST_EPOCH = 1

Endpoint = tuple[str, int]
TaskOffsets = tuple[tuple[str, int, int], ...]
"""Subtopology, partition, offset."""


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
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int  # -1: not changed
    topology: StreamsTopology | None
    configured: Configured | None  # that topology, against the topics that there were
    owned: Assignment | None
    reported: Mapping[str, frozenset[int]]  # partitions of tasks of all kinds, by subtopology
    task_offsets: TaskOffsets | None
    task_end_offsets: TaskOffsets | None
    process_id: str | None
    endpoint: Endpoint | None
    endpoint_epoch: int  # of what it knows of the endpoints of all members
    client_tags: Mapping[str, str] | None
    shuts_down: bool
    is_version_1: bool  # can be told of missing tags, and be asked to describe its topology
    client_id: str
    client_host: str


class EndpointTasks(msgspec.Struct, frozen=True):
    """The partitions by topic that the tasks of a member with an endpoint read."""

    endpoint: Endpoint
    partitions: Mapping[str, frozenset[int]]


class StreamsAnswer(msgspec.Struct, frozen=True):
    """The answer to a heartbeat; `tasks` is None if the member knows them already.

    `endpoints` is None if the member knows those of `endpoint_epoch` already; `to_make` are
    internal topics that somebody has to make. A member that leaves is told no interval between
    reports of its tasks' offsets, and no lag that is acceptable.
    """

    member_id: str
    member_epoch: int
    interval_ms: int
    tasks: Assignment | None
    statuses: tuple[tuple[Status, str], ...] = ()
    to_make: tuple[tuple[InternalTopic, int], ...] = ()
    task_offset_interval_ms: int = 0
    recovery_lag: int = -1
    endpoint_epoch: int = 0
    endpoints: tuple[EndpointTasks, ...] | None = None
    asks_description: bool = False

    @property
    def is_stale(self) -> bool:
        return any(status is Status.STALE_TOPOLOGY for status, _ in self.statuses)


class StreamsMember(ReconcilingMember):
    """One member: the process it runs in and the topology it knows."""

    def __init__(self, member_id: str) -> None:
        super().__init__(member_id, None)
        self.epoch = FIRST_EPOCH
        self.rack_id: str | None = None
        self.client_id = ""
        self.client_host = ""
        self.process_id = ""
        self.endpoint: Endpoint | None = None
        self.client_tags: Mapping[str, str] = {}
        self.topology_epoch = -1
        self.task_offsets: TaskOffsets = ()
        self.task_end_offsets: TaskOffsets = ()

    def update(self, heartbeat: StreamsHeartbeat, *, forgets_endpoint: bool) -> None:
        """Take over what the request tells."""
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

    def take_over(self, other: Self) -> None:
        super().take_over(other)
        self.instance_id = other.instance_id
        self.rack_id = other.rack_id
        self.client_id = other.client_id
        self.client_host = other.client_host
        self.process_id = other.process_id
        self.endpoint = other.endpoint
        self.client_tags = other.client_tags
        self.topology_epoch = other.topology_epoch

    def relevant(self) -> tuple[object, ...]:
        """What calls for a new assignment if a static member tells something else."""
        return self.topology_epoch, self.rack_id, self.client_tags, self.process_id

    def told(self) -> tuple[object, ...]:
        """What calls for a new assignment if another member tells something else."""
        return (
            *self.relevant(),
            self.instance_id,
            self.client_id,
            self.client_host,
            self.rebalance_timeout_ms,
            self.endpoint,
        )
