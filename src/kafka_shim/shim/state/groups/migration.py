"""Conversion of groups between the classic and the consumer protocol (KIP-848).

A classic group of consumers is upgraded when a member of the consumer protocol joins it. A consumer
group is downgraded when its last member of that protocol leaves and only classic ones remain.
`group.consumer.migration.policy` says which of the two are allowed.
"""

from collections.abc import Collection

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.classic import subscription
from kafka_shim.shim.state.groups.classic.classic_group import CONSUMER_PROTOCOL_TYPE, ClassicGroup
from kafka_shim.shim.state.groups.classic.classic_member import ClassicMember, Joining
from kafka_shim.shim.state.groups.classic.classic_rebalance import ClassicState
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ClassicTerms, ConsumerMember
from kafka_shim.shim.state.groups.topic_subscriptions import names_of
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topics


def check_upgrade(group: ClassicGroup, settings: GroupSettings) -> None:
    """Raise RequestRejected unless the group may become a consumer group."""
    if not settings.upgrades:
        why = "group.consumer.migration.policy does not allow it"
    elif group.protocol_type != CONSUMER_PROTOCOL_TYPE:
        why = f"its protocol type is `{group.protocol_type}`"
    elif len(group.roster) > settings.consumer_size_max:
        why = "it has more members than group.consumer.max.size"
    else:
        return
    raise _not_upgraded(group, why)


def upgrade(old: ClassicGroup, new: ConsumerGroup, topics: Topics) -> None:
    """Move the members of a classic group to a new consumer group.

    Each keeps the assignment of the last generation, whose id becomes its epoch, and must rejoin
    after its next heartbeat. Raise RequestRejected if a member's metadata is not a consumer's.
    """
    members = [_upgraded(member, old, topics) for member in old.roster.members.values()]
    new.take_over(members, old.cycle.generation_id)


def _upgraded(old: ClassicMember, group: ClassicGroup, topics: Topics) -> ConsumerMember:
    if group.cycle.protocol_name is None:  # a real broker fails with the same error
        text = f"the members of group `{group.group_id}` have not yet agreed on a protocol"
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR, text)
    metadata = subscription.read(old.metadata(group.cycle.protocol_name))
    assigned = subscription.read_assignment(old.assignment, topics)
    if metadata is None or assigned is None:
        raise _not_upgraded(group, f"the metadata of `{old.member_id}` is not that of a consumer")
    member = ConsumerMember(old.member_id, old.instance_id)
    member.rack_id = metadata.rack_id
    member.client_id = old.client_id
    member.client_host = old.client_host
    member.rebalance_timeout_ms = old.rebalance_timeout_ms
    member.topic_names = names_of(metadata.topics)
    member.classic = ClassicTerms(old.session_timeout_ms, old.protocols)
    member.start_in_epoch(group.cycle.generation_id, assigned)
    return member


def _not_upgraded(group: ClassicGroup, why: str) -> RequestRejected:
    text = f"classic group `{group.group_id}` cannot become a consumer group: {why}"
    return RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, text)


def may_downgrade(
    group: ConsumerGroup, leaving: Collection[ConsumerMember], settings: GroupSettings
) -> bool:
    """Return whether a group becomes classic once these members leave: only classic ones remain."""
    gone = {member.member_id for member in leaving}
    return (
        settings.downgrades
        and 0 < len(group.members) - len(gone & group.members.keys()) <= settings.size_max
        and all(
            member.classic is not None or member_id in gone
            for member_id, member in group.members.items()
        )
    )


def downgrade(old: ConsumerGroup, new: ClassicGroup, topics: Topics) -> None:
    """Move the members of a consumer group to a new classic group, in state STABLE.

    Each gets its target assignment; the group epoch becomes the generation id.
    """
    cycle = new.cycle
    cycle.generation_id = old.target.epoch
    cycle.state = ClassicState.STABLE
    members = [
        _downgraded(member, member.classic) for member in old.members.values() if member.classic
    ]
    for member in members:
        new.roster.add(member, CONSUMER_PROTOCOL_TYPE)
    cycle.protocol_name = new.roster.selected_protocol()
    for member in members:
        target: Assignment = old.target.of(member.member_id)
        metadata = member.metadata(cycle.protocol_name)
        member.assignment = subscription.write_assignment(target, metadata, topics)
        cycle.watch(member)


def _downgraded(old: ConsumerMember, terms: ClassicTerms) -> ClassicMember:
    joining = Joining(
        member_id=old.member_id,
        instance_id=old.instance_id,
        client_id=old.client_id,
        client_host=old.client_host,
        session_timeout_ms=terms.session_timeout_ms,
        rebalance_timeout_ms=old.rebalance_timeout_ms,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocols=terms.protocols,
    )
    member = ClassicMember(old.member_id, joining)
    member.is_new = False
    return member
