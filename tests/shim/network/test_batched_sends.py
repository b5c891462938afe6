"""Responses of one turn of the event loop are sent together; how long they wait is limited."""

import asyncio
from collections.abc import Callable

from kafka_shim.shim.network.batched_sends import BATCH_MAX, WAIT_S, BatchedSends
from kafka_shim.shim.network.busy_polling import BusyPolling


class _Turn:
    """Connections that answer within one turn of the loop, each taking `takes_s`."""

    def __init__(self, connections: int, takes_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.sent: list[int] = []
        self.sent_when: list[list[int]] = []
        """The responses that had been sent after each connection answered."""
        self._takes_s = takes_s
        self._batched_sends = BatchedSends(lambda: self.now_s, BusyPolling(lambda: self.now_s))
        loop = asyncio.get_running_loop()
        self.is_over: asyncio.Future[None] = loop.create_future()
        self._connections = connections
        for number in range(connections):
            loop.call_soon(self._response, number)

    def _response(self, number: int) -> None:
        self.now_s += self._takes_s
        send: Callable[[], None] = lambda: self.sent.append(number)  # noqa: E731 - used twice
        if not self._batched_sends.postpone(send):
            send()
        self.sent_when.append(list(self.sent))
        if number == self._connections - 1:
            self.is_over.set_result(None)


async def _played(connections: int, takes_s: float = 0.0) -> _Turn:
    turn = _Turn(connections, takes_s)
    await turn.is_over
    return turn


def test_the_response_of_a_single_connection_is_sent_at_once() -> None:
    turn = asyncio.run(_played(1))
    assert turn.sent_when == [[0]]


def test_responses_of_a_turn_are_sent_in_order_with_the_last_one() -> None:
    turn = asyncio.run(_played(5))
    assert turn.sent == list(range(5))
    assert turn.sent_when[:3] == [[]] * 3


def test_the_number_of_waiting_responses_is_limited() -> None:
    turn = asyncio.run(_played(3 * BATCH_MAX))
    assert turn.sent == list(range(3 * BATCH_MAX))
    assert turn.sent_when[BATCH_MAX - 1] == list(range(BATCH_MAX))


def test_the_time_that_responses_wait_is_limited() -> None:
    turn = asyncio.run(_played(6, takes_s=WAIT_S * 0.6))
    assert turn.sent == list(range(6))
    assert turn.sent_when[2] == [0, 1, 2]
