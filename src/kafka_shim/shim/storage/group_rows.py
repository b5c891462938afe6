"""Groups, their offsets, and the states of share partitions."""

from base64 import b64decode
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import msgspec

from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
from kafka_shim.shim.state.groups.classic.classic_members import ClassicMember, JoinRequest
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

GROUP, MEMBER, INITIALIZED = "group", "group-member", "group-topic"
"""A group, a member of a group with epochs, and initialised partitions of a share group."""
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


class InitializedRow(msgspec.Struct):
    """The initialised partitions of a topic; `order` is its place among the topics."""

    order: int
    partitions: list[int]


class RestoredOrders(NamedTuple):
    """The orders of a group's members and initialised topics in their rows."""

    members: list[int]
    topics: list[int]


_TYPES: Mapping[type, GroupType] = {
    ClassicRow: GroupType.CLASSIC,
    member_rows.ConsumerGroupRow: GroupType.CONSUMER,
    member_rows.ShareGroupRow: GroupType.SHARE,
    member_rows.StreamsGroupRow: GroupType.STREAMS,
}


def is_settled(classic_group: ClassicGroup) -> bool:
    """Return whether a group is not rebalancing. Until then its last generation stays written, as
    on a real broker.
    """
    return classic_group.state in (ClassicState.STABLE, ClassicState.EMPTY)


def classic_group_row(classic_group: ClassicGroup) -> ClassicRow:
    """Return the row of a settled group with its members."""
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
    return ClassicRow(
        roster.protocol_type,
        cycle.generation_id,
        cycle.protocol_name,
        roster.leader_id,
        cycle.empty_since_ms,
        members,
    )


def restore_groups(cluster: Cluster, rows: Mapping[str, Kept]) -> dict[str, RestoredOrders]:
    """Restore groups; each member gets a full session timeout.

    Return the orders in the rows of each group.
    """
    members_of = _values_by_group(rows.get(MEMBER, {}))
    topics_of = _values_by_group(rows.get(INITIALIZED, {}))
    orders: dict[str, RestoredOrders] = {}
    for group_id, value in rows.get(GROUP, {}).items():
        row = msgspec.json.decode(value, type=ClassicRow | member_rows.GroupRow)
        made = cluster.member_requests.restore_empty_group(group_id, _TYPES[type(row)])
        if isinstance(row, ClassicRow):
            _restore_classic_group(cast("ClassicGroup", made), row)
            orders[group_id] = RestoredOrders([], [])
        else:
            kind = member_rows.MEMBER_ROW_TYPES[type(row)]
            members = _sorted_rows(kind, members_of.get(group_id, ()))
            topics = _sorted_rows(InitializedRow, topics_of.get(group_id, ()))
            _restore_epoch_group(made, row, [member for _, member in members], topics)
            orders[group_id] = RestoredOrders(
                [member.order for _, member in members], [topic.order for _, topic in topics]
            )
        cluster.groups.mark_as_logged(made)
    return orders


def _values_by_group(rows: Kept) -> dict[str, list[tuple[str, str]]]:
    """Return the second part of each key, with its value, by group id."""
    values: dict[str, list[tuple[str, str]]] = {}
    for key, value in rows.items():
        group_id, second = msgspec.json.decode(key, type=tuple[str, str])
        values.setdefault(group_id, []).append((second, value))
    return values


def _sorted_rows(kind: type, values: Iterable[tuple[str, str]]) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = [
        (key, msgspec.json.decode(value, type=kind)) for key, value in values
    ]
    return sorted(rows, key=lambda row: row[1].order)


def _restore_epoch_group(
    group: Group, row: member_rows.GroupRow, members: Any, topics: list[tuple[str, Any]]
) -> None:
    if isinstance(row, member_rows.ConsumerGroupRow):
        member_rows.restore_consumer_group(cast("ConsumerGroup", group), row, members)
    elif isinstance(row, member_rows.ShareGroupRow):
        partitions = {b64decode(key): set(topic.partitions) for key, topic in topics}
        member_rows.restore_share_group(cast("ShareGroup", group), row, members, partitions)
    else:
        member_rows.restore_streams_group(cast("StreamsGroup", group), row, members)


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


def restore_offset_rows(offsets: Offsets, rows: Mapping[str, Kept], part: str) -> None:
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
