"""Groups of very many members, and members of very many protocols."""

from collections import Counter
from collections.abc import Callable, Sequence, Sized
from functools import partial

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_groups import DescribeGroupsRequest
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.groups.assignors import Subscriber
from kafka_shim.shim.state.groups.classic.classic_members import ClassicMember, ClassicMembers
from kafka_shim.shim.state.groups.classic.classic_rebalance import RESPONSES_PER_FLUSH
from kafka_shim.shim.state.groups.consumer.uniform_assignor import assign_uniform
from kafka_shim.shim.state.groups.share.share_assignor import assign_simple
from kafka_shim.shim.state.groups.streams.sticky_tasks import (
    StickyAssignorRules,
    TaskRunner,
    TasksToAssign,
    assign_tasks_sticky,
)
from kafka_shim.shim.state.groups.streams.task_kinds import standby_tasks_by_subtopology
from tests.shim.play import ADMIN, LISTENER, Stage
from tests.shim.state.groups.joining import join_request
from tests.support.counted_work import count_work

Assign = Callable[[int], Sequence[Sized]]
"""Assigns for a number of members or topics; returns what each of them got."""

RULES = StickyAssignorRules(prefers_reported_offsets=True, standby_prefers_other_owner=True)


lines_run = partial(count_work, event="line")


def join(members: int) -> Stage:
    stage = Stage("4.3")
    joining(stage, members)
    return stage


def joining(stage: Stage, members: int) -> list[PendingExchange]:
    """Send a JoinGroup for each new member; return the pending responses."""
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b""), JoinGroupRequestProtocol("other", b"")],
    )
    found = []
    for _ in range(members):
        session = Session(LISTENER, 1, "127.0.0.1", 50_000)
        session.principal, session.phase = ADMIN, AuthenticationPhase.READY
        pending = stage.send(ApiKey.JOIN_GROUP, 3, request, session)
        assert isinstance(pending, PendingExchange)
        found.append(pending)
    return found


def test_ten_thousand_members_join_a_classic_group() -> None:
    described = DescribeGroupsRequest(["g"])
    [group] = join(10_000).ask(ApiKey.DESCRIBE_GROUPS, 5, described).groups
    assert len(group.members) == 10_000


def test_others_are_served_between_the_join_responses_of_many_members() -> None:
    stage = Stage("4.3")
    responded: Counter[int] = Counter()
    for pending in joining(stage, 1_000):
        pending.wait.set_response_callback(lambda _: responded.update([stage.clock.fired_timers]))
    stage.clock.advance(60_000)
    assert responded.total() == 1_000
    assert max(responded.values()) <= RESPONSES_PER_FLUSH


def test_the_work_of_members_that_join_is_linear() -> None:
    """Each member was once compared with all others: 10,000 members took a minute and a half."""
    join(1)
    assert lines_run(lambda: join(1_000)) < 12 * lines_run(lambda: join(100))


def check_all_are_given(members: int, assign: Assign) -> None:
    assert sum(len(held) for held in assign(members)) == members


def uniformly(members: int) -> list[Sized]:
    """One member has all partitions, which are then shared by as many members as partitions."""
    return _uniformly(members, alike=True)


def uniformly_of_several(members: int) -> list[Sized]:
    """The same for members that may have different subscriptions."""
    return _uniformly(members, alike=False)


def _uniformly(members: int, *, alike: bool) -> list[Sized]:
    topic_id = b"t" * 16
    every = {topic_id: range(members)}
    subscribers = [
        Subscriber(f"m{number}", None, frozenset(every), {} if number else every)
        for number in range(members)
    ]
    given = assign_uniform(subscribers, {topic_id: members}, all_subscribe_alike=alike)
    return [held[topic_id] for held in given.values()]


def stickily(members: int) -> list[frozenset[int]]:
    """The members of one process get one active task each."""
    runners = [TaskRunner(f"m{number}", "p", {}, {}, {}) for number in range(members)]
    given = assign_tasks_sticky(runners, TasksToAssign({b"t": members}), RULES)
    return [tasks[b"t"] for tasks in given.values()]


def standing_by(members: int) -> list[frozenset[int]]:
    """The members, each in its own process, get one standby task each."""
    runners = [TaskRunner(f"m{number}", f"p{number}", {}, {}, {}) for number in range(members)]
    given = assign_tasks_sticky(runners, TasksToAssign({b"t": members}, {b"t"}, 1), RULES)
    return [standby_tasks_by_subtopology(tasks)[b"t"] for tasks in given.values()]


def simply(members: int) -> list[Sized]:
    """One member of a share group gets a partition of each topic."""
    return _simply(members, alike=True)


def simply_of_several(members: int) -> list[Sized]:
    return _simply(members, alike=False)


def _simply(members: int, *, alike: bool) -> list[Sized]:
    topics = [number.to_bytes(16, "big") for number in range(members)]
    wanting = [Subscriber("m", None, frozenset(topics), {})]
    [given] = assign_simple(
        wanting, {topic_id: [0] for topic_id in topics}, all_subscribe_alike=alike
    ).values()
    return list(given.values())


@pytest.mark.parametrize(
    "assign", [uniformly, uniformly_of_several, stickily, standing_by, simply, simply_of_several]
)
def test_the_work_of_assignors_is_linear(assign: Assign) -> None:
    """Each partition was once compared with each member or topic: 10,000 members took minutes."""
    few = lines_run(lambda: check_all_are_given(100, assign))
    assert lines_run(lambda: check_all_are_given(1_000, assign)) < 16 * few


def test_protocols_of_members_that_left_are_forgotten() -> None:
    roster = ClassicMembers()
    protocols = tuple((f"p{number}", b"") for number in range(1000))
    joining = join_request(member_id="m", protocols=protocols)
    member = ClassicMember("m", joining)
    roster.add_member(member, "consumer")
    assert roster.selected_protocol() == "p0"
    roster.remove_member(member)
    assert not roster._members_by_protocol
