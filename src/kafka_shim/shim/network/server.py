"""Listeners: opening them, holding their connections, and closing down with grace."""

import asyncio
import errno
import os
import socket
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from kafka_shim.shim.config import Config, ListenerConfig
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.errors import UnavailableError
from kafka_shim.shim.network.batched_sends import BatchedSends
from kafka_shim.shim.network.busy_polling import BusyPolling
from kafka_shim.shim.network.close_log import CloseLog
from kafka_shim.shim.network.connection import Connection
from kafka_shim.shim.network.connection_quotas import ConnectionQuotas
from kafka_shim.shim.network.listening_sockets import ONE_AT_A_TIME, ReservedPort, increase_backlog
from kafka_shim.shim.network.protocols import ManagedConnection
from kafka_shim.shim.network.resource_limits import (
    PendingHandshakes,
    RequestMemory,
    limits_with_broker_settings,
)
from kafka_shim.text.logs import Log

if TYPE_CHECKING:
    from kafka_shim.shim.network.listener_stores import ListenerStores

log = Log("shim.server")

IDLE_CHECK_MS = 10_000
_LAST_TURNS = 5
"""Turns of the loop that asyncio needs to make and close a connection that it was accepting."""
_ABORT_POLLS = 100
_LEFT_PORTS_MAX = 64
"""Each takes a file descriptor, of which macOS allows 256 by default."""
_RECEIVED_BYTES_MAX = 256 * 1024
"""At a time, which is what asyncio would make room for anew each time."""


class Server:
    """The sockets of a cluster: each node has every listener, the first one on the given ports."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.cluster = dispatcher.cluster
        self._servers: dict[int, list[asyncio.Server]] = {}  # by node
        self._reserved_ports: dict[int, list[ReservedPort]] = {}  # of nodes that are closed
        self._left_ports: deque[ReservedPort] = deque(maxlen=_LEFT_PORTS_MAX)
        self._connections: set[ManagedConnection] = set()
        self.accepted_count = 0
        """The number of connections that clients have opened."""
        self._overdue_check_timer: asyncio.TimerHandle | None = None
        self._is_stopped = False
        self._stores: ListenerStores | None = None
        self.receive_buffer = memoryview(bytearray(_RECEIVED_BYTES_MAX))
        self.quotas = ConnectionQuotas(self.cluster)
        self.close_log = CloseLog(self.cluster.clock)
        self.clock_s = time.perf_counter
        self.busy_polling = BusyPolling(self.clock_s)
        self.batched_sends = BatchedSends(self.clock_s, self.busy_polling)
        self.limits = limits_with_broker_settings(self.cluster)
        self.request_memory = RequestMemory(self.limits.queued_bytes_max)
        self.handshakes = PendingHandshakes(self.limits.handshakes_max)

    @property
    def config(self) -> Config:
        return self.cluster.config

    @property
    def connection_count(self) -> int:
        """Return the number of connected clients."""
        return len(self._connections)

    async def start(self) -> None:
        """Bind every listener. Raise ConfigError, with none left open, if one cannot be bound."""
        self._is_stopped = False
        try:
            for index, node_id in enumerate(self.cluster.nodes):
                await self._open_node(
                    node_id,
                    [listener.port_of_nth_broker(index) for listener in self.config.listeners],
                )
        except BaseException:
            await self.stop()
            raise
        self._enforce_limits_periodically()

    async def _open_node(self, node_id: int, ports: Sequence[int]) -> None:
        for listener, port in zip(self.config.listeners, ports, strict=True):
            await self._open_listener(listener, node_id, port)

    async def close_node(self, node_id: int) -> None:
        """Stop a node's listeners and hang up on its clients; connecting to it is refused."""
        await _stop_accepting_without_closing(self._servers.get(node_id, []))
        self._reserved_ports[node_id] = self._reserve_node_ports(node_id)
        self.close_connections(node_id)

    def is_node_closed(self, node_id: int) -> bool:
        return node_id in self._reserved_ports

    async def move_to_new_ports(self) -> None:
        """Close all connections, and listen on other free ports; configured ports stay.

        All nodes close first, since each would tell its clients the new addresses of the others.
        Raise ConfigError if no port is free.
        """
        moved = [listener for listener in self.config.listeners if listener.has_ephemeral_ports]
        nodes = list(self._servers)
        for node_id in nodes:
            await self.close_node(node_id)
        for node_id in nodes:
            await self.reopen_node(node_id, moved=moved)

    async def reopen_node(self, node_id: int, *, moved: Collection[ListenerConfig] = ()) -> None:
        """Bind the ports of a closed node again; `moved` listeners take other free ones. Raise
        ConfigError if that fails; then it stays closed.
        """
        reserved = self._reserved_ports.pop(node_id)
        ports = [
            0 if listener in moved else port.port
            for listener, port in zip(self.config.listeners, reserved, strict=True)
        ]
        try:
            for port, new_port in zip(reserved, ports, strict=True):
                if new_port:
                    port.close()
                else:
                    self._reserve_former_port(port)
            await self._open_node(node_id, ports)
        except BaseException:
            for port in self._reserve_node_ports(node_id):
                port.close()
            self._reserved_ports[node_id] = [
                ReservedPort(port.family, port.address) for port in reserved
            ]
            raise

    def _reserve_former_port(self, port: ReservedPort) -> None:
        """Reserve a port, also from other processes, while clients may still try it."""
        if len(self._left_ports) == self._left_ports.maxlen:
            self._left_ports.popleft().close()
        self._left_ports.append(port)

    def _reserve_node_ports(self, node_id: int) -> list[ReservedPort]:
        """Close the listening sockets of a node, but keep their ports."""
        reserved = []
        for server in self._servers.pop(node_id, []):
            family, address = server.sockets[0].family, server.sockets[0].getsockname()
            server.close()
            reserved.append(ReservedPort(family, address))
        return reserved

    async def _open_listener(self, listener: ListenerConfig, node_id: int, port: int) -> None:
        try:
            server = await self._bind_addresses(listener, node_id, port)
            self._servers.setdefault(node_id, []).append(server)
            increase_backlog(server)
        except OSError as error:
            raise UnavailableError(
                f"listener {listener.name}: cannot listen on {listener.host}:{port}:"
                f" {_bind_error_text(error)}"
            ) from error
        node = self.cluster.nodes[node_id]
        endpoint = (listener.host, server.sockets[0].getsockname()[1])
        node.bound[listener.name] = endpoint
        if listener.advertised is not None:
            host, first_port = listener.advertised
            advertised_port = first_port + [*self.cluster.nodes].index(node_id)
            endpoint = (host, advertised_port if first_port else endpoint[1])
        node.endpoints[listener.name] = endpoint
        self.dispatcher.cluster.state_version.count_possible_change()

    async def _bind_addresses(
        self, listener: ListenerConfig, node_id: int, port: int
    ) -> asyncio.Server:
        """Bind all addresses of the listener's host to one port, also if that is any free one."""
        free_port = port
        while True:
            try:
                server = await asyncio.get_running_loop().create_server(
                    self._protocol_factory(listener, node_id),
                    listener.host,
                    free_port,
                    backlog=ONE_AT_A_TIME,
                )
            except OSError:
                if free_port == port:
                    raise
                free_port = port  # somebody else has it at another address; try another one
                continue
            if not server.sockets:  # asyncio passes over the error of making one
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            ports = {listening.getsockname()[1] for listening in server.sockets}
            if len(ports) == 1:
                return server
            server.close()  # a host of several addresses, such as localhost, has a port of each
            free_port = ports.pop()

    def _protocol_factory(
        self, listener: ListenerConfig, node_id: int
    ) -> Callable[[], asyncio.BaseProtocol]:
        """Return what makes connections; nothing of TLS is imported without such a listener."""
        if not listener.protocol.uses_tls:
            return lambda: Connection(self, listener, node_id)
        from kafka_shim.shim.network.tls_connection import TlsConnection  # noqa: PLC0415 - as said

        stores = self._listener_stores()
        stores.add(listener)
        return lambda: TlsConnection(
            self, listener, node_id, stores.context(listener.name, node_id)
        )

    def _listener_stores(self) -> "ListenerStores":
        """Return the TLS contexts of all listeners, made for the first TLS listener."""
        if self._stores is None:
            from kafka_shim.shim.network.listener_stores import ListenerStores  # noqa: PLC0415 - as said

            self._stores = ListenerStores(self.cluster)
        return self._stores

    async def stop(self) -> None:
        """Stop listening, let written responses go out, close every connection."""
        self._is_stopped = True
        if self._overdue_check_timer is not None:
            self._overdue_check_timer.cancel()
        servers = [server for of_node in self._servers.values() for server in of_node]
        await _stop_accepting_without_closing(servers)
        for server in servers:
            server.close()
        for port in chain(self._left_ports, *self._reserved_ports.values()):
            port.close()
        self.close_connections()
        self._servers.clear()
        self._reserved_ports.clear()
        self._left_ports.clear()
        self.close_log.log_counts()
        for _ in range(_LAST_TURNS):
            await asyncio.sleep(0)

    def close_connections(self, node_id: int | None = None) -> None:
        """Close all connections, or those of a node; written responses are still sent."""
        for connection in list(self._connections):
            if node_id in (None, connection.node_id):
                connection.cancel_requests_and_close()

    def reset_connections(self) -> None:
        """Close all connections, and count new ones from zero."""
        self.close_connections()
        self.close_log.log_counts()
        self.quotas.cancel_timers()
        self.quotas = ConnectionQuotas(self.cluster)

    async def abort_connections(self, after_s: float) -> None:
        """Abort connections that are still open after `stop`, since their peers do not read."""
        for _ in range(_ABORT_POLLS):
            if not self._connections:
                return
            await asyncio.sleep(after_s / _ABORT_POLLS)
        for connection in list(self._connections):
            connection.abort()

    def add_connection(self, connection: ManagedConnection) -> bool:
        """Add a connection; return False if there are too many, or its node is closed."""
        self._connections.add(connection)
        self.accepted_count += 1
        is_late = self._is_stopped or self.is_node_closed(connection.node_id)
        return len(self._connections) <= self.limits.connections_max and not is_late

    def remove_connection(self, connection: ManagedConnection) -> None:
        self._connections.discard(connection)

    def _enforce_limits_periodically(self) -> None:
        """Periodically close connections that are idle, log in too slowly, or block memory.

        DEVIATION: Kafka has no limit for the authentication.
        """
        now_ms, limits = self.cluster.clock.now_ms(), self.limits
        for connection in list(self._connections):
            if 0 <= limits.idle_ms_max < now_ms - connection.last_used_ms:
                connection.cancel_requests_and_close()
            elif (
                connection.awaits_authentication
                and now_ms - connection.began_ms > limits.authentication_ms_max
            ):
                connection.close(
                    f"not authenticated after {limits.authentication_ms_max // 1000} s"
                )
        self.quotas.apply_changed_limits()
        obstacle = self.request_memory.oldest_blocking_reader(now_ms - limits.queue_holding_ms_max)
        if isinstance(obstacle, Connection):
            obstacle.close("its request occupied memory for too long while others waited for it")
        loop = asyncio.get_running_loop()
        self._overdue_check_timer = loop.call_later(
            IDLE_CHECK_MS / 1000, self._enforce_limits_periodically
        )


async def _stop_accepting_without_closing(servers: Sequence[asyncio.Server]) -> None:
    """Stop accepting before closing: asyncio loses sockets that a
    closed server is just accepting.
    """
    loop = asyncio.get_running_loop()
    for server in servers:
        for listening in server.sockets:
            loop.remove_reader(listening.fileno())
    for _ in range(2):  # one for its task of a socket, one for the transport that the task makes
        await asyncio.sleep(0)


def _bind_error_text(error: OSError) -> str:
    """Return asyncio's error in short, with advice."""
    if isinstance(error, socket.gaierror) or error.errno is None:
        return f"{error.strerror or error}"
    text = os.strerror(error.errno).lower()
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return f"{text}; choose another port, or 0 for any free one"
    return text
