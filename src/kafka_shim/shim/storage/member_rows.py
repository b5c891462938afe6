"""Groups whose members have epochs: consumer, share and streams groups (KIP-848, 932, 1071).

As on a real broker, members notice no difference after a restart.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ClassicJoinFields, ConsumerMember
from kafka_shim.shim.state.groups.group_target import GroupTarget
from kafka_shim.shim.state.groups.reconciliation import ReconciliationState, ReconcilingMember
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareMember
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.groups.streams.streams_member import Endpoint
from kafka_shim.shim.state.groups.streams.streams_topology import StreamsTopology

Held = list[tuple[bytes, list[int]]]
"""An assignment: topic ids, or ids of subtopologies, with partitions."""
Since = list[tuple[bytes, int, int]]
"""Partitions, and the epochs since which a member has them."""


class TargetRow(msgspec.Struct):
    """The epochs of a group, and the target assignment of its members."""

    epoch: int
    target_epoch: int
    by_member: list[tuple[str, Held]]


class StepRow(msgspec.Struct):
    """A member's progress towards its target assignment."""

    epoch: int
    previous_epoch: int
    state: str
    assigned: Held
    assigned_in: Since
    revoking: Held
    revoking_in: Since


class ConsumerMemberRow(msgspec.Struct):
    """A member of a consumer group."""

    member_id: str
    instance_id: str | None
    rebalance_timeout_ms: int
    rack_id: str | None
    client_id: str
    client_host: str
    topic_names: frozenset[str]
    topic_regex: str | None
    server_assignor: str | None
    classic_join: ClassicJoinFields | None
    step: StepRow


class ConsumerRow(msgspec.Struct, tag="consumer"):
    """A consumer group; `matching` are the topics that its regular expressions match."""

    target: TargetRow
    matching: dict[str, frozenset[str]]
    members: list[ConsumerMemberRow]


class ShareMemberRow(msgspec.Struct):
    """A member of a share group."""

    member_id: str
    rack_id: str | None
    client_id: str
    client_host: str
    topic_names: frozenset[str]
    epoch: int
    previous_epoch: int
    assigned: Held


class ShareRow(msgspec.Struct, tag="share"):
    """A share group, and its initialised partitions."""

    target: TargetRow
    has_ever_initialized: bool
    begun: Held
    members: list[ShareMemberRow]


class StreamsMemberRow(msgspec.Struct):
    """A member of a streams group."""

    member_id: str
    instance_id: str | None
    rebalance_timeout_ms: int
    rack_id: str | None
    client_id: str
    client_host: str
    process_id: str
    endpoint: Endpoint | None
    client_tags: dict[str, str]
    topology_epoch: int
    step: StepRow


class StreamsRow(msgspec.Struct, tag="streams"):
    """A streams group and its topology."""

    target: TargetRow
    topology: StreamsTopology | None
    members: list[StreamsMemberRow]
    described_epoch: int = -1


_CONSUMER_FIELDS = (
    *("rebalance_timeout_ms", "rack_id", "client_id", "client_host", "topic_names"),
    *("topic_regex", "server_assignor", "classic_join"),
)
_SHARE_FIELDS = ("rack_id", "client_id", "client_host", "topic_names", "epoch", "previous_epoch")
_STREAMS_FIELDS = (
    *("instance_id", "rebalance_timeout_ms", "rack_id", "client_id", "client_host"),
    *("process_id", "endpoint", "client_tags", "topology_epoch"),
)


def consumer_row(group: ConsumerGroup) -> ConsumerRow:
    """Return the row of a consumer group."""
    members = [
        ConsumerMemberRow(
            member_id=member.member_id,
            instance_id=member.instance_id,
            step=_step(member),
            **_fields(member, _CONSUMER_FIELDS),
        )
        for member in group.members.values()
    ]
    return ConsumerRow(
        _target(group.target), dict(group.subscriptions.topics_by_expression), members
    )


def put_consumer(group: ConsumerGroup, row: ConsumerRow) -> None:
    """Restore a consumer group into a new one."""
    for kept in row.members:
        member = ConsumerMember(kept.member_id, kept.instance_id)
        _set(member, kept, _CONSUMER_FIELDS)
        _put_step(member, kept.step)
        group.members[member.member_id] = member
        if member.instance_id is not None:
            group.instances[member.instance_id] = member.member_id
        group.restart_member_timers(member)
    group.subscriptions.restore_resolved_expressions(row.matching)
    _put_target(group.target, row.target)
    group.target.record_assignable_partitions(group.subscriptions, group.members.values())


def share_row(group: ShareGroup) -> ShareRow:
    """Return the row of a share group."""
    members = [
        ShareMemberRow(
            member_id=member.member_id,
            assigned=_held(member.assigned),
            **_fields(member, _SHARE_FIELDS),
        )
        for member in group.members.values()
    ]
    begun = [
        (topic_id, sorted(partitions))
        for topic_id, partitions in group.initialized_partitions.items()
    ]
    return ShareRow(_target(group.target), group.has_ever_initialized, begun, members)


def put_share(group: ShareGroup, row: ShareRow) -> None:
    """Restore a share group into a new one."""
    group.has_ever_initialized = row.has_ever_initialized
    group.note_initialized_partitions(
        {topic_id: set(partitions) for topic_id, partitions in row.begun}
    )
    for kept in row.members:
        member = ShareMember(kept.member_id)
        _set(member, kept, _SHARE_FIELDS)
        member.assigned = _assignment(kept.assigned)
        group.restore_member(member)
    _put_target(group.target, row.target)
    group.target.record_assignable_partitions(group.subscriptions, group.members.values())


def streams_row(group: StreamsGroup) -> StreamsRow:
    """Return the row of a streams group."""
    members = [
        StreamsMemberRow(
            member_id=member.member_id, step=_step(member), **_fields(member, _STREAMS_FIELDS)
        )
        for member in group.members.values()
    ]
    described = -1 if group.description is None else group.description[0]
    return StreamsRow(_target(group.target), group.topology, members, described)


def put_streams(group: StreamsGroup, row: StreamsRow) -> None:
    """Restore a streams group into a new one."""
    for kept in row.members:
        member = group.create_member(kept.member_id)
        _set(member, kept, _STREAMS_FIELDS)
        _put_step(member, kept.step)
        group.members[member.member_id] = member
        if member.instance_id is not None:
            group.instances[member.instance_id] = member.member_id
        group.restart_member_timers(member)
    _put_target(group.target, row.target)
    group.restore_topology(row.topology)
    if row.described_epoch >= 0:
        group.description = row.described_epoch, None


def _fields(member: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(member, name) for name in names}


def _set(member: object, kept: object, names: tuple[str, ...]) -> None:
    for name in names:
        setattr(member, name, getattr(kept, name))


def _held(assignment: Assignment) -> Held:
    return [(topic_id, sorted(partitions)) for topic_id, partitions in assignment.items()]


def _assignment(held: Held) -> Assignment:
    return {topic_id: frozenset(partitions) for topic_id, partitions in held}


def _since(epochs: Mapping[tuple[bytes, int], int]) -> Since:
    return [(topic_id, at, epoch) for (topic_id, at), epoch in epochs.items()]


def _step(member: ReconcilingMember) -> StepRow:
    return StepRow(
        member.epoch,
        member.previous_epoch,
        member.state.value,
        _held(member.assigned),
        _since(member.assigned_since_epoch),
        _held(member.revoking),
        _since(member.revoking_since_epoch),
    )


def _put_step(member: ReconcilingMember, step: StepRow) -> None:
    member.epoch, member.previous_epoch = step.epoch, step.previous_epoch
    member.state = ReconciliationState(step.state)
    member.assigned, member.revoking = _assignment(step.assigned), _assignment(step.revoking)
    member.assigned_since_epoch = {
        (topic_id, at): epoch for topic_id, at, epoch in step.assigned_in
    }
    member.revoking_since_epoch = {
        (topic_id, at): epoch for topic_id, at, epoch in step.revoking_in
    }


def _target(target: GroupTarget) -> TargetRow:
    by_member = [(member_id, _held(held)) for member_id, held in target.by_member.items()]
    return TargetRow(target.epoch, target.target_epoch, by_member)


def _put_target(target: GroupTarget, row: TargetRow) -> None:
    by_member = {member_id: _assignment(held) for member_id, held in row.by_member}
    target.restore_epochs_and_targets((row.epoch, row.target_epoch), by_member)
