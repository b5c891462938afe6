"""Connections as their quotas, their server and their TLS layer see them."""

from typing import Protocol


class CountedConnection(Protocol):
    """A connection as quotas see it: closed, or started when they have room."""

    node_id: int

    @property
    def host(self) -> str: ...
    @property
    def listener_name(self) -> str: ...
    @property
    def last_used_ms(self) -> int: ...
    def on_admitted(self) -> None: ...
    def close(self, reason: str) -> None: ...


class ManagedConnection(CountedConnection, Protocol):
    """A connection that its server closes when it is idle, too slow, or shut down."""

    began_ms: int

    @property
    def awaits_authentication(self) -> bool: ...
    def cancel_requests_and_close(self) -> None: ...
    def abort(self) -> None: ...


class ConnectionEndListener(Protocol):
    """The TLS connection around a connection, called when the connection has ended."""

    def on_connection_ended(self) -> None: ...
