"""The reserved port of a stopped broker: no other process can bind it, connections are refused."""

import contextlib
import socket
from typing import Any

Address = tuple[Any, ...]
"""Host, port and, for IPv6, what else `getsockname` gives."""


class ReservedPort:
    """Bound, as far as the system allows it, but not listening."""

    def __init__(self, family: socket.AddressFamily, address: Address) -> None:
        self.family = family
        self.address = address
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            self._socket.bind(address)

    @property
    def port(self) -> int:
        return int(self.address[1])

    def close(self) -> None:
        self._socket.close()
