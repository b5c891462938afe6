"""The context of a request for its handler."""

from collections.abc import Callable, Container, Iterator
from typing import Any, NamedTuple, TypeVar

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.releases.facts import Facts
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.quotas.quota_client import QuotaClient

Item = TypeVar("Item")


class BrokerEndpoint(NamedTuple):
    """A broker's address for clients of one listener."""

    node_id: int
    host: str
    port: int
    rack: str | None


class RegisteredBroker(NamedTuple):
    """The address of a broker that may be stopped, and then is fenced."""

    node_id: int
    host: str
    port: int
    rack: str | None
    is_fenced: bool


class RequestContext(msgspec.Struct, eq=False):
    """One request: its header, the connection's session, the cluster, and its accesses.

    `node_id` is the broker that the connection reached; `facts` what its release does;
    `request` is the decoded request, except in places that only check permissions;
    `damage_frame` damages the response, for a fault; `throttle_ms` is how long the client waits.
    `accepts_chunks`: long bytes in the response may be `ByteChunks`. `is_rejected`: the handler
    failed, or was not called.
    """

    header: RequestHeader
    session: Session
    cluster: Cluster
    version: int
    node_id: int
    access: Access
    facts: Facts
    request: Any = None
    damage_frame: Callable[[bytes], bytes] | None = None
    throttle_ms: int = 0
    accepts_chunks: bool = False
    is_rejected: bool = False

    @property
    def quota_client(self) -> QuotaClient:
        """Return the user and the client id, by which quotas are found."""
        name = self.session.principal.partition(":")[2]
        return QuotaClient(name, self.header.client_id or "")

    def group_coordinator_error(self, group_id: str) -> ErrorCode:
        """Return NONE if this broker coordinates the group."""
        if len(self.cluster.nodes) == 1:
            is_lost = (
                self.cluster.topics.deletions
                and self.cluster.coordinators.group_topic_was_deleted()
            )
            return ErrorCode.NOT_COORDINATOR if is_lost else NO_ERROR
        return self.cluster.coordinators.group_coordinator_error_creating_topic(
            self.node_id, group_id
        )

    def transaction_coordinator_error(self, transactional_id: str) -> ErrorCode:
        """Return NONE if this broker coordinates the transactional id."""
        if len(self.cluster.nodes) == 1:
            return NO_ERROR
        from kafka_shim.shim.state.coordinators import KeyType  # noqa: PLC0415 - of several brokers

        node_id = self.cluster.coordinators.coordinator_node_id_creating_topic(
            KeyType.TRANSACTION, transactional_id
        )
        if node_id < 0:
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        return NO_ERROR if node_id == self.node_id else ErrorCode.NOT_COORDINATOR

    def require_group_coordinator(self, group_id: str) -> None:
        """Raise RequestRejected if another broker coordinates the group."""
        _reject_error(self.group_coordinator_error(group_id))

    def require_transaction_coordinator(self, transactional_id: str) -> None:
        """Raise RequestRejected if another broker coordinates the transactional id."""
        _reject_error(self.transaction_coordinator_error(transactional_id))

    def require_group_protocol(self, name: str, message: str | None = None) -> None:
        """Raise RequestRejected if group.coordinator.rebalance.protocols lacks a protocol."""
        if name not in self.cluster.groups.settings.enabled_protocols:
            raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION, message)

    def live_broker_endpoints(self) -> list[BrokerEndpoint]:
        """Return the endpoint of every live broker, for this connection's listener."""
        endpoints = []
        for node in self.cluster.nodes.values():
            if node.is_alive:
                host, port = node.endpoints[self.session.listener.name]
                advertised_host = self.session.advertised_host(host)
                endpoints.append(BrokerEndpoint(node.node_id, advertised_host, port, node.rack))
        return endpoints

    def registered_brokers(self) -> Iterator[RegisteredBroker]:
        """Yield the endpoint of every broker, for this connection's listener."""
        for node in self.cluster.nodes.values():
            host, port = node.endpoints[self.session.listener.name]
            advertised_host = self.session.advertised_host(host)
            is_fenced = not node.is_alive
            yield RegisteredBroker(node.node_id, advertised_host, port, node.rack, is_fenced)

    def live_broker_endpoints_among(self, node_ids: Container[int]) -> Iterator[BrokerEndpoint]:
        """Return the endpoints of some brokers, such as the leaders in a response (KIP-951)."""
        return (each for each in self.live_broker_endpoints() if each.node_id in node_ids)


def _reject_error(error: ErrorCode) -> None:
    if error is not NO_ERROR:
        raise RequestRejected(error)
