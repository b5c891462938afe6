"""A Deadline calls back unless it is restarted in time, and needs few timers."""

from collections.abc import Callable
from functools import partial

from hypothesis import given, strategies as st

from kafka_shim.shim.clock import Deadline, ManualClock, Timer

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("restart"), st.integers(0, 50)),
        st.tuples(st.just("advance"), st.integers(0, 60)),
        st.tuples(st.just("cancel"), st.just(0)),
    )
)


class Restarted:
    """The model of a Deadline: each restart cancels the timer and sets a new one."""

    def __init__(self, clock: ManualClock, callback: Callable[[], None]) -> None:
        self._clock, self._callback = clock, callback
        self._timer: Timer | None = None

    def restart(self, delay_ms: int) -> None:
        self.cancel()
        self._timer = self._clock.call_later(delay_ms, self._callback)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def note(calls: list[int], clock: ManualClock) -> None:
    calls.append(clock.now_ms())


@given(ACTIONS)
def test_it_calls_back_when_a_restarted_timer_would(actions: list[tuple[str, int]]) -> None:
    said: list[list[int]] = []
    for kind in (Restarted, Deadline):
        clock, calls = ManualClock(0), list[int]()
        timer = kind(clock, partial(note, calls, clock))
        for action, by_ms in actions:
            if action == "restart":
                timer.restart(by_ms)
            elif action == "advance":
                clock.advance(by_ms)
            else:
                timer.cancel()
        clock.advance(100)
        said.append(calls)
    assert said[0] == said[1]


class CountingClock(ManualClock):
    made = 0

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        self.made += 1
        return super().call_later(delay_ms, callback)


def test_many_restarts_set_few_timers() -> None:
    clock, lost = CountingClock(0), list[int]()
    deadline = Deadline(clock, lambda: lost.append(clock.now_ms()))
    for _ in range(1000):
        deadline.restart(100)
        clock.advance(1)
    assert (clock.made, lost) == (11, [])
    clock.advance(99)
    assert lost == [1099]
