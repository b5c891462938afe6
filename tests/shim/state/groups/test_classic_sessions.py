"""Sessions of classic members end by the clock, even if the event loop is late with timers."""

import random
from collections.abc import Callable

import pytest

from kafka_shim.shim.clock import ManualClock, Timer
from kafka_shim.shim.config import Config
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
from kafka_shim.shim.state.groups.classic.classic_members import (
    JoinResponse,
    SyncRequest,
)
from tests.shim.state.groups.joining import join_request

SESSION_MS = 6_000


class _NeverCalled:
    def cancel(self) -> None: ...


class LateClock(ManualClock):
    """A clock that advances although the event loop has not run its timers."""

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        return _NeverCalled()


def stable_group(clock: ManualClock) -> ClassicGroup:
    """Return a stable group with one static member."""
    groups = Cluster(Config(), ManualClock()).groups
    group = ClassicGroup("g", groups.settings, groups.facts, clock, random.Random(1))
    joined: list[JoinResponse] = []
    group.join(
        join_request(instance_id="first", session_timeout_ms=SESSION_MS),
        joined.append,
    )
    (response,) = joined
    group.sync(
        SyncRequest(
            member_id=response.member_id,
            instance_id="first",
            generation_id=response.generation_id,
            protocol_type=None,
            protocol_name=None,
            assignments={response.member_id: b""},
        ),
        lambda _: None,
    )
    assert group.state_name == "Stable"
    return group


@pytest.mark.parametrize(("waited_ms", "is_over"), [(SESSION_MS - 1, False), (SESSION_MS, True)])
def test_a_session_expires_even_if_its_timer_is_late(waited_ms: int, *, is_over: bool) -> None:
    clock = LateClock()
    group = stable_group(clock)
    clock.advance(waited_ms)
    assert not group.is_empty
    group.remove_overdue_members()
    assert group.is_empty is is_over
