"""A consumer group (KIP-848): the broker assigns partitions, members reconcile in steps.

A change of members, subscriptions or topics begins a new group epoch, for which the assignor
computes a target assignment. Each member's heartbeats bring it to that target
(`consumer_member.py`).
"""

from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import partial

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.re2_patterns import InvalidPatternError, compile_client_pattern
from kafka_shim.shim.state.groups.assignors import (
    Assignment,
    OrderedAssignment,
    Subscriber,
    assign_range,
    members_in_java_map_order,
)
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict
from kafka_shim.shim.state.groups.consumer.consumer_member import (
    ConsumerHeartbeat,
    ConsumerMember,
    Subscription,
)
from kafka_shim.shim.state.groups.consumer.uniform_assignor import assign_uniform
from kafka_shim.shim.state.groups.epoch_group import EpochGroup, require_acceptable_epoch
from kafka_shim.shim.state.groups.group import GroupType
from kafka_shim.shim.state.groups.group_target import GroupTarget, HeartbeatResult
from kafka_shim.shim.state.groups.reconciliation import (
    LEAVING,
    LEAVING_FOR_A_WHILE,
    ReconciliationState,
    union_of_assignments,
)
from kafka_shim.shim.state.groups.topic_subscriptions import (
    ResolvedExpressions,
    TopicSubscriptions,
)
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.topics import Topics

CONSUMER_PROTOCOL_TYPE = "consumer"
RANGE = "range"


Downgrade = Callable[["ConsumerGroup", Collection[ConsumerMember], bool], bool]
"""Convert a group to a classic one without these members, if only classic members remain. The
flag says whether they rebalance; the result says whether the group was converted.
"""


class ConsumerGroup(EpochGroup[ConsumerMember]):
    """One group of the consumer protocol."""

    type = GroupType.CONSUMER

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        facts: GroupFacts,
        topics: Topics,
        clock: Clock,
        downgrade_to_classic: Downgrade,
    ) -> None:
        super().__init__(
            group_id, partial(settings.consumer_session_timeout_ms, group_id), facts, clock
        )
        self._settings = settings
        self._topics = topics
        self._downgrade = downgrade_to_classic
        self.subscriptions = TopicSubscriptions(topics)
        first = facts.empty_group_epoch
        self.target = GroupTarget(
            clock, partial(settings.consumer_assignment_interval_ms, group_id), (first, first)
        )

    @property
    def revoking_partitions_can_return(self) -> bool:
        return self._facts.revoking_partitions_can_return

    # descriptions

    @property
    def protocol_type(self) -> str:
        return CONSUMER_PROTOCOL_TYPE

    def described_assignment(self, member: ConsumerMember) -> Assignment:
        """Return the assignment that ConsumerGroupDescribe shows for a member."""
        if self._facts.describe_lists_partitions_to_revoke:
            return union_of_assignments(member.assigned, member.revoking)
        return member.assigned

    @property
    def assignor_name(self) -> str:
        """The assignor that most members request, else the first configured one.

        DEVIATION: of assignors with equally many votes, the first one wins; Kafka picks by hash
        order, differently in two places.
        """
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        if not votes:
            return self._settings.consumer_assignor_names[0]
        return max(votes, key=lambda name: votes[name])

    # heartbeats

    def handle_heartbeat(self, heartbeat: ConsumerHeartbeat) -> HeartbeatResult:
        """Handle a heartbeat that joins, stays or leaves. Raise RequestRejected if invalid."""
        if heartbeat.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
            return self._handle_leaving_heartbeat(heartbeat)
        response = self.handle_heartbeat_without_timers(heartbeat)
        member = self.members[heartbeat.member_id]
        self.restart_timeouts(member)
        self.on_changed(member.member_id)
        if member.topic_regex is not None:
            self._resolve_due_expressions(heartbeat)
            self.on_changed(member.member_id)
        self.subscriptions.drop_unused_expressions(self.members.values())
        return response

    def handle_heartbeat_without_timers(self, heartbeat: ConsumerHeartbeat) -> HeartbeatResult:
        """Handle a heartbeat that joins or stays, without starting timers or resolving the member's
        regular expression.
        """
        known = self.members.get(heartbeat.member_id)
        votes = known is None or heartbeat.server_assignor not in (None, known.server_assignor)
        # before a static member takes the place of another one
        assignor_name = self.assignor_name if votes else None
        member = copy(self._validated_member(heartbeat))
        before = member.subscription
        self.subscriptions.update_change_number(self.members.values())
        member.update_from_heartbeat(heartbeat)
        moved = self.advance_member(member, heartbeat.owned, before, assignor_name)
        shown = member.assigned if heartbeat.sets_all_fields or moved else None
        return self._heartbeat_result(member.member_id, member.epoch, shown)

    def advance_member(
        self,
        member: ConsumerMember,
        owned: Assignment | None,
        previous_subscription: Subscription,
        previous_assignor: str | None = None,
        *,
        keeps_target: bool = False,
    ) -> bool:
        """Begin a new epoch if the member's update needs one, and reconcile the member by one step;
        return whether its assignment changed. With
        `keeps_target` (the group is about to turn classic) the target stays, and nothing moves if
        the epoch is newer.
        """
        newcomer = None if member.member_id in self.members else member.member_id
        self.members[member.member_id] = member
        is_other = (
            self._facts.new_preferred_assignor_raises_epoch
            and previous_assignor is not None
            and previous_assignor != self.assignor_name
        )
        self.target.update_target(
            self.subscriptions,
            self.members.values(),
            partial(self._compute_assignments, newcomer),
            subscription_changed=is_other
            or self._has_resolved_subscription_changed(member, previous_subscription),
            keeps_target=keeps_target,
        )
        if keeps_target and self.target.awaits_computation:
            return False
        assigned = member.assigned
        resubscribes = member.subscription != previous_subscription
        if resubscribes and member.state is ReconciliationState.UNREVOKED:
            self._revoke_unsubscribed(member, owned)
        self.reconcile_member(member, owned)
        if resubscribes and member.is_reconciled(self.target.target_epoch):
            self._revoke_unsubscribed(member, owned)
        return member.assigned != assigned

    def _compute_assignments(
        self, newcomer: str | None, subscribers: list[Subscriber], counts: Mapping[bytes, int]
    ) -> dict[str, OrderedAssignment]:
        if self.assignor_name == RANGE:
            return assign_range(subscribers, counts)
        members = members_in_java_map_order(subscribers, newcomer)
        alike = self.subscriptions.all_subscribe_alike(self.members.values())
        uniform_keeps_surplus_with_owner = self._facts.uniform_keeps_surplus_with_owner
        return assign_uniform(
            members,
            counts,
            all_subscribe_alike=alike,
            uniform_keeps_surplus_with_owner=uniform_keeps_surplus_with_owner,
        )

    def _has_resolved_subscription_changed(
        self, member: ConsumerMember, previous_subscription: Subscription
    ) -> bool:
        """Return whether the subscription changed. A new regular expression counts once it is
        resolved, and a new member without topic names changes nothing.

        DEVIATION: it does not make the assignor treat all members as subscribers of the same
        topics.
        """
        old_names, old_regex = previous_subscription
        if member.topic_names != old_names:
            return True
        if member.topic_regex == old_regex:
            return False
        if member.topic_regex is None:
            return self._facts.dropped_regex_changes_subscription
        return self.subscriptions.is_expression_resolved(member.topic_regex)

    def _target_for_reconciliation(self, member: ConsumerMember) -> Assignment:
        """Return its target, without topics to which it no longer subscribes where the release
        revokes those immediately.
        """
        target = self.target.target_of_member(member.member_id)
        filters = self._facts.unsubscribed_partitions_are_revoked_immediately
        if not filters or member.is_reconciled(self.target.target_epoch):
            return target
        topic_ids = self.subscriptions.subscribed_topic_ids(member)
        return {topic_id: held for topic_id, held in target.items() if topic_id in topic_ids}

    def _revoke_unsubscribed(self, member: ConsumerMember, owned: Assignment | None) -> None:
        """Revoke partitions of topics that the member unsubscribed from, before a new target
        exists.
        """
        if self._facts.unsubscribed_partitions_are_revoked_immediately:
            topic_ids = self.subscriptions.subscribed_topic_ids(member)
            member.revoke_unsubscribed_topics(topic_ids, owned)

    def _resolve_due_expressions(self, heartbeat: ConsumerHeartbeat) -> None:
        """Resolve due expressions; as in Kafka, only the next heartbeat
        sees the matching topics.
        """
        wanted = self.due_expressions()
        if wanted:
            matching = self.subscriptions.resolve_expressions(wanted, heartbeat.visible_topic_names)
            self.apply_resolved_expressions(matching)

    def due_expressions(self) -> set[str]:
        """Return the regular expressions that must be resolved now."""
        now_ms, refresh_ms = self._clock.now_ms(), self._settings.regex_refresh_interval_ms
        return self.subscriptions.due_expressions(self.members.values(), now_ms, refresh_ms)

    def apply_resolved_expressions(self, resolved: ResolvedExpressions) -> None:
        """Apply resolved expressions; renew the target if their topics or those of the whole group
        changed, as a dropped expression may have matched others.
        """
        members = self.members.values()
        is_other = self.subscriptions.update_resolved_topics(
            resolved, members, self._clock.now_ms()
        )
        if is_other or self.target.have_assignable_partitions_changed(self.subscriptions, members):
            self.target.begin_epoch_for_changed_partitions(self.subscriptions, members)

    def _heartbeat_result(
        self, member_id: str, epoch: int, assignment: Assignment | None
    ) -> HeartbeatResult:
        interval_ms = self._settings.consumer_heartbeat_interval_ms(self.group_id)
        return HeartbeatResult(member_id, epoch, interval_ms, assignment)

    def _validated_member(self, heartbeat: ConsumerHeartbeat) -> ConsumerMember:
        """Return the validated member of a heartbeat; a new one is not yet in the group."""
        joins = heartbeat.member_epoch == 0
        known = self.members.get(heartbeat.member_id)
        if joins:
            self.require_room(heartbeat)
        if joins and (known is None or heartbeat.instance_id is not None):
            _require_valid_expression(heartbeat.topic_regex)
            return self._new_member(heartbeat.member_id, heartbeat.instance_id)
        if heartbeat.instance_id is None:
            known = self.require_member(heartbeat.member_id)
        else:
            known = self.require_member_of_instance(heartbeat.instance_id, heartbeat.member_id)
        if not (joins and self._facts.known_member_can_send_epoch_zero):
            require_acceptable_epoch(known, heartbeat.member_epoch, heartbeat.owned)
        _require_valid_expression(heartbeat.topic_regex)
        return known

    def _new_member(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """Return a new member, which replaces the one with its instance id."""
        if instance_id is None:
            return ConsumerMember(member_id, None)
        return self.create_replacing_static_member(member_id, instance_id)[0]

    def require_room(self, heartbeat: ConsumerHeartbeat) -> None:
        """Raise RequestRejected if the group does not accept this new member."""
        self.require_group_below_size_max(heartbeat.member_id)
        if heartbeat.instance_id is not None:
            self.require_released_static_member(heartbeat.instance_id)

    def require_group_below_size_max(self, member_id: str) -> None:
        """Raise GROUP_MAX_SIZE_REACHED if the group is full and this is a new member."""
        is_full = len(self.members) >= self._settings.consumer_size_max
        if is_full and member_id not in self.members:
            raise RequestRejected(
                ErrorCode.GROUP_MAX_SIZE_REACHED, "the group has reached its maximum size"
            )

    def create_replacing_static_member(
        self, member_id: str, instance_id: str
    ) -> tuple[ConsumerMember, ConsumerMember | None]:
        """Create a member for a static instance; return it and the one it replaces, if any."""
        current = self.members.get(self.instances.get(instance_id, ""))
        member = ConsumerMember(member_id, instance_id)
        if current is not None:
            member.copy_from_replaced_member(current)
            self.target.replace_target_member_id(current.member_id, member_id)
            self.drop_member_in_epoch(current)
        self.instances[instance_id] = member_id
        return member, current

    def _handle_leaving_heartbeat(self, heartbeat: ConsumerHeartbeat) -> HeartbeatResult:
        member = self.require_leaving_member(heartbeat.member_id, heartbeat.instance_id)
        if heartbeat.member_epoch == LEAVING_FOR_A_WHILE:
            self.leave_as_static_member(member)
        else:
            self.remove_members(member)
        self.on_changed(None)
        return HeartbeatResult(heartbeat.member_id, heartbeat.member_epoch, 0, None)

    def remove_members(self, *members: ConsumerMember) -> None:
        if self._downgrade(self, members, bool(members)):
            return
        super().remove_members(*members)
        self.subscriptions.drop_unused_expressions(self.members.values())

    def can_become_classic(self) -> bool:
        """Return whether the group turns classic once its last
        consumer-protocol member is classic.
        """
        return (
            self._settings.downgrades_consumer_groups
            and len(self.members) < self._settings.classic_size_max
            and all(member.uses_classic_protocol for member in self.members.values())
        )

    def try_downgrade(self, *, rebalances: bool) -> None:
        """Convert the group if its last consumer-protocol member has become a classic one."""
        self._downgrade(self, (), rebalances)

    def adopt_classic_members(self, members: Collection[ConsumerMember], epoch: int) -> None:
        """Take the members of the group's previous protocol, with their assignments."""
        self.members = ChangeRecordingDict((member.member_id, member) for member in members)
        self.instances = {
            member.instance_id: member.member_id for member in members if member.instance_id
        }
        self.target.start_with_assigned(
            epoch, {member.member_id: member.assigned for member in members}
        )
        if self._facts.upgraded_group_keeps_epoch:
            self.target.record_assignable_partitions(self.subscriptions, members)
        for member in members:
            self.restart_session_timeout(member)

    def subscribes_to(self, topic_name: str) -> bool:
        members = self.members.values()
        return any(
            topic_name in self.subscriptions.subscribed_topic_names(member) for member in members
        )


def _require_valid_expression(regex: str | None) -> None:
    """Raise RequestRejected if a member's regular expression is invalid."""
    try:
        if regex:
            compile_client_pattern(regex)
    except InvalidPatternError as error:
        text = f"`{regex}` is not a valid regular expression: {error}"
        raise RequestRejected(ErrorCode.INVALID_REGULAR_EXPRESSION, text) from error
