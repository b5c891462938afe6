"""Listeners for clients, with one coroutine for each connection."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Coroutine

from kafka_shim.shim.network.listening_sockets import ONE_AT_A_TIME, increase_backlog

Address = tuple[str, int]
ClientHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


def address_text(address: Address) -> str:
    """Return HOST:PORT, with brackets around an IPv6 address."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class ClientListeners:
    """Accepts clients on several addresses; `close` ends all connections."""

    def __init__(
        self,
        tls: ssl.SSLContext | None = None,
        reader_class: type[asyncio.StreamReader] = asyncio.StreamReader,
    ) -> None:
        self._tls = tls
        self._reader_class = reader_class
        self._bound: list[socket.socket] = []
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def listen(self, address: Address, on_client: ClientHandler) -> Address:
        """Bind immediately, so that the address is known; accept connections soon after.

        Raise OSError if the address cannot be bound.
        """
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        bound = socket.create_server(address, family=family)
        self._bound.append(bound)
        self._track_task(self._accept_connections(bound, on_client))
        host, port = bound.getsockname()[:2]
        return host, port

    async def close(self) -> None:
        """Close the listeners and all connections."""
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for bound in self._bound:  # a server that was not started yet has not closed its own
            bound.close()

    async def _accept_connections(self, bound: socket.socket, on_client: ClientHandler) -> None:
        async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # asyncio does so only for sockets that it creates itself
            writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = self._track_task(on_client(reader, writer))
            with contextlib.suppress(asyncio.CancelledError):
                await connection

        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            lambda: asyncio.StreamReaderProtocol(self._reader_class(loop=loop), accept, loop=loop),
            sock=bound,
            backlog=ONE_AT_A_TIME,
            ssl=self._tls,
        )
        increase_backlog(server)
        self._servers.append(server)

    def _track_task(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
