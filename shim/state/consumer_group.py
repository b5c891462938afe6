"""A consumer group (KIP-848): the broker assigns, members follow step by step.

Whatever changes what should be read by whom (members, subscriptions, topics) makes a new group
epoch; the assignor then sets the target of that epoch, and each member is brought there by its
own heartbeats (`consumer_member.py`).
"""

from functools import partial

from protocol.error_codes import ErrorCode
from protocol.group_releases import GroupBehaviour
from shim.clock import Clock
from shim.errors import Refused
from shim.state.assignors import ASSIGNORS, Assignment
from shim.state.consumer_member import ConsumerHeartbeat, ConsumerMember
from shim.state.epoch_group import EpochGroup, check_epoch
from shim.state.group import GroupType
from shim.state.group_settings import GroupSettings
from shim.state.group_target import GroupTarget
from shim.state.heartbeat_answer import HeartbeatAnswer
from shim.state.reconciliation import LEAVING, LEAVING_FOR_A_WHILE, merged
from shim.state.topic_subscriptions import TopicSubscriptions
from shim.state.topics import Topics

CONSUMERS = "consumer"


class ConsumerGroup(EpochGroup[ConsumerMember]):
    """One group of the consumer protocol."""

    type = GroupType.CONSUMER

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        behaviour: GroupBehaviour,
        topics: Topics,
        clock: Clock,
    ) -> None:
        super().__init__(
            group_id, partial(settings.consumer_session_timeout_ms, group_id), behaviour, clock
        )
        self._settings = settings
        self.instances: dict[str, str] = {}
        self.subscriptions = TopicSubscriptions(topics)
        first = behaviour.new_group_epoch
        self.target = GroupTarget(
            clock,
            partial(settings.consumer_assignment_interval_ms, group_id),
            (first, first),
            keeps_first_epoch=first > 0,
        )

    # what others see

    @property
    def protocol_type(self) -> str:
        return CONSUMERS

    def shown_assignment(self, member: ConsumerMember) -> Assignment:
        """What ConsumerGroupDescribe says that a member has."""
        if self._behaviour.describes_revoking:
            return merged(member.assigned, member.revoking)
        return member.assigned

    @property
    def assignor_name(self) -> str:
        """The assignor that most members ask for, else the first that is configured."""
        votes: dict[str, int] = {}
        for member in self.members.values():
            if member.server_assignor is not None:
                votes[member.server_assignor] = votes.get(member.server_assignor, 0) + 1
        if not votes:
            return self._settings.assignors[0]
        return max(votes, key=lambda name: votes[name])

    # heartbeats

    def heartbeat(self, heartbeat: ConsumerHeartbeat) -> HeartbeatAnswer:
        """Join, stay or leave; raises Refused with the error of the whole request."""
        if heartbeat.member_epoch in (LEAVING, LEAVING_FOR_A_WHILE):
            return self._leave(heartbeat)
        member, is_new = self._member_of(heartbeat)
        old_subscription = member.subscription
        changed = self._update(member, heartbeat) or is_new
        self.members[member.member_id] = member
        self.target.refresh(
            self.subscriptions,
            self.members.values(),
            ASSIGNORS[self.assignor_name],
            changed=changed,
        )
        moved = self.reconcile(member, heartbeat.owned)
        if member.subscription != old_subscription:
            moved = self._give_up(member, heartbeat.owned) or moved
        self.watch(member)
        if member.topic_regex is not None:
            self._resolve(heartbeat)
        self.subscriptions.forget(self.members.values())
        shown = member.assigned if heartbeat.is_full or moved else None
        return self._answer(member.member_id, member.epoch, shown)

    def _update(self, member: ConsumerMember, heartbeat: ConsumerHeartbeat) -> bool:
        """Whether the subscription is another one: a new expression is not until it is resolved."""
        old_names, old_regex = member.subscription
        member.update(heartbeat)
        if member.topic_names != old_names:
            return True
        if member.topic_regex == old_regex:
            return False
        if member.topic_regex is None:
            return self._behaviour.dropped_regex_counts
        return self.subscriptions.is_resolved(member.topic_regex)

    def _give_up(self, member: ConsumerMember, owned: Assignment | None) -> bool:
        """What a member unsubscribed from goes before there is a target without it."""
        revokes = self._behaviour.revokes_unsubscribed
        if not (revokes and member.is_reconciled(self.target.target_epoch)):
            return False
        before = member.assigned
        member.give_up(self.subscriptions.wanted_by(member), owned)
        return member.assigned != before

    def _resolve(self, heartbeat: ConsumerHeartbeat) -> None:
        """Kafka does it in the background: what matches is seen by the next heartbeat."""
        members = self.members.values()
        if self.subscriptions.resolve(members, heartbeat.visible, self._clock.now_ms()):
            self.target.renew(self.subscriptions, members)

    def _answer(self, member_id: str, epoch: int, assignment: Assignment | None) -> HeartbeatAnswer:
        interval_ms = self._settings.consumer_heartbeat_interval_ms(self.group_id)
        return HeartbeatAnswer(member_id, epoch, interval_ms, assignment)

    def _member_of(self, heartbeat: ConsumerHeartbeat) -> tuple[ConsumerMember, bool]:
        """The member that speaks, checked, and whether it is new; not yet part of the group."""
        joins = heartbeat.member_epoch == 0
        known = self.members.get(heartbeat.member_id)
        if joins and known is None and len(self.members) >= self._settings.consumer_size_max:
            raise Refused(ErrorCode.GROUP_MAX_SIZE_REACHED, "the group is full")
        if heartbeat.instance_id is not None:
            return self._static_member_of(heartbeat, joins=joins)
        if joins:
            return known or ConsumerMember(heartbeat.member_id, None), known is None
        known = self.member(heartbeat.member_id)
        check_epoch(known, heartbeat.member_epoch, heartbeat.owned)
        return known, False

    def _static_member_of(
        self, heartbeat: ConsumerHeartbeat, *, joins: bool
    ) -> tuple[ConsumerMember, bool]:
        instance_id = heartbeat.instance_id
        assert instance_id is not None
        current = self.members.get(self.instances.get(instance_id, ""))
        if not joins:
            if current is None:
                raise self.unknown(instance_id)
            self._check_instance(current, heartbeat)
            check_epoch(current, heartbeat.member_epoch, heartbeat.owned)
            return current, False
        member = ConsumerMember(heartbeat.member_id, instance_id)
        if current is not None:
            if current.epoch != LEAVING_FOR_A_WHILE:
                text = f"instance `{instance_id}` is still in use by `{current.member_id}`"
                raise Refused(ErrorCode.UNRELEASED_INSTANCE_ID, text)
            member.take_over(current)
            self.target.hand_over(current.member_id, member.member_id)
            self.drop(current)
        self.instances[instance_id] = member.member_id
        return member, current is None

    def _check_instance(self, current: ConsumerMember, heartbeat: ConsumerHeartbeat) -> None:
        if current.member_id != heartbeat.member_id:
            text = f"instance `{heartbeat.instance_id}` belongs to `{current.member_id}` now"
            raise Refused(ErrorCode.FENCED_INSTANCE_ID, text)

    def _leave(self, heartbeat: ConsumerHeartbeat) -> HeartbeatAnswer:
        if heartbeat.instance_id is None:
            member = self.member(heartbeat.member_id)
        elif heartbeat.instance_id not in self.instances:
            raise self.unknown(heartbeat.instance_id)
        else:
            member = self.member(self.instances[heartbeat.instance_id])
            self._check_instance(member, heartbeat)
        if heartbeat.member_epoch == LEAVING_FOR_A_WHILE:
            member.stop_timers()
            member.epoch = LEAVING_FOR_A_WHILE
            member.revoking = {}
            self.start_session(member)
        else:
            self.remove(member)
        return HeartbeatAnswer(heartbeat.member_id, heartbeat.member_epoch, 0, None)

    def remove(self, member: ConsumerMember) -> None:
        super().remove(member)
        self.subscriptions.forget(self.members.values())

    def drop(self, member: ConsumerMember) -> None:
        super().drop(member)
        if self.instances.get(member.instance_id or "") == member.member_id:
            del self.instances[member.instance_id or ""]

    def subscribes_to(self, topic_name: str) -> bool:
        members = self.members.values()
        return any(topic_name in self.subscriptions.topics_of(member) for member in members)
