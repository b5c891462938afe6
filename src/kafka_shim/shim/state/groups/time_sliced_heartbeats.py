"""Heartbeats that may take long because of their subscriptions or the number of topics.

They are computed on a draft of the group in another thread, while others are served. The draft's
state then replaces the group's in one step, unless the group or the topics have changed since: then
the work is done again.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar
from weakref import WeakValueDictionary

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerHeartbeat
from kafka_shim.shim.state.groups.group import Group
from kafka_shim.shim.state.groups.group_target import HeartbeatResult
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareHeartbeat

if TYPE_CHECKING:  # only those who have such a group need it
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
    from kafka_shim.shim.state.groups.streams.streams_member import (
        StreamsHeartbeat,
        StreamsHeartbeatResult,
    )

TRIES = 5
"""How often the group or the topics may change while a heartbeat is computed."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class TimeSlices(Protocol):
    """How other requests are served meanwhile: `offload` runs work in another thread, `time_sliced`
    interrupts between two items.
    """

    def offload(self, work: Callable[..., Item], *arguments: Any) -> Item: ...
    def time_sliced(self, items: Iterable[Item]) -> Iterator[Item]: ...


class StateChangedByHeartbeat(Protocol):
    """A frozen value with everything that a heartbeat changes, and the epoch of the topics."""

    def copy(self) -> Self: ...


State = TypeVar("State", bound=StateChangedByHeartbeat)


class DraftableGroup(Protocol[State]):
    """A group whose state can be changed in a draft."""

    group_id: str

    def mutable_state_without_copy(self) -> State: ...
    def replace_mutable_state(self, state: State) -> None: ...
    def draft_with_state(self, state: State) -> Self: ...


Drafted = TypeVar("Drafted", bound=DraftableGroup[Any])


class TimeSlicedHeartbeats:
    """Computes one heartbeat of a group at a time; fast ones may be answered in between."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._locks: WeakValueDictionary[str, _GroupLock] = WeakValueDictionary()

    @contextmanager
    def serialize_by_group(self, group_id: str, slices: TimeSlices) -> Iterator[None]:
        """Wait, while others are served, until no other is worked out for the group."""
        lock = self._locks.setdefault(group_id, _GroupLock())
        if not lock.acquire(blocking=False):
            taken: list[bool] = []
            try:
                slices.offload(lambda: taken.append(lock.acquire()))
            except BaseException:
                if taken:
                    lock.release()
                raise
        try:
            yield
        finally:
            self._groups.when_touched(group_id)
            lock.release()

    def handle_consumer_heartbeat(
        self,
        group: ConsumerGroup,
        stored_group: Group | None,
        heartbeat: ConsumerHeartbeat,
        slices: TimeSlices,
    ) -> HeartbeatResult:
        """Handle a heartbeat of a joining or current member like the group's `heartbeat`; the group
        is new if it is not the stored one.
        """
        response = self._change_in_draft_until_undisturbed(
            group,
            stored_group,
            slices,
            lambda draft: draft.handle_heartbeat_without_timers(heartbeat),
        )
        if group is not stored_group:
            self._groups.store_group_replacing_previous(group)
        member = group.members[heartbeat.member_id]
        group.restart_session_and_update_rebalance_timeout(member)
        group.on_changed(member.member_id)
        expressions = set() if member.topic_regex is None else group.all_expressions_if_due()
        if expressions:
            matching = group.subscriptions.resolve_expressions(
                expressions, heartbeat.visible_topic_names, slices.offload
            )
            self._change_in_draft_until_undisturbed(
                group,
                group,
                slices,
                lambda draft: draft.apply_expressions_and_begin_epoch_if_changed(matching),
            )
            group.on_changed(member.member_id)
        group.subscriptions.drop_unused_expressions(group.members.values())
        return response

    def handle_share_heartbeat(
        self,
        group: ShareGroup,
        stored_group: Group | None,
        heartbeat: ShareHeartbeat,
        slices: TimeSlices,
    ) -> HeartbeatResult:
        """Handle a heartbeat of a joining or current member of a share group."""
        response = self._change_in_draft_until_undisturbed(
            group,
            stored_group,
            slices,
            lambda draft: draft.handle_heartbeat_without_timers(heartbeat),
        )
        self._groups.store_group_replacing_previous(group)
        member = group.members[heartbeat.member_id]
        group.restart_session_timeout(member)
        group.initialize_states_requesting_epoch_if_all_succeed(
            slices.time_sliced(slices.offload(group.uninitialized_partitions, member))
        )
        group.on_changed(member.member_id)
        return response

    def handle_streams_heartbeat(
        self,
        group: "StreamsGroup",
        stored_group: Group | None,
        heartbeat: "StreamsHeartbeat",
        slices: TimeSlices,
    ) -> "StreamsHeartbeatResult":
        """Handle a heartbeat of a joining or current member of a streams group."""
        response = self._change_in_draft_until_undisturbed(
            group,
            stored_group,
            slices,
            lambda draft: draft.handle_heartbeat_without_timers(heartbeat, lambda _: None),
        )
        self._groups.store_group_replacing_previous(group)
        group.restart_session_and_update_rebalance_timeout(group.members[heartbeat.member_id])
        group.on_changed(heartbeat.member_id)
        return response

    def change_for_classic_member(
        self, slices: TimeSlices, group: ConsumerGroup, work: Callable[[ConsumerGroup], Result]
    ) -> Result:
        """Return the result of work for a classic member of a consumer group."""
        with self.serialize_by_group(group.group_id, slices):
            response = self._change_in_draft_until_undisturbed(group, group, slices, work)
            group.on_changed(None)
            return response

    def _change_in_draft_until_undisturbed(
        self,
        group: Drafted,
        stored_group: Group | None,
        slices: TimeSlices,
        work: Callable[[Drafted], Result],
    ) -> Result:
        """Do work on a draft of the group, give the group its state, and return the result.

        Raise COORDINATOR_LOAD_IN_PROGRESS if the group or the topics change again and again.
        """
        for _ in range(TRIES):
            before = group.mutable_state_without_copy().copy()
            draft = group.draft_with_state(before.copy())
            try:
                response = slices.offload(work, draft)
            except RequestRejected:
                if self._are_group_and_topics_unchanged(group, stored_group, before):
                    raise
                continue
            if self._are_group_and_topics_unchanged(group, stored_group, before):
                group.replace_mutable_state(draft.mutable_state_without_copy())
                return response
        text = f"group `{group.group_id}` or its topics keep changing"
        raise RequestRejected(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, text)

    def _are_group_and_topics_unchanged(
        self, group: Drafted, stored_group: Group | None, previous_state: StateChangedByHeartbeat
    ) -> bool:
        """Return whether neither the group nor the topics have changed, and the same group is
        stored.
        """
        is_stored = (
            self._groups.find_and_touch_after_topic_deletions(group.group_id) is stored_group
        )
        return is_stored and bool(group.mutable_state_without_copy() == previous_state)


class _GroupLock:
    """A lock that exists as long as it is held or waited for."""

    def __init__(self) -> None:
        lock = Lock()
        self.acquire = lock.acquire
        self.release = lock.release
