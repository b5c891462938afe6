"""Verification that a producer's transaction includes the partitions it writes to (KIP-890), for
Produce and TxnOffsetCommit.
"""

from typing import NamedTuple

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.transactions.transaction import TopicPartition


class TransactionOwner(NamedTuple):
    """The producer of a transaction."""

    transactional_id: str
    producer_id: int
    producer_epoch: int


def is_transaction_open(
    log: PartitionLog, producer_id: int, epoch: int, facts: RecordFacts
) -> bool:
    """Return whether the log has an open transaction of the producer, in its epoch if checked."""
    producer = log.producers.get_producer(producer_id)
    if producer is None or not producer.has_open_transaction:
        return False
    return producer.epoch == epoch or not facts.open_transaction_verifies_producer_epoch


def verify_partition(
    owner: TransactionOwner,
    target: TopicPartition,
    context: RequestContext,
    adds_since_version: int,
    abortable_since_version: int,
) -> ErrorCode:
    """Return NONE if the partition is in the owner's transaction, or was added to it now.

    `adds_since_version` is the first API version that adds partitions, `abortable_since_version`
    the first with TRANSACTION_ABORTABLE.
    """
    if not owner.transactional_id:
        return ErrorCode.INVALID_REQUEST
    transactions = context.cluster.transactions
    if context.version >= adds_since_version:
        error = transactions.add_partitions(*owner, [target])
    else:
        error = transactions.verify_partition_in_transaction(*owner, target)
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.INVALID_TXN_STATE and context.version >= abortable_since_version:
        return ErrorCode.TRANSACTION_ABORTABLE
    return error
