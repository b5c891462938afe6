"""A share group (KIP-932): members share partitions, without a reconciliation phase.

A member is assigned immediately what the newest target has for it, of the topics it subscribes to.
Only partitions with initialised share state are assigned. The state is initialised after the first
heartbeat of a member that subscribes to them, so the next heartbeat is the first to see them.
"""

from collections.abc import Collection, Iterable, Mapping
from copy import copy
from functools import partial

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.assignors import (
    Assignment,
    OrderedAssignment,
    Subscriber,
    members_in_java_map_order,
)
from kafka_shim.shim.state.groups.change_recording_dict import ChangeRecordingDict
from kafka_shim.shim.state.groups.epoch_group import MemberTimers
from kafka_shim.shim.state.groups.group import CommitIdentity, Group, GroupType
from kafka_shim.shim.state.groups.group_target import GroupTarget, HeartbeatResult
from kafka_shim.shim.state.groups.reconciliation import LEAVING
from kafka_shim.shim.state.groups.share.share_assignor import assign_simple
from kafka_shim.shim.state.groups.topic_subscriptions import (
    TopicSubscriptions,
    interned_name_set,
)
from kafka_shim.shim.state.settings.group_settings import GroupSettings
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.topics import Topics

SHARE_PROTOCOL_TYPE = "share"
ASSIGNOR = "simple"
NOT_FETCHED_YET = -1
"""Start offset of a share partition that has not been read."""


class ShareHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A ShareGroupHeartbeat request; fields that are None are unchanged."""

    member_id: str
    member_epoch: int
    rack_id: str | None
    topic_names: list[str] | None
    client_id: str
    client_host: str


class ShareMember(msgspec.Struct):
    """One member: its subscription, epoch and assignment."""

    member_id: str
    instance_id: str | None = None
    topic_regex: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    epoch: int = 0
    previous_epoch: int = 0
    assigned: Assignment = {}

    def update_subscription(self, heartbeat: ShareHeartbeat) -> bool:
        """Set the fields that the request contains; return whether the subscription has changed."""
        before = self.topic_names
        self.client_id = heartbeat.client_id
        self.client_host = heartbeat.client_host
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.topic_names is not None:
            self.topic_names = interned_name_set(heartbeat.topic_names)
        return before != self.topic_names

    def advance_to_epoch(self, epoch: int) -> None:
        if epoch != self.epoch:
            self.previous_epoch = self.epoch
            self.epoch = epoch


class ShareGroup(Group):
    """One share group."""

    type = GroupType.SHARE
    expires = False

    def __init__(
        self,
        group_id: str,
        settings: GroupSettings,
        facts: GroupFacts,
        topics: Topics,
        states: ShareStates,
        clock: Clock,
    ) -> None:
        super().__init__(group_id)
        self._settings = settings
        self._facts = facts
        self._topics = topics
        self._states = states
        self._clock = clock
        self._timers = MemberTimers(clock, self._remove_expired_member)
        self.members: ChangeRecordingDict[str, ShareMember] = ChangeRecordingDict()
        self._begun: ChangeRecordingDict[bytes, set[int]] = ChangeRecordingDict()
        self.has_ever_initialized = False
        """Whether initialising a partition was ever attempted, even one that does not exist."""
        self.subscriptions = TopicSubscriptions(topics)
        first = facts.empty_group_epoch
        self.target = GroupTarget(
            clock,
            partial(settings.share_assignment_interval_ms, group_id),
            (first, first),
        )

    @property
    def state_name(self) -> str:
        return "Stable" if self.members else "Empty"

    @property
    def protocol_type(self) -> str:
        return SHARE_PROTOCOL_TYPE

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def member_count(self) -> int:
        return len(self.members)

    # heartbeats

    def handle_heartbeat(self, heartbeat: ShareHeartbeat) -> HeartbeatResult:
        """Handle a heartbeat that joins, stays or leaves. Raise RequestRejected if invalid."""
        member = self.members.get(heartbeat.member_id)
        if heartbeat.member_epoch == LEAVING:
            self._remove_member(self._require_existing_member(member, heartbeat))
            return HeartbeatResult(heartbeat.member_id, LEAVING, 0, None)
        response = self.handle_heartbeat_without_timers(heartbeat)
        member = self.members[heartbeat.member_id]
        self.restart_session_timeout(member)
        self.initialize_states(self.uninitialized_partitions(member))
        return response

    def handle_heartbeat_without_timers(self, heartbeat: ShareHeartbeat) -> HeartbeatResult:
        """Handle a heartbeat that joins or stays, without restarting the session timer."""
        member = self.members.get(heartbeat.member_id)
        joins = heartbeat.member_epoch == 0
        is_new = member is None and joins
        if is_new:
            self._require_below_size_max()
            member = ShareMember(heartbeat.member_id)
        member = copy(self._require_existing_member(member, heartbeat))
        if not joins:
            _require_acceptable_epoch(member, heartbeat)
        self.subscriptions.update_change_number(self.members.values())
        changed = member.update_subscription(heartbeat) or is_new
        self.members[member.member_id] = member
        assign = partial(self._compute_assignments, member.member_id if is_new else None)
        self.target.update_target(
            self.subscriptions, self.members.values(), assign, subscription_changed=changed
        )
        before = member.assigned
        member.advance_to_epoch(self.target.target_epoch)
        member.assigned = self._target_for_reconciliation(member)
        tells = joins or heartbeat.topic_names is not None
        shown = member.assigned if tells or member.assigned != before else None
        interval_ms = self._settings.share_heartbeat_interval_ms(self.group_id)
        return HeartbeatResult(member.member_id, member.epoch, interval_ms, shown)

    def _require_existing_member(
        self, member: ShareMember | None, heartbeat: ShareHeartbeat
    ) -> ShareMember:
        if member is None:
            text = f"`{heartbeat.member_id}` is not a member of group `{self.group_id}`"
            raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, text)
        return member

    def _require_below_size_max(self) -> None:
        if len(self.members) >= self._settings.share_size_max:
            raise RequestRejected(
                ErrorCode.GROUP_MAX_SIZE_REACHED, "the group has reached its maximum size"
            )

    def _target_for_reconciliation(self, member: ShareMember) -> Assignment:
        wanted = self.subscriptions.subscribed_topic_ids(member)
        target = self.target.target_of_member(member.member_id)
        return {topic_id: held for topic_id, held in target.items() if topic_id in wanted}

    def _compute_assignments(
        self, newcomer: str | None, subscribers: list[Subscriber], counts: Mapping[bytes, int]
    ) -> dict[str, OrderedAssignment]:
        begun = {
            topic_id: sorted(at for at in self._begun.get(topic_id, ()) if at < count)
            for topic_id, count in counts.items()
        }
        members = members_in_java_map_order(subscribers, newcomer)
        alike = self.subscriptions.all_subscribe_alike(self.members.values())
        return assign_simple(members, begun, all_subscribe_alike=alike)

    def uninitialized_partitions(self, member: ShareMember) -> list[tuple[bytes, int]]:
        """Return the subscribed partitions whose share state is not initialised."""
        return [
            (topic_id, partition.index)
            for topic_id in self.subscriptions.subscribed_topic_ids(member)
            if (topic := self._topics.by_id(topic_id)) is not None
            for partition in topic.partitions
            if partition.index not in self._begun.get(topic_id, ())
        ]

    def initialize_states(self, new: Iterable[tuple[bytes, int]]) -> None:
        """Initialise the state of partitions, so that they can be assigned; other requests may be
        handled between two partitions.
        """
        begun: dict[bytes, set[int]] = {}
        errors = []
        for topic_id, index in new:
            if index not in self._begun.get(topic_id, ()):  # not initialised meanwhile
                errors.append(
                    self.initialize_share_state_at(
                        topic_id, index, self._initial_start_offset(topic_id)
                    )
                )
                begun.setdefault(topic_id, set()).add(index)
        if begun and not any(errors):  # else a state has a newer epoch; retried later
            self.add_initialized_partitions(begun)
            self.target.request_epoch_for_more_partitions()

    def _initial_start_offset(self, topic_id: bytes) -> int:
        """Return a partition's start offset: 0 if it was added to a topic that the group reads."""
        is_added = topic_id in self._begun and self._facts.share_new_partitions_start_at_zero
        return 0 if is_added else NOT_FETCHED_YET

    def _remove_member(self, member: ShareMember) -> None:
        self._timers.stop_timers(member.member_id)
        del self.members[member.member_id]
        self.target.pop_target_of_member(member.member_id)
        self.target.begin_leave_epoch(
            sets_target_immediately=self._facts.recomputes_target_when_empty and not self.members
        )

    def _remove_expired_member(self, member_id: str) -> None:
        self._remove_member(self.members[member_id])

    def restart_session_timeout(self, member: ShareMember) -> None:
        """Start or restart the session timeout of a member."""
        timeout_ms = self._settings.share_session_timeout_ms(self.group_id)
        self._timers.restart_session_timeout(member.member_id, timeout_ms)

    def restore_member(self, member: ShareMember) -> None:
        """Restore a member and start a full session timeout."""
        self.members[member.member_id] = member
        self.restart_session_timeout(member)

    # start offsets

    def initialize_share_state_at(
        self, topic_id: bytes, partition: int, start_offset: int
    ) -> ErrorCode:
        """Initialise a partition's share state at `start_offset`, replacing any earlier state."""
        self.has_ever_initialized = True
        key = (self.group_id, topic_id, partition)
        return self._states.reset_state(key, self.target.epoch, start_offset)

    def add_initialized_partitions(self, partitions: dict[bytes, set[int]]) -> None:
        """Record these partitions, by topic id, as initialised.

        Partitions initialised together become visible together. The group keeps the sets passed in.
        """
        for topic_id in partitions.keys() & self._begun.keys():
            partitions[topic_id] |= self._begun[topic_id]
        self._begun.update(partitions)

    @property
    def initialized_partitions(self) -> ChangeRecordingDict[bytes, set[int]]:
        """The partitions that the group itself initialised, by topic id."""
        return self._begun

    def delete_share_states_of_topic(self, topic_id: bytes) -> bool:
        """Delete the share state of a topic; return False if there was none."""
        begun = self._begun.pop(topic_id, set())
        for partition in begun:
            self._states.delete_state((self.group_id, topic_id, partition))
        return bool(begun)

    # share groups have no committed offsets

    def commit_error(
        self,
        commit: CommitIdentity,  # noqa: ARG002 - always refused
        partitions: Collection[tuple[bytes, int]],  # noqa: ARG002 - none
    ) -> ErrorCode:
        return ErrorCode.GROUP_ID_NOT_FOUND

    def offset_delete_error(self) -> ErrorCode:
        return ErrorCode.GROUP_ID_NOT_FOUND

    def subscribes_to(self, topic_name: str) -> bool:
        return any(topic_name in member.topic_names for member in self.members.values())

    def close(self) -> None:
        """Stop the members' timers and delete the group's share states."""
        self._timers.stop_all()
        for topic_id in list(self._begun):
            self.delete_share_states_of_topic(topic_id)


def _require_acceptable_epoch(member: ShareMember, heartbeat: ShareHeartbeat) -> None:
    """Raise FENCED_MEMBER_EPOCH unless it is the member's current or previous epoch.

    The previous one is valid because the response with the current one may have been lost.
    """
    if heartbeat.member_epoch not in (member.epoch, member.previous_epoch):
        text = (
            f"epoch {heartbeat.member_epoch} of the member is not the current one, {member.epoch}"
        )
        raise RequestRejected(ErrorCode.FENCED_MEMBER_EPOCH, text)
