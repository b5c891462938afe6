"""The backlog of listening sockets, and the reserved port of a stopped broker."""

import asyncio
import contextlib
import os
import socket
from typing import Any

ONE_AT_A_TIME = 1
"""backlog=1 for asyncio: when file descriptors run out, asyncio retries accept `backlog` times and
reschedules each, so that a large backlog grows exponentially.
"""
LISTEN_BACKLOG = 1024
"""The listen backlog, where the system allows as much."""


def increase_backlog(server: asyncio.Server) -> None:
    """Raise the listen backlog of a server's sockets to LISTEN_BACKLOG."""
    for listening in server.sockets:
        with socket.fromfd(listening.fileno(), listening.family, listening.type) as duplicate:
            duplicate.listen(LISTEN_BACKLOG)


Address = tuple[Any, ...]
"""Host, port and, for IPv6, what else `getsockname` gives."""


class ReservedPort:
    """Bound, as far as the system allows it, but not listening: no other process can bind it, and
    connections to it are rejected.
    """

    def __init__(self, family: socket.AddressFamily, address: Address) -> None:
        self.family = family
        self.address = address
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere, the option would let another process bind it
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            self._socket.bind(address)

    @property
    def port(self) -> int:
        return int(self.address[1])

    def close(self) -> None:
        self._socket.close()
