"""Requests by which a controller on ZooKeeper orders brokers about: LeaderAndIsr, StopReplica,
UpdateMetadata. Old brokers took them on every listener.

DEVIATION: a real broker obeys every principal with CLUSTER_ACTION that names the epoch of the
controller, or a later one. The cluster here has its controller in itself, and no client can become
another one: every epoch counts as one that is over. So such a request changes nothing.
"""

from collections.abc import Iterable
from typing import Final

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.request.context import RequestContext

NO_EPOCH: Final = -1

TopicPartition = tuple[str, int]


def refusal(requirement: Requirement, broker_epoch: int, context: RequestContext) -> ErrorCode:
    """Return the error for an order between brokers, in the order of a real broker's checks."""
    denial = context.access.error(requirement)
    if denial is not ErrorCode.NONE:
        return denial
    if broker_epoch != NO_EPOCH:  # KIP-380
        return ErrorCode.STALE_BROKER_EPOCH
    return ErrorCode.STALE_CONTROLLER_EPOCH


def responded(
    partitions: Iterable[TopicPartition], context: RequestContext
) -> Iterable[TopicPartition]:
    """Return the partitions of the request that the response lists."""
    if context.facts.cluster.denied_replica_requests_list_each_partition:
        return partitions
    return dict.fromkeys(partitions)
