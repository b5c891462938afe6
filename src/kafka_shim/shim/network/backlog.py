"""How many clients may wait to be taken in, and how many are taken in at a time."""

import asyncio
import socket

ONE_AT_A_TIME = 1
"""backlog=1 for asyncio: when file descriptors run out, asyncio retries accept `backlog` times and
reschedules each, so that a large backlog grows exponentially.
"""
WAITING = 1024
"""How many may wait, where the system allows as many."""


def raise_backlog(server: asyncio.Server) -> None:
    """Let as many clients wait for a server as the system may hold for it."""
    for listening in server.sockets:
        with socket.fromfd(listening.fileno(), listening.family, listening.type) as same:
            same.listen(WAITING)
