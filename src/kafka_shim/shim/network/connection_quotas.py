"""Limits of the number and rate of connections (KIP-308, KIP-402, KIP-612).

As in Kafka, each listener of a broker accepts one connection after the other. The first one may
have to wait for a place or because of the rate; later ones wait behind it. They are open,
but nothing is read from them. Connections above the limit of an address are then closed, and
after a delay also those above its rate.
"""

from collections import Counter, deque
from functools import cached_property

import msgspec

from kafka_shim.authorizer.networks import java_address
from kafka_shim.shim.clock import Timer
from kafka_shim.shim.network.protocols import CountedConnection
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.quotas.sampled_rate import SampledRate

_UNLIMITED = 2**31 - 1
_OF_HOST = "max.connections.per.ip"


class ConnectionLimits:
    """The present limits of a cluster's brokers.

    A listener without its own limit has the broker's, as in Kafka: in addition to the total limit,
    each listener has one. `""` stands for all listeners.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def max_connections(self, node_id: int, listener: str) -> int:
        """Return the maximum number of connections."""
        return self._effective_listener_limit("max.connections", node_id, listener)

    def max_connection_rate(self, node_id: int, listener: str) -> int | None:
        """Return the maximum rate per second; None without a limit."""
        rate = self._effective_listener_limit("max.connection.creation.rate", node_id, listener)
        return None if rate == _UNLIMITED else rate

    def max_connections_of_host(self, connection: CountedConnection) -> int:
        """Return the maximum number for the address of a connection."""
        overrides = self._effective_broker_value(f"{_OF_HOST}.overrides", connection.node_id)
        for override in overrides.split(",") if overrides else ():
            host, _, count = override.strip().rpartition(":")
            if count.isdecimal() and canonical_ip(host) == connection.host:
                return int(count)
        return self._effective_listener_limit(_OF_HOST, connection.node_id, "")

    def max_connection_rate_of_host(self, host: str) -> float | None:
        """Return the maximum rate per second for an address; None without a limit."""
        return self._cluster.quotas.connection_rate_for_address(host)

    def new_rate_sampler(self) -> SampledRate:
        configs = self._cluster.configs
        seconds = configs.effective_broker_int("quota.window.size.seconds")
        return SampledRate(seconds * 1000, configs.effective_broker_int("quota.window.num"))

    def is_separate_inter_broker_listener(self, listener: str) -> bool:
        """Return whether it is the one of brokers, and not the only one: it has room while others
        have none, and does not count in the rate of all.
        """
        return listener == self._separate_inter_broker_listener_name

    @cached_property
    def _separate_inter_broker_listener_name(self) -> str | None:
        config = self._cluster.config
        protocol = config.properties.get("security.inter.broker.protocol", "PLAINTEXT")
        name = config.properties.get("inter.broker.listener.name", protocol)
        return name.upper() if len(config.listeners) > 1 else None

    def _effective_listener_limit(self, name: str, node_id: int, listener: str) -> int:
        value = None
        if listener:
            value = self._effective_broker_value(
                f"listener.name.{listener.lower()}.{name}", node_id
            )
        if value is None:
            value = self._effective_broker_value(name, node_id)
        if value is None or name not in self._cluster.configs.broker_definitions:
            return _UNLIMITED
        return int(value)

    def _effective_broker_value(self, name: str, node_id: int) -> str | None:
        """Return a broker's own setting, or that of all brokers; None if neither is set."""
        configs = self._cluster.configs
        broker_values = configs.brokers.get(node_id, {})
        for values in (broker_values, configs.all_brokers, self._cluster.config.properties):
            if name in values:
                return values[name]
        return None


def canonical_ip(host: str) -> str:
    """Return an address as in sessions; other names are not resolved."""
    return java_address("127.0.0.1" if host == "localhost" else host) or ""


ANY = ""
"""As a listener: all of a broker."""
_RATES_KEPT = 1000
"""Of addresses; beyond that, those that say nothing any more are forgotten."""


class _ListenerQueue(msgspec.Struct):
    """A listener of a broker, with its waiting connections."""

    waiting: deque[CountedConnection]
    timer: Timer | None = None
    is_first_counted: bool = False
    """The first of them has been counted as to the rates."""


class ConnectionQuotas:
    """Counts the connections of each broker."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._limits = ConnectionLimits(cluster)
        self._listener_queues: dict[tuple[int, str], _ListenerQueue] = {}
        self._started: dict[int, dict[CountedConnection, None]] = {}  # by broker
        self._object_counts: Counter[tuple[int, str]] = (
            Counter()
        )  # of those, by broker and listener
        self._hosts: Counter[tuple[int, str]] = Counter()  # of those, by broker and address
        self._rates: dict[tuple[int, str], SampledRate] = {}  # by broker and listener
        self._host_rates: dict[tuple[int, str], SampledRate] = {}
        self._closing_later: dict[CountedConnection, Timer] = {}  # came faster than they may

    def admit(self, connection: CountedConnection) -> None:
        """Start a new connection, now or later, or close it."""
        key = connection.node_id, connection.listener_name
        queue = self._listener_queues.get(key)
        if queue is None:
            queue = self._listener_queues[key] = _ListenerQueue(deque())
        queue.waiting.append(connection)
        if len(queue.waiting) == 1:
            self._accept_while_allowed(queue)

    def remove(self, connection: CountedConnection) -> None:
        """Remove an ended connection, and accept waiting ones in its place."""
        served = self._started.get(connection.node_id, {})
        if connection not in served:
            self._remove_waiting(connection)
            return
        del served[connection]
        self._change_counts(connection, -1)
        self._accept_waiting_of_node(connection.node_id)

    def cancel_timers(self) -> None:
        """Start and close no more connections later."""
        timers = [queue.timer for queue in self._listener_queues.values()]
        for timer in (*timers, *self._closing_later.values()):
            if timer is not None:
                timer.cancel()

    def apply_changed_limits(self) -> None:
        """Close connections above the limits, and start waiting ones, after limits changed."""
        for node_id in {node_id for node_id, _ in self._listener_queues}:
            self._evict_least_recently_used(node_id)
            self._accept_waiting_of_node(node_id)

    def _change_counts(self, connection: CountedConnection, by: int) -> None:
        """Change the counts of a connection's broker, listener and address."""
        for counter, name in (
            (self._object_counts, ANY),
            (self._object_counts, connection.listener_name),
            (self._hosts, connection.host),
        ):
            counter[connection.node_id, name] += by
            if not counter[connection.node_id, name]:
                del counter[connection.node_id, name]

    def _remove_waiting(self, connection: CountedConnection) -> None:
        """Remove a connection that was waiting."""
        if connection in self._closing_later:
            self._closing_later.pop(connection).cancel()
            return
        queue = self._listener_queues.get((connection.node_id, connection.listener_name))
        if queue is not None and connection in queue.waiting:
            if queue.waiting[0] is connection:
                queue.is_first_counted = False
            queue.waiting.remove(connection)

    def _accept_waiting_of_node(self, node_id: int) -> None:
        for (of_node, _), queue in self._listener_queues.items():
            if of_node == node_id and queue.waiting:
                self._accept_while_allowed(queue)

    def _accept_while_allowed(self, queue: _ListenerQueue) -> None:
        """Start or close the first connections of a queue, as far as rates and room allow."""
        while queue.waiting and queue.timer is None:
            connection = queue.waiting[0]
            delay_ms = 0 if queue.is_first_counted else self._take_listener_quota(connection)
            queue.is_first_counted = True
            if delay_ms:
                self._accept_later(queue, delay_ms)
                return
            if not self._has_room(connection):
                return
            queue.waiting.popleft()
            queue.is_first_counted = False
            self._start(connection)

    def _accept_later(self, queue: _ListenerQueue, delay_ms: int) -> None:
        def due() -> None:
            queue.timer = None
            self._accept_while_allowed(queue)

        queue.timer = self._cluster.clock.call_later(delay_ms, due)

    def _start(self, connection: CountedConnection) -> None:
        """Start a connection for which there is room, or close it for its address's limits."""
        per_second = self._limits.max_connection_rate_of_host(connection.host)
        delay_ms = 0 if per_second is None else self._take_host_quota(connection, per_second)
        if delay_ms:
            reason = f"more than {per_second:g} connections a second from {connection.host}"
            self._close_later(connection, delay_ms, f"{reason} (connection_creation_rate)")
            return
        most = self._limits.max_connections_of_host(connection)
        if self._hosts[connection.node_id, connection.host] >= most:
            connection.close(
                f"more than {most} connections of {connection.host} (max.connections.per.ip)"
            )
            return
        self._started.setdefault(connection.node_id, {})[connection] = None
        self._change_counts(connection, 1)
        connection.on_admitted()
        if self._limits.is_separate_inter_broker_listener(connection.listener_name):
            self._evict_least_recently_used(connection.node_id)

    def _close_later(self, connection: CountedConnection, delay_ms: int, reason: str) -> None:
        def due() -> None:
            del self._closing_later[connection]
            connection.close(reason)

        self._closing_later[connection] = self._cluster.clock.call_later(delay_ms, due)

    def _has_room(self, connection: CountedConnection) -> bool:
        node_id, listener = connection.node_id, connection.listener_name
        if self._object_counts[node_id, listener] >= self._limits.max_connections(
            node_id, listener
        ):
            return False
        if self._limits.is_separate_inter_broker_listener(listener):
            return True
        return self._object_counts[node_id, ANY] < self._limits.max_connections(node_id, ANY)

    def _evict_least_recently_used(self, node_id: int) -> None:
        """Make room for the inter-broker listener: close the least recently used connections of
        others.
        """
        excess = self._object_counts[node_id, ANY] - self._limits.max_connections(node_id, ANY)
        if excess <= 0:
            return
        others = [
            connection
            for connection in self._started[node_id]
            if not self._limits.is_separate_inter_broker_listener(connection.listener_name)
        ]
        for connection in sorted(others, key=lambda connection: connection.last_used_ms)[:excess]:
            self.remove(connection)
            connection.close("another connection took its place (max.connections)")

    def _take_listener_quota(self, connection: CountedConnection) -> int:
        """Count a connection, and return how long it has to wait for the rates."""
        node_id, listener = connection.node_id, connection.listener_name
        names = (
            (listener,)
            if self._limits.is_separate_inter_broker_listener(listener)
            else (ANY, listener)
        )
        delay_ms = 0
        for name in names:
            per_second = self._limits.max_connection_rate(node_id, name)
            if per_second is not None:
                rate = self._rates.setdefault((node_id, name), self._limits.new_rate_sampler())
                now_ms = self._cluster.clock.now_ms()
                rate.record_amount(now_ms)
                delay_ms = max(delay_ms, rate.capped_excess_ms(now_ms, per_second))
        return delay_ms

    def _take_host_quota(self, connection: CountedConnection, per_second: float) -> int:
        """Return the delay in ms until a connection of this address is allowed; count it if it is
        0.
        """
        now_ms = self._cluster.clock.now_ms()
        if len(self._host_rates) >= _RATES_KEPT:
            self._host_rates = {
                key: rate for key, rate in self._host_rates.items() if not rate.drop_expired(now_ms)
            }
        key = connection.node_id, connection.host
        rate = self._host_rates.setdefault(key, self._limits.new_rate_sampler())
        rate.record_amount(now_ms)
        delay_ms = rate.capped_excess_ms(now_ms, per_second)
        if delay_ms:
            rate.undo_last_record()
        return delay_ms
