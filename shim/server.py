"""Listeners: opening them, holding their connections, and closing down with grace."""

import asyncio
import errno
import os
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shim.backlog import ONE_AT_A_TIME, deepen
from shim.config import Config, ListenerConfig
from shim.connection import Connection
from shim.errors import ConfigError
from shim.kept_port import KeptPort
from shim.logs import Log
from shim.state.cluster import Cluster

if TYPE_CHECKING:
    import ssl

log = Log("shim.server")

IDLE_CHECK_MS = 10_000
_RECEIVED_BYTES_MAX = 256 * 1024
"""At a time, which is what asyncio would make room for anew each time."""


class Server:
    """The sockets of a cluster: each node has every listener, node 1 on the ports asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._servers: dict[int, list[asyncio.Server]] = {}  # by node
        self._kept: dict[int, list[KeptPort]] = {}  # of nodes that are closed
        self._connections: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.received = memoryview(bytearray(_RECEIVED_BYTES_MAX))

    @property
    def config(self) -> Config:
        return self.cluster.config

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return len(self._connections)

    async def start(self) -> None:
        """Bind every listener; raises ConfigError, with nothing left open, if one cannot be."""
        try:
            for node_id in self.cluster.nodes:
                await self._open_node(
                    node_id, [_port(one, node_id) for one in self.config.listeners]
                )
        except BaseException:
            await self.stop()
            raise
        self._sweep()

    async def _open_node(self, node_id: int, ports: Sequence[int]) -> None:
        for listener, port in zip(self.config.listeners, ports, strict=True):
            await self._open(listener, node_id, port)

    async def close_node(self, node_id: int) -> None:
        """Stop a node's listeners and hang up on its clients; connecting to it is refused."""
        loop = asyncio.get_running_loop()
        for server in self._servers.get(node_id, []):
            for listening in server.sockets:
                loop.remove_reader(listening.fileno())
        for _ in range(2):  # whom asyncio is just taking in, it does not let go of
            await asyncio.sleep(0)
        self._kept[node_id] = self._unbind(node_id)
        self.close_connections(node_id)

    def is_closed(self, node_id: int) -> bool:
        return node_id in self._kept

    async def reopen_node(self, node_id: int) -> None:
        """Bind the ports of a closed node again; if one cannot be it stays closed (ConfigError)."""
        kept = self._kept.pop(node_id)
        for one in kept:
            one.close()
        try:
            await self._open_node(node_id, [one.port for one in kept])
        except BaseException:
            for one in self._unbind(node_id):
                one.close()
            self._kept[node_id] = [KeptPort(one.family, one.address) for one in kept]
            raise

    def _unbind(self, node_id: int) -> list[KeptPort]:
        """Close the listening sockets of a node, but keep their ports."""
        kept = []
        for server in self._servers.pop(node_id, []):
            family, address = server.sockets[0].family, server.sockets[0].getsockname()
            server.close()
            kept.append(KeptPort(family, address))
        return kept

    async def _open(self, listener: ListenerConfig, node_id: int, port: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: Connection(self, listener, node_id),
                listener.host,
                port,
                backlog=ONE_AT_A_TIME,
                ssl=self._tls(listener),
            )
        except OSError as error:
            raise ConfigError(
                f"listener {listener.name}: cannot listen on {listener.host}:{port}: {_why(error)}"
            ) from error
        deepen(server)
        self._servers.setdefault(node_id, []).append(server)
        bound = server.sockets[0].getsockname()
        endpoint = (bound[0], bound[1])
        if listener.advertised is not None:
            host, first_port = listener.advertised
            endpoint = (host, first_port + node_id - 1)
        self.cluster.nodes[node_id].endpoints[listener.name] = endpoint

    def _tls(self, listener: ListenerConfig) -> "ssl.SSLContext | None":
        """One context a listener, shared by its nodes; nothing of TLS is imported without one."""
        if not listener.protocol.tls:
            return None
        if listener.name not in self._contexts:
            from shim.tls.context import server_context  # noqa: PLC0415 - see above

            self._contexts[listener.name] = server_context(
                self.config.properties, listener.name, listener.host
            )
        return self._contexts[listener.name]

    async def stop(self) -> None:
        """Stop listening, let written answers go out, close every connection."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for servers in self._servers.values():
            for server in servers:
                server.close()
        for kept in self._kept.values():
            for one in kept:
                one.close()
        self.close_connections()
        self._servers.clear()
        self._kept.clear()
        await asyncio.sleep(0)

    def close_connections(self, node_id: int | None = None) -> None:
        """Hang up on every client, or on those of a node; answers that are written still go out."""
        for connection in list(self._connections):
            if node_id in (None, connection.node_id):
                connection.shut_down()

    def accepts(self, connection: Connection) -> bool:
        """Take a connection in, unless there are too many, or its node was closed meanwhile."""
        self._connections.add(connection)
        is_late = self.is_closed(connection.node_id)
        return len(self._connections) <= self.config.limits.connections_max and not is_late

    def forget(self, connection: Connection) -> None:
        self._connections.discard(connection)

    def _sweep(self) -> None:
        """Close what has been idle for too long, now and then."""
        oldest_ms = self.cluster.clock.now_ms() - self.config.limits.idle_ms_max
        for connection in list(self._connections):
            if connection.last_used_ms < oldest_ms:
                connection.shut_down()
        loop = asyncio.get_running_loop()
        self._sweeper = loop.call_later(IDLE_CHECK_MS / 1000, self._sweep)


def _why(error: OSError) -> str:
    """In short what asyncio says at length, and what to do about it."""
    if isinstance(error, socket.gaierror) or error.errno is None:
        return f"{error.strerror or error}"
    said = os.strerror(error.errno).lower()
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return f"{said}; choose another port, or 0 for any free one"
    return said


def _port(listener: ListenerConfig, node_id: int) -> int:
    """The port that a node's listener is to have; 0: any free one."""
    return 0 if listener.port == 0 else listener.port + node_id - 1
