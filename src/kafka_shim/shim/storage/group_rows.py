"""Groups, their offsets, and the states of share partitions."""

from collections.abc import Mapping
from typing import cast

import msgspec

from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
from kafka_shim.shim.state.groups.classic.classic_member import ClassicMember, JoinRequest
from kafka_shim.shim.state.groups.classic.classic_rebalance import ClassicState
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.group import Group, GroupType
from kafka_shim.shim.state.groups.offsets import CommittedOffset, Offsets
from kafka_shim.shim.state.groups.share.share_group import ShareGroup
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.share_partitions.share_state_values import (
    SharePartitionKey as ShareKey,
    ShareState,
)
from kafka_shim.shim.storage import member_rows
from kafka_shim.shim.storage.settings_rows import Kept, as_json_text

OFFSET, HELD, ZOOKEEPER = "offset", "held-offsets", "zookeeper-offset"


class ClassicMemberRow(msgspec.Struct):
    """A member of a classic group, with its metadata in the protocol that the group uses."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    metadata: bytes
    assignment: bytes


class ClassicRow(msgspec.Struct, tag="classic"):
    """A generation of a classic group."""

    protocol_type: str
    generation_id: int
    protocol_name: str | None
    leader_id: str
    empty_since_ms: int
    members: list[ClassicMemberRow]


_TYPES: Mapping[type, GroupType] = {
    ClassicRow: GroupType.CLASSIC,
    member_rows.ConsumerGroupRow: GroupType.CONSUMER,
    member_rows.ShareGroupRow: GroupType.SHARE,
    member_rows.StreamsGroupRow: GroupType.STREAMS,
}


class GroupRebalancingError(Exception):
    """The group is rebalancing; its last generation stays written, as on a real broker."""


def settled_group_row_json(group: Group | None) -> str | None:
    """Return the row of a group; None if it does not exist. Raise GroupRebalancingError if it
    is rebalancing.
    """
    if group is None:
        return None
    if group.type is GroupType.CONSUMER:
        return as_json_text(member_rows.consumer_group_row(cast("ConsumerGroup", group)))
    if group.type is GroupType.SHARE:
        return as_json_text(member_rows.share_group_row(cast("ShareGroup", group)))
    if group.type is GroupType.STREAMS:
        return as_json_text(member_rows.streams_group_row(cast("StreamsGroup", group)))
    return _settled_classic_group_json(cast("ClassicGroup", group))


def _settled_classic_group_json(classic_group: ClassicGroup) -> str:
    if classic_group.state not in (ClassicState.STABLE, ClassicState.EMPTY):
        raise GroupRebalancingError
    cycle, roster = classic_group.rebalance, classic_group.roster
    members = [
        ClassicMemberRow(
            member.member_id,
            member.instance_id,
            member.client_id,
            member.client_host,
            member.session_timeout_ms,
            member.rebalance_timeout_ms,
            member.metadata_of_protocol(cycle.protocol_name),
            member.assignment,
        )
        for member in roster.members.values()
    ]
    return as_json_text(
        ClassicRow(
            roster.protocol_type,
            cycle.generation_id,
            cycle.protocol_name,
            roster.leader_id,
            cycle.empty_since_ms,
            members,
        )
    )


def restore_groups(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    """Restore groups; each member gets a full session timeout."""
    for group_id, value in rows.get("group", {}).items():
        row = msgspec.json.decode(
            value,
            type=ClassicRow
            | member_rows.ConsumerGroupRow
            | member_rows.ShareGroupRow
            | member_rows.StreamsGroupRow,
        )
        made = cluster.member_requests.create_and_store_empty_group(group_id, _TYPES[type(row)])
        cluster.groups.joins += len(row.members)
        if isinstance(row, member_rows.ConsumerGroupRow):
            member_rows.restore_consumer_group(cast("ConsumerGroup", made), row)
        elif isinstance(row, member_rows.ShareGroupRow):
            member_rows.restore_share_group(cast("ShareGroup", made), row)
        elif isinstance(row, member_rows.StreamsGroupRow):
            member_rows.restore_streams_group(cast("StreamsGroup", made), row)
        else:
            _restore_classic_group(cast("ClassicGroup", made), row)
        cluster.groups.mark_as_logged(made)


def _restore_classic_group(group: ClassicGroup, row: ClassicRow) -> None:
    """Restore a classic group into a new one."""
    cycle = group.rebalance
    cycle.generation_id, cycle.protocol_name = row.generation_id, row.protocol_name
    cycle.empty_since_ms = row.empty_since_ms
    group.roster.protocol_type = row.protocol_type
    for kept in row.members:
        _restore_classic_member(group, kept)
    group.roster.leader_id = row.leader_id
    if row.members:
        cycle.state = ClassicState.STABLE


def _restore_classic_member(group: ClassicGroup, member_row: ClassicMemberRow) -> None:
    joining = JoinRequest(
        member_id=member_row.member_id,
        instance_id=member_row.instance_id,
        client_id=member_row.client_id,
        client_host=member_row.client_host,
        session_timeout_ms=member_row.session_timeout_ms,
        rebalance_timeout_ms=member_row.rebalance_timeout_ms,
        protocol_type=group.roster.protocol_type,
        protocols=((group.rebalance.protocol_name or "", member_row.metadata),),
    )
    member = ClassicMember(member_row.member_id, joining)
    member.assignment, member.is_new = member_row.assignment, False
    group.roster.add_member(member, joining.protocol_type)
    group.rebalance.restart_session_timeout(member)


def offset_row_key(group_id: str, topic_id: bytes, partition: int) -> str:
    return as_json_text([group_id, topic_id, partition])


def offset_row_json(offsets: Offsets, group_id: str, topic_id: bytes, partition: int) -> str | None:
    """Return the row of a committed offset; None if there is none."""
    found = offsets.committed_offset(group_id, topic_id, partition)
    return None if found is None else as_json_text(found)


def pending_offsets_json(offsets: Offsets, group_id: str, producer_id: int) -> str | None:
    """Return the row of a transaction's pending offsets; None if there are none."""
    held = offsets.pending_offsets_of_producer(group_id, producer_id)
    rows = [(topic_id, partition, offset) for (topic_id, partition), offset in held.items()]
    return as_json_text(rows) if rows else None


def restore_committed_and_pending_offsets(
    offsets: Offsets, rows: Mapping[str, Kept], part: str
) -> None:
    """Restore committed offsets, and pending ones of transactions."""
    found = list[tuple[str, bytes, int, CommittedOffset]]()
    for key, value in rows.get(part, {}).items():
        group_id, topic_id, partition = msgspec.json.decode(key, type=tuple[str, bytes, int])
        offset = msgspec.json.decode(value, type=CommittedOffset)
        found.append((group_id, topic_id, partition, offset))
    for group_id, topic_id, partition, offset in sorted(found, key=lambda row: row[3].order):
        offsets.restore_offsets(group_id, [(topic_id, partition, offset)])
    if part == ZOOKEEPER:
        return
    for key, value in rows.get(HELD, {}).items():
        group_id, producer_id = msgspec.json.decode(key, type=tuple[str, int])
        held = msgspec.json.decode(value, type=list[tuple[bytes, int, CommittedOffset]])
        offsets.restore_offsets(group_id, held, producer_id)


def share_state_json(cluster: Cluster, key: ShareKey) -> str | None:
    """Return the row of a share partition; None if it has no state."""
    found = cluster.share_states.get_state(key)
    return None if found is None else as_json_text(found)


def restore_share_states(cluster: Cluster, rows: Mapping[str, Kept]) -> None:
    """Restore the states of share partitions."""
    for key, value in rows.get("share-partition", {}).items():
        state = msgspec.json.decode(value, type=ShareState)
        cluster.share_states.restore_state(
            msgspec.json.decode(key, type=tuple[str, bytes, int]), state
        )
