"""Connections, as their quotas and their server see them."""

import asyncio
from typing import Protocol

from kafka_shim.shim.config import ListenerConfig
from kafka_shim.shim.request.session import Session, java_host_text
from kafka_shim.shim.state.cluster import Cluster


class AcceptedConnection(Protocol):
    """One that has arrived. It is closed, or started when it may be served."""

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
    """One that its server looks after."""

    began_ms: int

    @property
    def is_logging_in(self) -> bool: ...
    def shut_down(self) -> None: ...
    def abort(self) -> None: ...


class ConnectionOwner(Protocol):
    """The owner of a connection, which is called when the connection has ended."""

    def ended(self) -> None: ...


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
