"""Connections, as their quotas and their server see them."""

from typing import Protocol


class Guest(Protocol):
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


class Visitor(Guest, Protocol):
    """One that its server looks after."""

    began_ms: int

    @property
    def is_logging_in(self) -> bool: ...
    def shut_down(self) -> None: ...
    def abort(self) -> None: ...


class Arrival(Protocol):
    """The owner of a connection, which is called when the connection has ended."""

    def ended(self) -> None: ...
