"""Clocks, timers and waits for delayed responses."""

import asyncio

import pytest
from confluent_kafka import Consumer, TopicPartition

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.system_clock import ClientsManualClock, SystemClock
from kafka_shim.shim.wait import PendingResponse
from kafka_shim.testing import start


def test_manual_clock_fires_due_timers_in_order_at_their_own_time() -> None:
    clock = ManualClock(1_000)
    seen: list[tuple[str, int]] = []
    clock.call_later(30, lambda: seen.append(("late", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early", clock.now_ms())))
    clock.call_later(10, lambda: seen.append(("early too", clock.now_ms())))
    clock.advance(20)
    assert seen == [("early", 1_010), ("early too", 1_010)]
    assert clock.now_ms() == 1_020
    clock.advance(10)
    assert seen[-1] == ("late", 1_030)


def test_a_timer_set_by_a_timer_fires_in_the_same_advance() -> None:
    clock = ManualClock(0)
    seen: list[int] = []

    def again() -> None:
        clock.call_later(5, lambda: seen.append(clock.now_ms()))

    clock.call_later(5, again)
    clock.advance(10)
    assert seen == [10]


@pytest.mark.asyncio
async def test_a_wait_of_a_client_ends_once_by_whichever_clock_is_first() -> None:
    clock = ClientsManualClock()
    seen: list[str] = []
    clock.call_after_wait(1, lambda: seen.append("real"))
    clock.call_after_wait(60_000, lambda: seen.append("advanced"))
    clock.call_after_wait(1, lambda: seen.append("called off")).cancel()
    await asyncio.sleep(0.05)
    assert (seen, clock.fired_timers) == (["real"], 1)
    clock.advance(60_000)
    assert seen == ["real", "advanced"]


@pytest.mark.client
def test_an_idle_consumer_gets_responses_while_the_manual_clock_stands_still() -> None:
    """Its requests wait behind its Fetch, whose wait therefore ends in real time."""
    with start(manual_clock=True, topics=["orders"], in_process=True) as broker:
        before_ms = broker.clock.now_ms()
        consumer = Consumer({"bootstrap.servers": broker.bootstrap_servers, "group.id": "g"})
        partition = TopicPartition("orders", 0, 0)
        consumer.assign([partition])
        assert consumer.poll(1) is None
        assert consumer.get_watermark_offsets(partition, timeout=5, cached=False) == (0, 0)
        consumer.close()
        assert broker.clock.now_ms() == before_ms


def test_timers_set_before_the_loop_runs_start_with_it() -> None:
    clock = SystemClock()
    seen: list[str] = []
    clock.call_later(0, lambda: seen.append("called off")).cancel()
    clock.call_later(0, lambda: seen.append("due"))

    async def begin() -> None:
        clock.start_early_timers()
        clock.call_later(0, asyncio.get_running_loop().stop)

    loop = asyncio.new_event_loop()
    task = loop.create_task(begin())
    loop.run_forever()
    assert task.done()
    loop.close()
    assert seen == ["due"]


def test_cancelled_timer_does_not_fire() -> None:
    clock = ManualClock(0)
    seen: list[int] = []
    clock.call_later(5, lambda: seen.append(1)).cancel()
    clock.advance(10)
    assert seen == []


def test_cancelled_timers_are_forgotten_while_time_stands_still() -> None:
    clock = ManualClock(0)
    seen: list[int] = []
    kept = clock.call_later(5, lambda: seen.append(clock.now_ms()))
    for _ in range(10_000):
        clock.call_later(1, lambda: seen.append(1)).cancel()
    assert len(clock._timers) < 300
    clock.advance(10)
    kept.cancel()
    assert seen == [5]


def test_only_the_first_result_completes_a_wait() -> None:
    wait: PendingResponse[str] = PendingResponse()
    seen: list[str] = []
    wait.set_response_callback(seen.append)
    wait.complete("first")
    wait.complete("second")
    assert seen == ["first"]
    assert wait.is_finished


def test_a_wait_may_be_completed_before_its_callback_is_set() -> None:
    wait: PendingResponse[str] = PendingResponse()
    wait.complete("now")
    seen: list[str] = []
    wait.set_response_callback(seen.append)
    assert seen == ["now"]


def test_a_cancelled_wait_calls_on_cancel_once_and_accepts_no_result() -> None:
    cancelled: list[bool] = []
    wait: PendingResponse[str] = PendingResponse(on_cancel=lambda: cancelled.append(True))
    seen: list[str] = []
    wait.set_response_callback(seen.append)
    wait.cancel()
    wait.cancel()
    wait.complete("too late")
    assert cancelled == [True]
    assert seen == []
