"""What `__consumer_offsets` has about a classic group."""

from kafka_shim.protocol.messages.group_metadata_value import GroupMetadataValue, MemberMetadata
from kafka_shim.shim.state.groups.group_records import Generation


def group_value(generation: Generation) -> GroupMetadataValue:
    """Return the value of a group's record."""
    protocol_type, number, protocol, leader, time_ms, members = generation
    return GroupMetadataValue(
        protocol_type=protocol_type,
        generation=number,
        protocol=protocol,
        leader=leader,
        current_state_timestamp=time_ms,
        members=[MemberMetadata(*member) for member in members],
    )
