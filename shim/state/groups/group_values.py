"""What `__consumer_offsets` has about a classic group."""

from kafka_shim.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafka_shim.shim.state.groups.classic_group import ClassicGroup

MEMBER_BYTES = 100
"""About the size of a member without its metadata and its assignment."""


def group_value(
    group: ClassicGroup, now_ms: int, *, is_new: bool
) -> tuple[GroupMetadataValue, int]:
    """Return the value of a group's record, and about its size in bytes. `is_new`: the group is
    written before it has a generation.
    """
    if is_new:
        value = GroupMetadataValue(protocol=None, leader=None, current_state_timestamp=now_ms)
        return value, 0
    cycle, roster = group.cycle, group.roster
    members = [
        MemberMetadata(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            client_id=member.client_id,
            client_host=member.client_host,
            rebalance_timeout=member.rebalance_timeout_ms,
            session_timeout=member.session_timeout_ms,
            subscription=member.metadata(cycle.protocol_name),
            assignment=member.assignment,
        )
        for member in roster.members.values()
    ]
    value = GroupMetadataValue(
        protocol_type=roster.protocol_type,
        generation=cycle.generation_id,
        protocol=cycle.protocol_name if members else None,
        leader=roster.leader_id if members else None,
        current_state_timestamp=now_ms,
        members=members,
    )
    size = sum(len(row.subscription) + len(row.assignment) for row in members)
    return value, size + MEMBER_BYTES * len(members)
