"""Heartbeats that can take long, because of their subscriptions or because of all the topics that
there are: what they change of a group is worked out while others are served.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakValueDictionary

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import Refused
from kafka_shim.shim.state.groups.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer_member import ConsumerHeartbeat
from kafka_shim.shim.state.groups.draft import Draft, Drafted, Turns
from kafka_shim.shim.state.groups.group import Group
from kafka_shim.shim.state.groups.group_store import GroupStore
from kafka_shim.shim.state.groups.heartbeat_answer import HeartbeatAnswer
from kafka_shim.shim.state.groups.share_group import ShareGroup, ShareHeartbeat

if TYPE_CHECKING:  # only those who have such a group need it
    from kafka_shim.shim.state.groups.streams_group import StreamsGroup
    from kafka_shim.shim.state.groups.streams_member import StreamsAnswer, StreamsHeartbeat

TRIES = 5
"""How often a group may become another one while something is worked out for it."""

Result = TypeVar("Result")


class LongHeartbeats:
    """Of a group one is worked out at a time; those that are answered at once may come between."""

    def __init__(self, groups: GroupStore) -> None:
        self._groups = groups
        self._locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()

    @contextmanager
    def one_of(self, group_id: str, turns: Turns) -> Iterator[None]:
        """Wait, while others are served, until no other is worked out for the group."""
        lock = self._locks.setdefault(group_id, _Lock())
        if not lock.acquire(blocking=False):
            taken: list[bool] = []
            try:
                turns.beside(lambda: taken.append(lock.acquire()))
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
        self, group: ConsumerGroup, found: Group | None, heartbeat: ConsumerHeartbeat, turns: Turns
    ) -> HeartbeatAnswer:
        """As `heartbeat` of the group, of a member that joins or stays; the group is new if it is
        not the one that was found.
        """

        def speakers() -> tuple[str, ...]:
            return heartbeat.member_id, group.instances.get(heartbeat.instance_id or "", "")

        answer = self._worked_out(
            group, found, speakers, turns, lambda made: made.decide(heartbeat)
        )
        if group is not found:
            self._groups.keep(group)
        member = group.members[heartbeat.member_id]
        group.watch(member)
        expressions = set() if member.topic_regex is None else group.expressions_due()
        if expressions:
            matching = group.subscriptions.matching(expressions, heartbeat.visible, turns.beside)
            self._worked_out(
                group, group, speakers, turns, lambda made: made.take_matching(matching)
            )
        group.subscriptions.forget(group.members.values())
        return answer

    def share(
        self, group: ShareGroup, found: Group | None, heartbeat: ShareHeartbeat, turns: Turns
    ) -> HeartbeatAnswer:
        """The same of a share group."""

        def speakers() -> tuple[str, ...]:
            return (heartbeat.member_id,)

        answer = self._worked_out(
            group, found, speakers, turns, lambda made: made.decide(heartbeat)
        )
        self._groups.keep(group)
        member = group.members[heartbeat.member_id]
        group.start_session(member)
        group.begin_states(turns.over(turns.beside(group.without_state, member)))
        return answer

    def streams(
        self,
        group: "StreamsGroup",
        found: Group | None,
        heartbeat: "StreamsHeartbeat",
        turns: Turns,
    ) -> "StreamsAnswer":
        """The same of a streams group."""

        def speakers() -> tuple[str, ...]:
            return heartbeat.member_id, group.instances.get(heartbeat.instance_id or "", "")

        answer = self._worked_out(
            group, found, speakers, turns, lambda made: made.decide(heartbeat, lambda _: None)
        )
        self._groups.keep(group)
        group.watch(group.members[heartbeat.member_id])
        return answer

    def classic(
        self,
        turns: Turns,
        group: ConsumerGroup,
        speakers: Callable[[], Collection[str]],
        work: Callable[[ConsumerGroup], Result],
    ) -> Result:
        """What work for a classic member of a consumer group returns."""
        with self.one_of(group.group_id, turns):
            return self._worked_out(group, group, speakers, turns, work)

    def _worked_out(
        self,
        group: Drafted,
        found: Group | None,
        speakers: Callable[[], Collection[str]],
        turns: Turns,
        work: Callable[[Drafted], Result],
    ) -> Result:
        """What work on a group returns; the group has become what it makes of it.

        Raises Refused if the group becomes another one again and again.
        """
        for _ in range(TRIES):
            draft = Draft(group, speakers())
            answer = turns.beside(work, draft.copy)
            is_current = self._groups.find(group.group_id) is found
            if is_current and draft.publish():
                return answer
        text = f"group `{group.group_id}` changes all the time"
        raise Refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, text)


class _Lock:
    """One that can be looked up as long as somebody has it or waits for it."""

    def __init__(self) -> None:
        lock = Lock()
        self.acquire = lock.acquire
        self.release = lock.release
