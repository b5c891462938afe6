"""Responses that are sent together: when they wait, and how long at most."""

import asyncio
from collections.abc import Callable

from kafka_shim.shim.network.outbox import MANY, WAIT_S, Outbox


class _Turn:
    """Connections that answer within one turn of the loop, each taking `takes_s`."""

    def __init__(self, connections: int, takes_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.sent: list[int] = []
        self.sent_when: list[list[int]] = []
        """What had been sent after each of them."""
        self._takes_s = takes_s
        self._outbox = Outbox(lambda: self.now_s)
        loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = loop.create_future()
        self._connections = connections
        for number in range(connections):
            loop.call_soon(self._answer, number)

    def _answer(self, number: int) -> None:
        self.now_s += self._takes_s
        send: Callable[[], None] = lambda: self.sent.append(number)  # noqa: E731 - a name for both
        if not self._outbox.takes(send):
            send()
        self.sent_when.append(list(self.sent))
        if number == self._connections - 1:
            self.over.set_result(None)


async def _played(connections: int, takes_s: float = 0.0) -> _Turn:
    turn = _Turn(connections, takes_s)
    await turn.over
    return turn


def test_a_connection_alone_does_not_wait() -> None:
    turn = asyncio.run(_played(1))
    assert turn.sent_when == [[0]]


def test_all_of_a_turn_leave_in_order_with_the_last() -> None:
    turn = asyncio.run(_played(5))
    assert turn.sent == list(range(5))
    assert turn.sent_when[:3] == [[]] * 3


def test_many_do_not_wait_for_more() -> None:
    turn = asyncio.run(_played(3 * MANY))
    assert turn.sent == list(range(3 * MANY))
    assert turn.sent_when[MANY - 1] == list(range(MANY))


def test_slow_requests_of_others_are_not_waited_for() -> None:
    turn = asyncio.run(_played(6, takes_s=WAIT_S * 0.6))
    assert turn.sent == list(range(6))
    assert turn.sent_when[2] == [0, 1, 2]
