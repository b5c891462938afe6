"""Connections from the view of their quotas and their server."""

import asyncio
from typing import Protocol

from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.request.session import Session, java_host_text
from kafka_shim.shim.state.cluster import Cluster


class AcceptedConnection(Protocol):
    """An accepted connection: closed, or started when its quotas have room."""

    node_id: int

    @property
    def host(self) -> str: ...
    @property
    def listener_name(self) -> str: ...
    @property
    def last_used_ms(self) -> int: ...
    def start(self) -> None: ...
    def close(self, reason: str) -> None: ...


class ManagedConnection(AcceptedConnection, Protocol):
    """A connection that its server closes when it is idle, too slow, or shut down."""

    began_ms: int

    @property
    def awaits_authentication(self) -> bool: ...
    def shut_down(self) -> None: ...
    def abort(self) -> None: ...


class ConnectionOwner(Protocol):
    """The owner of a connection, which is called when the connection has ended."""

    def on_connection_ended(self) -> None: ...


def session_of(
    transport: asyncio.BaseTransport, listener: ListenerConfig, node_id: int, cluster: Cluster
) -> Session:
    """Begin the session of a connection; it gets a number of its own."""
    peer = transport.get_extra_info("peername") or ("127.0.0.1", 0)
    local = transport.get_extra_info("sockname") or ("", 0)
    session = Session(listener, node_id, java_host_text(peer[0]), peer[1], local[0])
    cluster.counters.connections += 1
    session.number = cluster.counters.connections
    return session
