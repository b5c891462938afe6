"""Members of the classic protocol in a consumer group (KIP-848).

The broker assigns partitions to them as to all other members. The response to JoinGroup is sent
immediately, with the member epoch as generation id, and that to SyncGroup with the member's current
assignment. Heartbeat returns REBALANCE_IN_PROGRESS when the next step needs another JoinGroup.
There is no leader.
"""

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.classic import consumer_protocol
from kafka_shim.shim.state.groups.classic.classic_members import (
    JoinRequest,
    JoinResponse,
    OnJoined,
    OnSynced,
    Protocols,
    SyncRequest,
    SyncResponse,
)
from kafka_shim.shim.state.groups.consumer.consumer_group import (
    CONSUMER_PROTOCOL_TYPE,
    ConsumerGroup,
)
from kafka_shim.shim.state.groups.consumer.consumer_member import ClassicJoinFields, ConsumerMember
from kafka_shim.shim.state.groups.reconciliation import ReconciliationState
from kafka_shim.shim.state.groups.topic_subscriptions import interned_name_set
from kafka_shim.shim.state.topics import Topics


class JoinResult(NamedTuple):
    """The result of a JoinGroup; `target_is_stale`: the target is older than the group epoch."""

    response: JoinResponse
    replaced_member: ConsumerMember | None
    target_is_stale: bool


class ClassicProtocolRequests:
    """The handling of classic requests (JoinGroup, SyncGroup and others) by one consumer group.

    It has no state of its own; all state is in the group.
    """

    def __init__(self, group: ConsumerGroup, facts: GroupFacts, topics: Topics) -> None:
        self._group = group
        self._facts = facts
        self._topics = topics

    # JoinGroup

    def join(
        self,
        joining: JoinRequest,
        new_id: str,
        response: OnJoined,
    ) -> None:
        """Handle a JoinGroup and pass its result to `response`; `new_id` is for a new member."""
        try:
            joined = self._execute_join(joining, new_id)
        except RequestRejected as refused:
            joined = JoinResponse(error=refused.error, member_id="")
        response(joined)

    def _execute_join(self, joining: JoinRequest, new_id: str) -> JoinResponse:
        group = self._group
        joined, replaced, target_is_stale = self._update_joining_member(joining, new_id)
        if joined.error is not NO_ERROR:
            return joined
        member = group.members[joined.member_id]
        group.timers.stop_timers(member.member_id)
        group.restart_session_timeout(member)
        group.start_rebalance_timeout(member)
        if replaced is not None and replaced.classic_join is None:
            group.try_downgrade(rebalances=target_is_stale)
        return joined

    def _update_joining_member(self, joining: JoinRequest, new_id: str) -> JoinResult:
        """Add or update a member from its JoinGroup, without starting its timers."""
        group = self._group
        member_id = joining.member_id or new_id
        group.require_group_below_size_max(member_id)
        if not self._all_classic_members_support(joining.protocol_type, joining.protocols):
            text = "the member does not support a protocol that all classic members support"
            raise RequestRejected(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, text)
        if (
            not joining.member_id
            and joining.requires_known_member_id
            and joining.instance_id is None
        ):
            return JoinResult(
                JoinResponse(error=ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id),
                replaced_member=None,
                target_is_stale=False,
            )
        metadata = consumer_protocol.decode_subscription(joining.protocols[0][1])
        if metadata is None:
            error = ErrorCode(self._facts.classic_unreadable_subscription_error)
            raise RequestRejected(error, "the member's metadata is not a subscription")
        member, replaced = self._resolve_joining_member(member_id, joining)
        before = member.subscription
        group.subscriptions.update_change_number(group.members.values())
        member.classic_join = ClassicJoinFields(joining.session_timeout_ms, joining.protocols)
        member.client_id, member.client_host = joining.client_id, joining.client_host
        member.rebalance_timeout_ms = joining.rebalance_timeout_ms
        member.rack_id = metadata.rack_id or member.rack_id
        member.topic_names = interned_name_set(metadata.topics)
        is_last = (
            replaced is not None and replaced.classic_join is None and group.can_become_classic()
        )
        keeps = is_last and self._facts.downgraded_group_with_stale_target_rebalances
        epoch = group.target.epoch
        owned = consumer_protocol.owned_partitions(metadata, self._topics)
        group.advance_member(member, owned, before, keeps_target=keeps)
        target_is_stale = keeps and group.target.awaits_computation
        if target_is_stale:
            group.target.epoch = epoch
        joined = JoinResponse(
            member_id=member.member_id,
            generation_id=member.epoch,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol_name=joining.protocols[0][0],
        )
        return JoinResult(joined, replaced, target_is_stale)

    def _all_classic_members_support(self, protocol_type: str, protocols: Protocols) -> bool:
        """Return whether all classic members support one of these protocols."""
        spoken = [
            {name for name, _ in member.classic_join.protocols}
            for member in self._group.members.values()
            if member.classic_join is not None
        ]
        return protocol_type == CONSUMER_PROTOCOL_TYPE and any(
            all(name in names for names in spoken) for name, _ in protocols
        )

    def _resolve_joining_member(
        self, member_id: str, joining: JoinRequest
    ) -> tuple[ConsumerMember, ConsumerMember | None]:
        """Return the joining member, possibly new, and the static member that it replaces."""
        group = self._group
        instance_id = joining.instance_id
        if instance_id is None:
            known = group.members.get(member_id)
            return ConsumerMember(member_id) if known is None else copy(known), None
        if joining.member_id:
            return copy(group.require_member_of_instance(instance_id, member_id)), None
        return group.create_replacing_static_member(member_id, instance_id)

    # SyncGroup, Heartbeat, LeaveGroup

    def sync(self, syncing: SyncRequest, response: OnSynced) -> None:
        """Answer a SyncGroup immediately with the member's assignment in its epoch."""
        try:
            response(self._execute_sync(syncing))
        except RequestRejected as refused:
            response(SyncResponse(error=refused.error))

    def _execute_sync(self, syncing: SyncRequest) -> SyncResponse:
        group = self._group
        member, terms = self._require_classic_member(
            syncing.member_id, syncing.instance_id, syncing.generation_id
        )
        wanted_type, wanted_name = syncing.protocol_type, syncing.protocol_name
        name, metadata = terms.protocols[0]
        if wanted_type not in (None, CONSUMER_PROTOCOL_TYPE) or wanted_name not in (None, name):
            raise RequestRejected(
                ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "the group uses another protocol"
            )
        if (
            self._must_rejoin_for_epoch(member)
            and member.state is not ReconciliationState.UNREVOKED
        ):
            group.start_rebalance_timeout(member)
            raise RequestRejected(ErrorCode.REBALANCE_IN_PROGRESS, "the group has a newer epoch")
        group.timers.stop_timers(member.member_id)
        group.restart_session_timeout(member)
        assignment = consumer_protocol.encode_assignment(member.assigned, metadata, self._topics)
        return SyncResponse(
            protocol_type=wanted_type, protocol_name=wanted_name, assignment=assignment
        )

    def heartbeat(self, member_id: str, instance_id: str | None, generation_id: int) -> ErrorCode:
        """Extend a member's session; return REBALANCE_IN_PROGRESS if it must rejoin for its next
        step: to get a newer epoch, to revoke partitions or to take partitions that have become
        free.
        """
        try:
            member, _ = self._require_classic_member(member_id, instance_id, generation_id)
        except RequestRejected as refused:
            return refused.error
        group = self._group
        group.restart_session_timeout(member)
        takes = (
            member.state is ReconciliationState.UNRELEASED
            and not group.awaits_revocation_by_others(member)
        )
        if not (
            takes
            or self._must_rejoin_for_epoch(member)
            or member.state is ReconciliationState.UNREVOKED
        ):
            return NO_ERROR
        group.start_rebalance_timeout(member)
        return ErrorCode.REBALANCE_IN_PROGRESS

    def remove_leaving_members(
        self, identities: Sequence[tuple[str, str | None]]
    ) -> list[ErrorCode]:
        """Remove members in one step, also those of the consumer protocol unless that is a preview;
        return one error for each.
        """
        leaving: dict[str, ConsumerMember] = {}
        errors = []
        for member_id, instance_id in identities:
            try:
                member = self._require_leaving_member(member_id, instance_id)
            except RequestRejected as refused:
                errors.append(refused.error)
            else:
                leaving[member.member_id] = member
                errors.append(NO_ERROR)
        if leaving:
            self._group.remove_members(*leaving.values())
        return errors

    def _require_leaving_member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Return a leaving member by member id, or by instance id alone, as admins send it
        (KIP-345).
        """
        if instance_id is None:
            member = self._group.require_member(member_id)
        else:
            named = member_id or self._group.instances.get(instance_id, "")
            member = self._group.require_member_of_instance(instance_id, named)
        if self._facts.consumer_groups_are_preview and not member.uses_classic_protocol:
            raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID)
        return member

    def _require_classic_member(
        self, member_id: str, instance_id: str | None, generation_id: int
    ) -> tuple[ConsumerMember, ClassicJoinFields]:
        group = self._group
        if instance_id is None:
            member = group.require_member(member_id)
        else:
            member = group.require_member_of_instance(instance_id, member_id)
        if member.classic_join is None:
            raise group.unknown_member_error(member_id)
        if generation_id != member.epoch:
            text = f"generation {generation_id} of `{member_id}` is not the current {member.epoch}"
            raise RequestRejected(ErrorCode.ILLEGAL_GENERATION, text)
        return member, member.classic_join

    def _must_rejoin_for_epoch(self, member: ConsumerMember) -> bool:
        """Return whether the member must rejoin to get a newer epoch."""
        target = self._group.target
        waits = self._facts.classic_members_rejoin_after_target_exists
        return member.epoch < (target.target_epoch if waits else target.epoch)
