"""Heartbeats that may take long because of their subscriptions or the number of topics: the changed
group is computed while others are served.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerHeartbeat
from kafka_shim.shim.state.groups.draft import Draft, Drafted, TimeSlices
from kafka_shim.shim.state.groups.group import Group
from kafka_shim.shim.state.groups.group_store import GroupStore
from kafka_shim.shim.state.groups.group_target import HeartbeatResult
from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareHeartbeat

if TYPE_CHECKING:  # only those who have such a group need it
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
    from kafka_shim.shim.state.groups.streams.streams_member import (
        StreamsHeartbeat,
        StreamsHeartbeatResult,
    )

TRIES = 5
"""How often a group may become another one while something is worked out for it."""

Result = TypeVar("Result")


class LongHeartbeats:
    """Computes one heartbeat of a group at a time; fast ones may be answered in between."""

    def __init__(self, groups: GroupStore) -> None:
        self._groups = groups
        self._locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()

    @contextmanager
    def one_of(self, group_id: str, slices: TimeSlices) -> Iterator[None]:
        """Wait, while others are served, until no other is worked out for the group."""
        lock = self._locks.setdefault(group_id, _Lock())
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

    def consumer(
        self,
        group: ConsumerGroup,
        found: Group | None,
        heartbeat: ConsumerHeartbeat,
        slices: TimeSlices,
    ) -> HeartbeatResult:
        """Handle a heartbeat of a joining or current member like the group's `heartbeat`; the group
        is new if it is not the stored one.
        """

        def speakers() -> tuple[str, ...]:
            return heartbeat.member_id, group.instances.get(heartbeat.instance_id or "", "")

        response = self._worked_out(
            group, found, speakers, slices, lambda made: made.decide(heartbeat)
        )
        if group is not found:
            self._groups.keep(group)
        member = group.members[heartbeat.member_id]
        group.watch(member)
        expressions = set() if member.topic_regex is None else group.expressions_due()
        if expressions:
            matching = group.subscriptions.matching(expressions, heartbeat.visible, slices.offload)
            self._worked_out(
                group, group, speakers, slices, lambda made: made.take_matching(matching)
            )
        group.subscriptions.forget(group.members.values())
        return response

    def share(
        self, group: ShareGroup, found: Group | None, heartbeat: ShareHeartbeat, slices: TimeSlices
    ) -> HeartbeatResult:
        """Do the same for a share group."""

        def speakers() -> tuple[str, ...]:
            return (heartbeat.member_id,)

        response = self._worked_out(
            group, found, speakers, slices, lambda made: made.decide(heartbeat)
        )
        self._groups.keep(group)
        member = group.members[heartbeat.member_id]
        group.start_session(member)
        group.begin_states(slices.over(slices.offload(group.without_state, member)))
        return response

    def streams(
        self,
        group: "StreamsGroup",
        found: Group | None,
        heartbeat: "StreamsHeartbeat",
        slices: TimeSlices,
    ) -> "StreamsHeartbeatResult":
        """Do the same for a streams group."""

        def speakers() -> tuple[str, ...]:
            return heartbeat.member_id, group.instances.get(heartbeat.instance_id or "", "")

        response = self._worked_out(
            group, found, speakers, slices, lambda made: made.decide(heartbeat, lambda _: None)
        )
        self._groups.keep(group)
        group.watch(group.members[heartbeat.member_id])
        return response

    def classic(
        self,
        slices: TimeSlices,
        group: ConsumerGroup,
        speakers: Callable[[], Collection[str]],
        work: Callable[[ConsumerGroup], Result],
    ) -> Result:
        """Return the result of work for a classic member of a consumer group."""
        with self.one_of(group.group_id, slices):
            return self._worked_out(group, group, speakers, slices, work)

    def _worked_out(
        self,
        group: Drafted,
        found: Group | None,
        speakers: Callable[[], Collection[str]],
        slices: TimeSlices,
        work: Callable[[Drafted], Result],
    ) -> Result:
        """Do work on a copy of the group, replace the group by it, and return the result.

        Raises Refused if the group changes again and again in the meantime.
        """
        for _ in range(TRIES):
            draft = Draft(group, speakers())
            response = slices.offload(work, draft.copy)
            is_current = self._groups.find(group.group_id) is found
            if is_current and draft.publish():
                return response
        text = f"group `{group.group_id}` keeps changing"
        raise RequestRejected(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, text)


class _Lock:
    """A lock that exists as long as it is held or waited for."""

    def __init__(self) -> None:
        lock = Lock()
        self.acquire = lock.acquire
        self.release = lock.release
