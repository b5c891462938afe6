"""Connections from the view of their quotas and their server."""

from typing import Protocol


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
