"""Conversion of groups between the classic and the consumer protocol (KIP-848).

A classic group of consumers is upgraded when a member of the consumer protocol joins it. A consumer
group is downgraded when its last member of that protocol leaves and only classic ones remain.
`group.consumer.migration.policy` says which of the two are allowed.
"""

from collections.abc import Collection

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.classic import consumer_protocol
from kafka_shim.shim.state.groups.classic.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from kafka_shim.shim.state.groups.classic.classic_members import ClassicMember, JoinRequest
from kafka_shim.shim.state.groups.classic.classic_rebalance import ClassicState
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ClassicJoinFields, ConsumerMember
from kafka_shim.shim.state.groups.topic_subscriptions import interned_name_set
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topics


def require_upgradable_group(group: ClassicGroup, settings: GroupSettings) -> None:
    """Raise RequestRejected unless the group may become a consumer group."""
    if not settings.upgrades_classic_groups:
        why = "group.consumer.migration.policy does not allow it"
    elif group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        why = f"its protocol type is `{group.protocol_type}`"
    elif len(group.roster) > settings.consumer_size_max:
        why = "it has more members than group.consumer.max.size"
    else:
        return
    raise _upgrade_rejected(group, why)


def move_members_to_consumer_group(
    classic_group: ClassicGroup, consumer_group: ConsumerGroup, topics: Topics
) -> None:
    """Move the members of a classic group to a new consumer group.

    Each keeps the assignment of the last generation, whose id becomes its epoch, and must rejoin
    after its next heartbeat. Raise RequestRejected if a member's metadata is not a consumer's.
    """
    members = [
        _as_consumer_member(member, classic_group, topics)
        for member in classic_group.roster.members.values()
    ]
    consumer_group.adopt_classic_members(members, classic_group.rebalance.generation_id)


def _as_consumer_member(
    classic_member: ClassicMember, group: ClassicGroup, topics: Topics
) -> ConsumerMember:
    if group.rebalance.protocol_name is None:  # a real broker fails with the same error
        text = f"the members of group `{group.group_id}` have not yet agreed on a protocol"
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    metadata = consumer_protocol.decode_subscription(
        classic_member.metadata_of_protocol(group.rebalance.protocol_name)
    )
    assigned = consumer_protocol.decode_plain_assignment(classic_member.assignment, topics)
    if metadata is None or assigned is None:
        raise _upgrade_rejected(
            group, f"the metadata of `{classic_member.member_id}` is not that of a consumer"
        )
    member = ConsumerMember(classic_member.member_id, classic_member.instance_id)
    member.rack_id = metadata.rack_id
    member.client_id = classic_member.client_id
    member.client_host = classic_member.client_host
    member.rebalance_timeout_ms = classic_member.rebalance_timeout_ms
    member.topic_names = interned_name_set(metadata.topics)
    member.classic_join = ClassicJoinFields(
        classic_member.session_timeout_ms, classic_member.protocols
    )
    member.start_with_assignment(group.rebalance.generation_id, assigned)
    return member


def _upgrade_rejected(group: ClassicGroup, reason: str) -> RequestRejected:
    text = f"classic group `{group.group_id}` cannot become a consumer group: {reason}"
    return RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, text)


def becomes_classic_without_leaving_members(
    group: ConsumerGroup, leaving: Collection[ConsumerMember], settings: GroupSettings
) -> bool:
    """Return whether a group becomes classic once these members leave: only classic ones remain."""
    gone = {member.member_id for member in leaving}
    return (
        settings.downgrades_consumer_groups
        and 0 < len(group.members) - len(gone & group.members.keys()) <= settings.classic_size_max
        and all(
            member.classic_join is not None or member_id in gone
            for member_id, member in group.members.items()
        )
    )


def move_members_to_classic_group(
    consumer_group: ConsumerGroup, classic_group: ClassicGroup, topics: Topics
) -> None:
    """Move the members of a consumer group to a new classic group, in state STABLE.

    Each gets its target assignment; the group epoch becomes the generation id.
    """
    cycle = classic_group.rebalance
    cycle.generation_id = consumer_group.target.epoch
    cycle.state = ClassicState.STABLE
    members = [
        _as_classic_member(member, member.classic_join)
        for member in consumer_group.members.values()
        if member.classic_join
    ]
    for member in members:
        classic_group.roster.add_member(member, CONSUMER_PROTOCOL_TYPE)
    cycle.protocol_name = classic_group.roster.selected_protocol()
    for member in members:
        target: Assignment = consumer_group.target.target_of_member(member.member_id)
        metadata = member.metadata_of_protocol(cycle.protocol_name)
        member.assignment = consumer_protocol.encode_assignment(target, metadata, topics)
        cycle.restart_session_timeout(member)


def _as_classic_member(
    consumer_member: ConsumerMember, classic_join: ClassicJoinFields
) -> ClassicMember:
    joining = JoinRequest(
        member_id=consumer_member.member_id,
        instance_id=consumer_member.instance_id,
        client_id=consumer_member.client_id,
        client_host=consumer_member.client_host,
        session_timeout_ms=classic_join.session_timeout_ms,
        rebalance_timeout_ms=consumer_member.rebalance_timeout_ms,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=classic_join.protocols,
    )
    member = ClassicMember(consumer_member.member_id, joining)
    member.is_new = False
    return member
