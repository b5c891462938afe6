"""Requests of a controller to a broker, whose epoch is always stale here."""

from collections.abc import Iterable
from typing import Final

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.request.context import RequestContext

NO_EPOCH: Final = -1

TopicPartition = tuple[str, int]


def denial_or_always_stale_epoch_error(
    requirement: Requirement, broker_epoch: int, context: RequestContext
) -> ErrorCode:
    """Return the denial, or that the broker's or controller's epoch is stale: no request passes."""
    denial = context.access.denial_error(requirement)
    if denial is not NO_ERROR:
        return denial
    if broker_epoch != NO_EPOCH:  # KIP-380
        return ErrorCode.STALE_BROKER_EPOCH
    return ErrorCode.STALE_CONTROLLER_EPOCH


def partitions_deduplicated_by_release(
    partitions: Iterable[TopicPartition], context: RequestContext
) -> Iterable[TopicPartition]:
    """Return the partitions that a response lists: duplicates only in some releases."""
    if context.facts.cluster.denied_replica_requests_list_each_partition:
        return partitions
    return dict.fromkeys(partitions)
