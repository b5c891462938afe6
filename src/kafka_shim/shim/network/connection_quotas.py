"""Limits of the number and rate of connections (KIP-308, KIP-402, KIP-612).

As in Kafka, each listener of a broker accepts one connection after the other. The first one may
have to wait for a place or because of the rate; later ones wait behind it. They are open,
but nothing is read from them. Connections above the limit of an address are then closed, and
after a delay also those above its rate.
"""

from collections import Counter, deque

import msgspec

from kafka_shim.shim.clock import Timer
from kafka_shim.shim.network.connection_limits import ConnectionLimits
from kafka_shim.shim.network.protocols import AcceptedConnection
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.quotas.rate import Rate

ANY = ""
"""As a listener: all of a broker."""
_RATES_KEPT = 1000
"""Of addresses; beyond that, those that say nothing any more are forgotten."""


class _Acceptor(msgspec.Struct):
    """A listener of a broker, with its waiting connections."""

    waiting: deque[AcceptedConnection]
    timer: Timer | None = None
    is_counted: bool = False
    """The first of them has been counted as to the rates."""


class ConnectionQuotas:
    """Counts the connections of each broker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._limits = ConnectionLimits(cluster)
        self._acceptors: dict[tuple[int, str], _Acceptor] = {}
        self._served: dict[int, dict[AcceptedConnection, None]] = {}  # by broker
        self._counts: Counter[tuple[int, str]] = Counter()  # of those, by broker and listener
        self._hosts: Counter[tuple[int, str]] = Counter()  # of those, by broker and address
        self._rates: dict[tuple[int, str], Rate] = {}  # by broker and listener
        self._host_rates: dict[tuple[int, str], Rate] = {}
        self._parting: dict[AcceptedConnection, Timer] = {}  # came faster than they may

    def arrive(self, guest: AcceptedConnection) -> None:
        """Start a new connection, now or later, or close it."""
        key = guest.node_id, guest.listener_name
        acceptor = self._acceptors.get(key)
        if acceptor is None:
            acceptor = self._acceptors[key] = _Acceptor(deque())
        acceptor.waiting.append(guest)
        if len(acceptor.waiting) == 1:
            self._accept(acceptor)

    def gone(self, guest: AcceptedConnection) -> None:
        """Remove an ended connection; others may take its place."""
        served = self._served.get(guest.node_id, {})
        if guest not in served:
            self._give_up(guest)
            return
        del served[guest]
        for counter, name in self._counted(guest):
            counter[guest.node_id, name] -= 1
            if not counter[guest.node_id, name]:
                del counter[guest.node_id, name]
        self._accept_others(guest.node_id)

    def stop(self) -> None:
        """Take in and close no more connections later."""
        timers = [acceptor.timer for acceptor in self._acceptors.values()]
        for timer in (*timers, *self._parting.values()):
            if timer is not None:
                timer.cancel()

    def settle(self) -> None:
        """Close connections above the limits, and start waiting ones, after limits changed."""
        for node_id in {node_id for node_id, _ in self._acceptors}:
            self._make_room(node_id)
            self._accept_others(node_id)

    def _counted(self, guest: AcceptedConnection) -> list[tuple[Counter[tuple[int, str]], str]]:
        """Return the counters of a served connection, and its name in them."""
        return [
            (self._counts, ANY),
            (self._counts, guest.listener_name),
            (self._hosts, guest.host),
        ]

    def _give_up(self, guest: AcceptedConnection) -> None:
        """Remove a connection that was waiting."""
        if guest in self._parting:
            self._parting.pop(guest).cancel()
            return
        acceptor = self._acceptors.get((guest.node_id, guest.listener_name))
        if acceptor is not None and guest in acceptor.waiting:
            if acceptor.waiting[0] is guest:
                acceptor.is_counted = False
            acceptor.waiting.remove(guest)

    def _accept_others(self, node_id: int) -> None:
        for (of_node, _), acceptor in self._acceptors.items():
            if of_node == node_id and acceptor.waiting:
                self._accept(acceptor)

    def _accept(self, acceptor: _Acceptor) -> None:
        """Take in as many as may be."""
        while acceptor.waiting and acceptor.timer is None:
            guest = acceptor.waiting[0]
            delay_ms = 0 if acceptor.is_counted else self._delay_ms(guest)
            acceptor.is_counted = True
            if delay_ms:
                self._accept_later(acceptor, delay_ms)
                return
            if not self._has_place(guest):
                return
            acceptor.waiting.popleft()
            acceptor.is_counted = False
            self._take_in(guest)

    def _accept_later(self, acceptor: _Acceptor, delay_ms: int) -> None:
        def due() -> None:
            acceptor.timer = None
            self._accept(acceptor)

        acceptor.timer = self._cluster.clock.call_later(delay_ms, due)

    def _take_in(self, guest: AcceptedConnection) -> None:
        """Serve a connection for which there is a place, or close it for its address."""
        per_second = self._limits.host_rate(guest.host)
        delay_ms = 0 if per_second is None else self._host_delay_ms(guest, per_second)
        if delay_ms:
            reason = f"more than {per_second:g} connections a second from {guest.host}"
            self._part_later(guest, delay_ms, f"{reason} (connection_creation_rate)")
            return
        most = self._limits.of_host(guest)
        if self._hosts[guest.node_id, guest.host] >= most:
            guest.close(f"more than {most} connections of {guest.host} (max.connections.per.ip)")
            return
        self._served.setdefault(guest.node_id, {})[guest] = None
        for counter, name in self._counted(guest):
            counter[guest.node_id, name] += 1
        guest.start()
        if self._limits.is_protected(guest.listener_name):
            self._make_room(guest.node_id)

    def _part_later(self, guest: AcceptedConnection, delay_ms: int, reason: str) -> None:
        def due() -> None:
            del self._parting[guest]
            guest.close(reason)

        self._parting[guest] = self._cluster.clock.call_later(delay_ms, due)

    def _has_place(self, guest: AcceptedConnection) -> bool:
        node_id, listener = guest.node_id, guest.listener_name
        if self._counts[node_id, listener] >= self._limits.connections(node_id, listener):
            return False
        if self._limits.is_protected(listener):
            return True
        return self._counts[node_id, ANY] < self._limits.connections(node_id, ANY)

    def _make_room(self, node_id: int) -> None:
        """Make room for the inter-broker listener: close the least
        recently used other connection.
        """
        excess = self._counts[node_id, ANY] - self._limits.connections(node_id, ANY)
        if excess <= 0:
            return
        others = [
            guest
            for guest in self._served[node_id]
            if not self._limits.is_protected(guest.listener_name)
        ]
        for guest in sorted(others, key=lambda guest: guest.last_used_ms)[:excess]:
            self.gone(guest)
            guest.close("another connection took its place (max.connections)")

    def _delay_ms(self, guest: AcceptedConnection) -> int:
        """Count a connection, and return how long it has to wait for the rates."""
        node_id, listener = guest.node_id, guest.listener_name
        names = (listener,) if self._limits.is_protected(listener) else (ANY, listener)
        delay_ms = 0
        for name in names:
            per_second = self._limits.rate(node_id, name)
            if per_second is not None:
                rate = self._rates.setdefault((node_id, name), self._limits.new_rate())
                now_ms = self._cluster.clock.now_ms()
                rate.record(now_ms)
                delay_ms = max(delay_ms, rate.excess_ms(now_ms, per_second))
        return delay_ms

    def _host_delay_ms(self, guest: AcceptedConnection, per_second: float) -> int:
        """Return the delay in ms until a connection of this address is allowed; count it if it is
        0.
        """
        now_ms = self._cluster.clock.now_ms()
        if len(self._host_rates) >= _RATES_KEPT:
            self._host_rates = {
                key: rate for key, rate in self._host_rates.items() if not rate.is_idle(now_ms)
            }
        key = guest.node_id, guest.host
        rate = self._host_rates.setdefault(key, self._limits.new_rate())
        rate.record(now_ms)
        delay_ms = rate.excess_ms(now_ms, per_second)
        if delay_ms:
            rate.take_back()
        return delay_ms
