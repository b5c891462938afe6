"""How many connections clients may have, and how fast they may come (KIP-308, KIP-402, KIP-612).

Too many of one address are closed. Beyond the other limits new ones wait: they are open, as they
are while a real broker has not accepted them, but nothing of them is read.
"""

from collections import Counter
from typing import Protocol

from kafka_shim.shim.request.session import java_host_text
from kafka_shim.shim.state.cluster import Cluster

_BURST_MS = 10_000  # a rate is measured over ten seconds, by default
_UNLIMITED = 2**31 - 1


class Guest(Protocol):
    """A connection, as the quotas see it."""

    node_id: int

    @property
    def host(self) -> str: ...
    @property
    def listener_name(self) -> str: ...
    def start(self) -> None: ...


class ConnectionQuotas:
    """Counts the connections of each broker: those that are served, and those that wait."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._hosts: Counter[tuple[int, str]] = Counter()
        self._served: Counter[tuple[int, str]] = Counter()  # by broker and listener; "": of any
        self._guests: set[Guest] = set()  # that are served
        self._waiting: dict[Guest, None] = {}  # for a place, in the order in which they came
        self._delayed: set[Guest] = set()  # came faster than they may
        self._next_us: dict[tuple[int, str], int] = {}  # when another one may come, at that rate

    def refusal(self, guest: Guest) -> str:
        """Count a connection in; why it has to be closed, or nothing."""
        self._hosts[guest.node_id, guest.host] += 1
        limit = self._host_limit(guest)
        if self._hosts[guest.node_id, guest.host] <= limit:
            return ""
        return f"more than {limit} connections of {guest.host} (max.connections.per.ip)"

    def is_served(self, guest: Guest) -> bool:
        """Whether a connection is served now; otherwise its `start` is called when it is."""
        delay_us = self._delay_us(guest)
        if delay_us > 0:
            self._delayed.add(guest)
            self._cluster.clock.call_later(delay_us / 1000, lambda: self._end_delay(guest))
            return False
        return self._seat(guest)

    def gone(self, guest: Guest) -> None:
        """A connection that was counted in has ended; others may take its place."""
        key = (guest.node_id, guest.host)
        self._hosts[key] -= 1
        if not self._hosts[key]:
            del self._hosts[key]
        self._waiting.pop(guest, None)
        self._delayed.discard(guest)
        if guest not in self._guests:
            return
        self._guests.discard(guest)
        for listener in ("", guest.listener_name):
            self._served[guest.node_id, listener] -= 1
        for other in list(self._waiting):
            if other.node_id == guest.node_id and self._may_be_served(other):
                self._seat(other)
                other.start()
                return

    def _end_delay(self, guest: Guest) -> None:
        if guest in self._delayed:
            self._delayed.discard(guest)
            if self._seat(guest):
                guest.start()

    def _seat(self, guest: Guest) -> bool:
        if not self._may_be_served(guest):
            self._waiting[guest] = None
            return False
        self._waiting.pop(guest, None)
        self._guests.add(guest)
        for listener in ("", guest.listener_name):
            self._served[guest.node_id, listener] += 1
        return True

    def _may_be_served(self, guest: Guest) -> bool:
        return all(
            self._served[guest.node_id, listener]
            < self._limit("max.connections", guest.node_id, listener)
            for listener in ("", guest.listener_name)
        )

    def _delay_us(self, guest: Guest) -> int:
        """How long a new connection has to wait, so that not too many come in a second."""
        now_us, delay_us = self._cluster.clock.now_us(), 0
        for listener in ("", guest.listener_name):
            rate = self._limit("max.connection.creation.rate", guest.node_id, listener)
            if rate < _UNLIMITED:
                key = (guest.node_id, listener)
                due_us = max(self._next_us.get(key, 0), now_us - _BURST_MS * 1000)
                self._next_us[key] = due_us + 1_000_000 // max(rate, 1)
                delay_us = max(delay_us, self._next_us[key] - now_us)
        return delay_us

    def _limit(self, name: str, node_id: int, listener: str) -> int:
        """A setting of the broker, or of one of its listeners."""
        if listener:
            name = f"listener.name.{listener.lower()}.{name}"
        value = self._cluster.configs.broker_value(name, node_id) or ""
        return int(value) if value.isdigit() else _UNLIMITED

    def _host_limit(self, guest: Guest) -> int:
        name = "max.connections.per.ip"
        overrides = self._cluster.configs.broker_value(f"{name}.overrides", guest.node_id) or ""
        for override in overrides.split(","):
            host, _, count = override.strip().rpartition(":")
            if count.isdigit() and _address(host) == guest.host:
                return int(count)
        return self._limit(name, guest.node_id, "")


def _address(host: str) -> str:
    """An address as sessions write it; other names are not looked up."""
    try:
        return java_host_text("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return ""
