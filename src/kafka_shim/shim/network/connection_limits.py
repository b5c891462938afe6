"""The limits of connections in settings and in quotas of addresses."""

from functools import cached_property

from kafka_shim.authorizer.networks import java_address
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
