"""Listeners: opening them, holding their connections, and closing down with grace."""

import asyncio
from typing import TYPE_CHECKING

from shim.config import Config, ListenerConfig
from shim.connection import Connection
from shim.errors import ConfigError
from shim.logs import Log
from shim.state.cluster import Cluster

if TYPE_CHECKING:
    import ssl

log = Log("shim.server")

IDLE_CHECK_MS = 10_000


class Server:
    """The sockets of a cluster: each node has every listener, node 1 on the ports asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self._servers: list[asyncio.Server] = []
        self._connections: set[Connection] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._contexts: dict[str, ssl.SSLContext] = {}

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
                for listener in self.config.listeners:
                    await self._open(listener, node_id)
        except BaseException:
            await self.stop()
            raise
        self._sweep()

    async def _open(self, listener: ListenerConfig, node_id: int) -> None:
        port = 0 if listener.port == 0 else listener.port + node_id - 1
        loop = asyncio.get_running_loop()
        try:
            server = await loop.create_server(
                lambda: Connection(self, listener, node_id),
                listener.host,
                port,
                backlog=1024,
                ssl=self._tls(listener),
            )
        except OSError as error:
            raise ConfigError(
                f"listener {listener.name}: cannot listen on {listener.host}:{port}: "
                f"{error.strerror or error}; choose another port, or 0 for any free one"
            ) from error
        self._servers.append(server)
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
        for server in self._servers:
            server.close()
        self.close_connections()
        self._servers.clear()
        await asyncio.sleep(0)

    def close_connections(self) -> None:
        """Hang up on every client; answers that are written still go out."""
        for connection in list(self._connections):
            connection.shut_down()

    def accepts(self, connection: Connection) -> bool:
        """Take a connection in, unless there are too many."""
        self._connections.add(connection)
        return len(self._connections) <= self.config.limits.connections_max

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
