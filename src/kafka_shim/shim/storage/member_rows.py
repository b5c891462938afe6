"""Groups whose members have epochs: consumer, share and streams groups (KIP-848, 932, 1071).

As on a real broker, members notice no difference after a restart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ClassicJoinFields, ConsumerMember
from kafka_shim.shim.state.groups.group_target import GroupTarget
from kafka_shim.shim.state.groups.reconciliation import ReconciliationState, ReconcilingMember
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareMember
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.groups.streams.streams_member import Endpoint, StreamsMember
from kafka_shim.shim.state.groups.streams.streams_topology import StreamsTopology

Held = list[tuple[bytes, list[int]]]
"""An assignment: topic ids, or ids of subtopologies, with partitions."""
Since = list[tuple[bytes, int, int]]
"""Partitions, and the epochs since which a member has them."""


class ReconciliationRow(msgspec.Struct):
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
    step: ReconciliationRow
    target: Held | None
    order: int


class ConsumerGroupRow(msgspec.Struct, tag="consumer"):
    """A consumer group; `matching` are the topics that its regular expressions match."""

    epoch: int
    target_epoch: int
    matching: dict[str, frozenset[str]]


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
    target: Held | None
    order: int


class ShareGroupRow(msgspec.Struct, tag="share"):
    """A share group; rows of their own have its initialised partitions."""

    epoch: int
    target_epoch: int
    has_ever_initialized: bool


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
    step: ReconciliationRow
    target: Held | None
    order: int


class StreamsGroupRow(msgspec.Struct, tag="streams"):
    """A streams group and its topology."""

    epoch: int
    target_epoch: int
    topology: StreamsTopology | None
    described_epoch: int = -1


EpochGroup = ConsumerGroup | ShareGroup | StreamsGroup
Member = ConsumerMember | ShareMember | StreamsMember
GroupRow = ConsumerGroupRow | ShareGroupRow | StreamsGroupRow
MemberRow = ConsumerMemberRow | ShareMemberRow | StreamsMemberRow
MEMBER_ROW_TYPES: Mapping[type, type] = {
    ConsumerGroupRow: ConsumerMemberRow,
    ShareGroupRow: ShareMemberRow,
    StreamsGroupRow: StreamsMemberRow,
}


_CONSUMER_FIELDS = (
    *("rebalance_timeout_ms", "rack_id", "client_id", "client_host", "topic_names"),
    *("topic_regex", "server_assignor", "classic_join"),
)
_SHARE_FIELDS = ("rack_id", "client_id", "client_host", "topic_names", "epoch", "previous_epoch")
_STREAMS_FIELDS = (
    *("instance_id", "rebalance_timeout_ms", "rack_id", "client_id", "client_host"),
    *("process_id", "endpoint", "client_tags", "topology_epoch"),
)


def group_row(group: EpochGroup) -> GroupRow:
    """Return the row of a group, without its members."""
    epochs = group.target.epoch, group.target.target_epoch
    if isinstance(group, ConsumerGroup):
        return ConsumerGroupRow(*epochs, dict(group.subscriptions.topics_by_expression))
    if isinstance(group, ShareGroup):
        return ShareGroupRow(*epochs, group.has_ever_initialized)
    described = -1 if group.description is None else group.description[0]
    return StreamsGroupRow(*epochs, group.topology, described)


def member_row(member: Member, target: Assignment | None, order: int) -> MemberRow:
    """Return the row of a member with its target; `order` is its place among the members."""
    target_row = None if target is None else _as_ordered_assignment(target)
    if isinstance(member, ConsumerMember):
        return ConsumerMemberRow(
            member_id=member.member_id,
            instance_id=member.instance_id,
            step=_reconciliation_row(member),
            target=target_row,
            order=order,
            **_copied_attributes(member, _CONSUMER_FIELDS),
        )
    if isinstance(member, ShareMember):
        return ShareMemberRow(
            member_id=member.member_id,
            assigned=_as_ordered_assignment(member.assigned),
            target=target_row,
            order=order,
            **_copied_attributes(member, _SHARE_FIELDS),
        )
    return StreamsMemberRow(
        member_id=member.member_id,
        step=_reconciliation_row(member),
        target=target_row,
        order=order,
        **_copied_attributes(member, _STREAMS_FIELDS),
    )


def restore_consumer_group(
    group: ConsumerGroup, row: ConsumerGroupRow, members: Sequence[ConsumerMemberRow]
) -> None:
    """Restore a consumer group into a new one."""
    for kept in members:
        member = ConsumerMember(kept.member_id, kept.instance_id)
        _restore_attributes(member, kept, _CONSUMER_FIELDS)
        _restore_reconciliation(member, kept.step)
        group.members[member.member_id] = member
        if member.instance_id is not None:
            group.instances[member.instance_id] = member.member_id
        group.restart_timeouts(member)
    group.subscriptions.restore_resolved_expressions(row.matching)
    _restore_group_target(group.target, row, members)
    group.target.record_assignable_partitions(group.subscriptions, group.members.values())


def restore_share_group(
    group: ShareGroup,
    row: ShareGroupRow,
    members: Sequence[ShareMemberRow],
    initialized_partitions: dict[bytes, set[int]],
) -> None:
    """Restore a share group into a new one."""
    group.has_ever_initialized = row.has_ever_initialized
    group.add_initialized_partitions(initialized_partitions)
    for kept in members:
        member = ShareMember(kept.member_id)
        _restore_attributes(member, kept, _SHARE_FIELDS)
        member.assigned = _as_assignment(kept.assigned)
        group.restore_member(member)
    _restore_group_target(group.target, row, members)
    group.target.record_assignable_partitions(group.subscriptions, group.members.values())


def restore_streams_group(
    group: StreamsGroup, row: StreamsGroupRow, members: Sequence[StreamsMemberRow]
) -> None:
    """Restore a streams group into a new one."""
    for kept in members:
        member = group.create_detached_member(kept.member_id)
        _restore_attributes(member, kept, _STREAMS_FIELDS)
        _restore_reconciliation(member, kept.step)
        group.members[member.member_id] = member
        if member.instance_id is not None:
            group.instances[member.instance_id] = member.member_id
        group.restart_timeouts(member)
    _restore_group_target(group.target, row, members)
    group.restore_topology(row.topology)
    if row.described_epoch >= 0:
        group.description = row.described_epoch, None


def _copied_attributes(member: object, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(member, name) for name in names}


def _restore_attributes(member: object, row: object, names: tuple[str, ...]) -> None:
    for name in names:
        setattr(member, name, getattr(row, name))


def _as_ordered_assignment(assignment: Assignment) -> Held:
    return [(topic_id, sorted(partitions)) for topic_id, partitions in assignment.items()]


def _as_assignment(held: Held) -> Assignment:
    return {topic_id: frozenset(partitions) for topic_id, partitions in held}


def _epochs_as_rows(epochs: Mapping[tuple[bytes, int], int]) -> Since:
    return [(topic_id, at, epoch) for (topic_id, at), epoch in epochs.items()]


def _reconciliation_row(member: ReconcilingMember) -> ReconciliationRow:
    return ReconciliationRow(
        member.epoch,
        member.previous_epoch,
        member.state.value,
        _as_ordered_assignment(member.assigned),
        _epochs_as_rows(member.assigned_since_epoch),
        _as_ordered_assignment(member.revoking),
        _epochs_as_rows(member.revoking_since_epoch),
    )


def _restore_reconciliation(member: ReconcilingMember, step: ReconciliationRow) -> None:
    member.epoch, member.previous_epoch = step.epoch, step.previous_epoch
    member.state = ReconciliationState(step.state)
    member.assigned, member.revoking = _as_assignment(step.assigned), _as_assignment(step.revoking)
    member.assigned_since_epoch = {
        (topic_id, at): epoch for topic_id, at, epoch in step.assigned_in
    }
    member.revoking_since_epoch = {
        (topic_id, at): epoch for topic_id, at, epoch in step.revoking_in
    }


def _restore_group_target(target: GroupTarget, row: GroupRow, members: Sequence[MemberRow]) -> None:
    by_member = {
        member.member_id: _as_assignment(member.target)
        for member in members
        if member.target is not None
    }
    target.restore((row.epoch, row.target_epoch), by_member)
