"""Where the time of a request goes: microseconds of the shim, by stage.

The handling is timed in this process, up to each stage in turn; the differences are shown. Reading
and writing are the system calls that take so many requests, and send their responses, on a socket.
With one request in flight, the broker waits while the client works. The rest of a row's time is the
event loop, the connection, waking, and caches that are colder than those of a loop over one stage.
"""

import socket
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from benchmarks.against.goals import Row
from benchmarks.against.kinds import KINDS
from benchmarks.against.stages import STAGES, InProcess, Prepared, deciding, prepared

BATCHES, BATCH = 10, 200
"""A figure is the mean of the fastest batch. The size is even, since requests may come in pairs."""
PIECE = 64 * 1024
"""What is sent at once, as by the shim's connections."""


class Cost(NamedTuple):
    """A row, and microseconds of a request by stage, which add up to the row's time."""

    row: Row
    stages: dict[str, float]


def costs(rows: Sequence[Row]) -> list[Cost]:
    """Return where the time of requests goes."""
    return [Cost(row, _stages(row)) for row in rows]


def _stages(row: Row) -> dict[str, float]:
    kind = next(kind for kind in KINDS if kind.name == row.kind)
    broker = prepared()
    frames = kind.frames(broker.setting, different=row.different)
    asked = list(islice(frames, BATCH))
    responses = [InProcess(broker.dispatcher, "alice").ask(frame) for frame in asked]
    depth = int(row.mode.removeprefix("depth "))
    reading, writing = _socket_us(asked, responses, depth)
    found = {"read": reading, **_handling_us(broker, frames), "write": writing}
    found["client"] = row.taken["shim"]["client"] if depth == 1 else 0.0
    return found | {"rest": row.taken["shim"]["clock"] - sum(found.values())}


def _handling_us(broker: Prepared, frames: Iterator[bytes]) -> dict[str, float]:
    """Return the microseconds of each stage, without those before it."""
    fastest = {stage.name: float("inf") for stage in STAGES}
    for _ in range(BATCHES):
        for stage in STAGES:
            batch = [frame[4:] for frame in islice(frames, BATCH)]
            with deciding(stage):
                took_us = _timed_us(partial(broker.work, stage.work), batch)
            fastest[stage.name] = min(fastest[stage.name], took_us)
    totals = list(fastest.values())
    return {
        name: total - before
        for name, total, before in zip(fastest, totals, [0.0, *totals], strict=False)
    }


def _timed_us(work: Callable[[bytes], object], pieces: Sequence[bytes]) -> float:
    began = time.perf_counter()
    for piece in pieces:
        work(piece)
    return (time.perf_counter() - began) / len(pieces) * 1e6


def _socket_us(
    frames: Sequence[bytes], responses: Sequence[bytes], depth: int
) -> tuple[float, float]:
    """Return the microseconds of a request for reading it, and for writing its response."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        served, _ = server.accept()
    with client, served:
        for peer in (client, served):
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rounds = [
            (
                _moved_us(client, served, frames, depth)[1],
                _moved_us(served, client, responses, depth)[0],
            )
            for _ in range(BATCHES)
        ]
    reading, writing = zip(*rounds, strict=True)
    return min(reading), min(writing)


def _moved_us(
    sender: socket.socket, receiver: socket.socket, messages: Sequence[bytes], depth: int
) -> tuple[float, float]:
    """Return the microseconds of a message for sending and for receiving it."""
    room = memoryview(bytearray(PIECE))
    sent_s = received_s = 0.0
    for at in range(0, len(messages), depth):
        joined = b"".join(messages[at : at + depth])
        for start in range(0, len(joined), PIECE):
            piece = joined[start : start + PIECE]
            began = time.perf_counter()
            sender.sendall(piece)
            sent, left = time.perf_counter(), len(piece)
            while left:
                left -= receiver.recv_into(room[:left])
            sent_s += sent - began
            received_s += time.perf_counter() - sent
    return sent_s / len(messages) * 1e6, received_s / len(messages) * 1e6
