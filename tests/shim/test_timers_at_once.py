"""Timers that are due at the same moment, and long rounds, do not block the event loop."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from functools import partial

import pytest

from kafka_shim.shim import system_clock
from kafka_shim.shim.clock import Clock, ManualClock, Timer
from kafka_shim.shim.config import Config
from kafka_shim.shim.control import time_slicing as in_turns_module
from kafka_shim.shim.control.time_slicing import run_steps_in_time_slices as run_in_slices
from kafka_shim.shim.state import periodic_work as rounds_module
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.system_clock import SystemClock
from tests.shim.state.groups.joining import join_request

TICK = "tick"
JOINING = join_request(session_timeout_ms=1)


@pytest.fixture(autouse=True)
def _short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """End every turn after one step."""
    for module in (in_turns_module, system_clock, rounds_module):
        monkeypatch.setattr(module, "SLICE_S", -1.0)


def seen_by_others(begin: Callable[[Clock, list[str]], None], ticks: int = 30) -> list[str]:
    """Return what happens in its order, with a TICK for each turn of the event loop."""
    seen: list[str] = []

    async def run() -> None:
        begin(SystemClock(), seen)
        time.sleep(0.002)  # noqa: ASYNC251 - all timers are due in one iteration
        for _ in range(ticks):
            seen.append(TICK)
            await asyncio.sleep(0)

    asyncio.run(run(), debug=False)
    return seen


def longest_run(seen: list[str]) -> int:
    """Return the largest number of events between two ticks."""
    found = "".join("t" if what == TICK else "x" for what in seen)
    return max(map(len, found.split("t")))


def test_timers_that_are_due_at_once_fire_in_turns() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        for number in range(20):
            clock.call_later(1, partial(seen.append, str(number)))

    seen = seen_by_others(begin)
    assert [what for what in seen if what != TICK] == [str(number) for number in range(20)]
    assert longest_run(seen) == 1


def test_a_timer_can_be_cancelled_while_it_waits_for_its_turn() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        timers: list[Timer] = []

        def cancel() -> None:
            timers[0].cancel()

        clock.call_later(1, cancel)
        clock.call_later(1, lambda: seen.append("second"))
        timers.append(clock.call_later(1, lambda: seen.append("last")))

    assert set(seen_by_others(begin)) == {TICK, "second"}


def test_a_failing_timer_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        clock.call_later(1, lambda: seen.remove("nothing"))
        clock.call_later(1, lambda: seen.append("second"))

    assert "second" in seen_by_others(begin)
    assert "ValueError" in caplog.text


def test_transactions_that_time_out_at_once_end_in_turns() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        cluster = Cluster(
            Config(properties={"transaction.abort.timed.out.transaction.cleanup.interval.ms": "1"}),
            clock,
        )
        cluster.topics.create_topic("t", [[1]] * 10, {})
        for number in range(10):
            name = f"tx{number}"
            _, producer_id, epoch = cluster.transactions.init_producer_id(name, 1, -1, -1)
            partitions = [("t", index) for index in range(10)]
            cluster.transactions.add_partitions(name, producer_id, epoch, partitions)
        cluster.transactions.when_touched = seen.append

    seen = seen_by_others(begin)
    assert {what for what in seen if what != TICK} == {f"tx{number}" for number in range(10)}
    assert longest_run(seen) == 1


def test_members_whose_sessions_expire_at_once_are_removed_in_turns() -> None:
    def begin(clock: Clock, seen: list[str]) -> None:
        cluster = Cluster(Config(properties={"group.min.session.timeout.ms": "1"}), clock)
        for number in range(10):
            cluster.member_requests.handle_join(f"g{number}", JOINING, lambda _: None)
            group = cluster.groups.find_group_if_classic(f"g{number}")
            assert group is not None
            group.rebalance.remove_member_reject_pending_and_rebalance = (  # type: ignore[method-assign]
                lambda member: seen.append(member.member_id)
            )
            for member in group.roster.members.values():
                group.rebalance.restart_session_timeout(member)

    seen = seen_by_others(begin)
    assert len({what for what in seen if what != TICK}) == 10
    assert longest_run(seen) == 1


def advanced(clock: ManualClock, *steps: Coroutine[None, None, None]) -> int:
    """Run the steps at the same time; return the number of turns of the event loop."""
    slices = 0

    async def run() -> None:
        nonlocal slices
        going = asyncio.gather(*steps)
        while not going.done():
            slices += 1
            await asyncio.sleep(0)

    asyncio.run(run())
    return slices


def test_advancing_the_clock_by_a_long_time_does_not_block_the_loop() -> None:
    clock = ManualClock(0)
    seen: list[int] = []
    for number in range(20):
        clock.call_later(number, lambda: seen.append(clock.now_ms()))
    assert advanced(clock, run_in_slices(clock.advance_in_steps(100))) >= 20
    assert seen == list(range(20))
    assert clock.now_ms() == 100


def test_two_simultaneous_advances_add_up() -> None:
    clock = ManualClock(0)
    seen: list[int] = []
    for number in range(20):
        clock.call_later(number * 10, lambda: seen.append(clock.now_ms()))
    advanced(
        clock, run_in_slices(clock.advance_in_steps(100)), run_in_slices(clock.advance_in_steps(50))
    )
    assert clock.now_ms() == 150
    assert seen == list(range(0, 151, 10))


class Work:
    """Rounds over some items; a round ends with the last one."""

    def __init__(self, clock: ManualClock, items: int) -> None:
        self.left = items
        self.seen: list[str] = []
        self.rounds = PeriodicWork(clock, lambda: 1000, self._round)

    def _round(self) -> Iterator[bool]:
        for number in range(self.left):
            self.seen.append(str(number))
            yield number < self.left - 1


def test_a_round_is_done_in_turns_and_the_next_one_follows() -> None:
    clock = ManualClock(0)
    work = Work(clock, 5)
    work.rounds.schedule_next_round()
    clock.call_later(1000, lambda: work.seen.append("another"))
    clock.advance(1000)
    assert work.seen == ["0", "another", "1", "2", "3", "4"]
    work.left = 1
    clock.advance(1000)
    assert work.seen[6:] == ["0"]
    clock.advance(5000)
    assert work.seen[7:] == []


def test_a_round_stopped_between_two_turns_does_not_continue() -> None:
    clock = ManualClock(0)
    work = Work(clock, 5)
    work.rounds.schedule_next_round()
    clock.call_later(1000, work.rounds.stop_timer)
    clock.advance(5000)
    assert work.seen == ["0"]
