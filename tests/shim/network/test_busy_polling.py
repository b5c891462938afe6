"""The event loop polls for requests only after responses that follow each other soon."""

import asyncio
from collections.abc import Iterable

import pytest

from kafka_shim.shim.network.batched_sends import BatchedSends
from kafka_shim.shim.network.busy_polling import PAUSE, POLLED_S, SOON_S, BusyPolling

SOON, LATER = SOON_S / 2, SOON_S * 2


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


async def polled_after(gaps_s: Iterable[float], *, is_enabled: bool = True) -> list[bool]:
    """Return after which responses it polls; the gaps are before each of them.

    Polling ends before the next response if the gap is longer than it polls.
    """
    clock = Clock()
    polling = BusyPolling(clock)
    if is_enabled:
        polling.enable()
    found = []
    for gap_s in gaps_s:
        clock.now_s += gap_s
        for _ in range(3):
            await asyncio.sleep(0)
        if polling.is_enabled:
            polling.poll()
        found.append(polling.is_polling)
    return found


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)


def test_it_polls_once_requests_come_soon_and_as_long_as_they_do() -> None:
    gaps = [LATER, SOON, *[POLLED_S / 2] * 100]
    assert asyncio.run(polled_after(gaps)) == [False, *[True] * 101]


def test_it_does_not_poll_for_requests_that_come_later() -> None:
    assert asyncio.run(polled_after([LATER] * 100)) == [False] * 100


def test_it_pauses_after_no_request_came() -> None:
    found = asyncio.run(polled_after([LATER, SOON, *[POLLED_S * 1.1] * (PAUSE + 1)]))
    assert found == [False, True, *[False] * PAUSE, True]


def test_it_does_not_poll_in_processes_of_others_or_with_one_processor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert asyncio.run(polled_after([SOON] * 9, is_enabled=False)) == [False] * 9
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert asyncio.run(polled_after([SOON] * 9)) == [False] * 9


def test_responses_do_not_wait_for_the_polling() -> None:
    async def others_are_ready() -> tuple[bool, bool]:
        polling = BusyPolling(Clock())
        polling.enable()
        sends = BatchedSends(Clock(), polling)
        for _ in range(2):
            polling.poll()
        assert polling.is_polling
        return sends.others_are_ready(), sends.postpone(lambda: None)

    assert asyncio.run(others_are_ready()) == (False, False)
