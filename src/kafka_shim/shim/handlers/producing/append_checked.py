"""The checks of a partition in Produce before records are appended."""

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.protocol.records.batches import NO_PRODUCER, Batch
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.handlers.common.transaction_verification import (
    TransactionOwner,
    is_transaction_open,
    verify_partition,
)
from kafka_shim.shim.handlers.producing.any_format import (
    CheckedBatch,
    iter_checked_batches,
)
from kafka_shim.shim.handlers.producing.appending import (
    AppendedPosition,
    append_batches,
    append_idempotently,
)
from kafka_shim.shim.handlers.producing.produced_rows import ProducedRow
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    check_batch,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition

ALL = -1
"""As `acks`: every replica in sync has the records."""
ADMIN_CLIENT_ID = "__admin_client"
"""The one client that may write to internal topics."""


def check_and_append(
    name: str,
    partition: Partition,
    row: ProducedRow,
    request: ProduceRequest,
    context: RequestContext,
    facts: RecordFacts,
) -> AppendedPosition:
    """Append to a partition after checks in Kafka's order. Raise RecordsRejected if one fails."""
    content, batch = row.content, row.batch
    if content is None:
        check_produce_request(name, request, context)
        raise RecordsRejected(ErrorCode.UNKNOWN_SERVER_ERROR, returns_log_start=True)
    if (
        batch is not None
        and batch.attributes
        and batch.is_transactional
        and facts.produce_verifies_transaction_partitions
    ):
        if not facts.transaction_is_verified_before_acks and not ALL <= request.acks <= 1:
            raise RecordsRejected(ErrorCode.INVALID_REQUIRED_ACKS)
        if not partition.is_led_with_open_log_by(context.node_id):
            raise RecordsRejected(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        _verify_transaction(name, partition, batch, request, context, facts)
    check_produce_request(name, request, context)
    if not partition.is_led_with_open_log_by(context.node_id):
        raise RecordsRejected(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    settings = partition.log.settings
    if request.acks == ALL:
        _check_min_insync_replicas(partition, settings.min_insync_replicas, facts)
    limits = RecordLimits(settings, facts, context.cluster.clock.now_ms())
    if batch is not None:
        return append_idempotently(partition, batch, limits, check_batch(batch, limits))
    return _append_any_format(partition, content, limits)


def _append_any_format(
    partition: Partition, content: bytes, limits: RecordLimits
) -> AppendedPosition:
    """Append messages of old formats, or several batches, up to the first that is rejected. Raise
    RecordsRejected for that.
    """
    checked: list[CheckedBatch] = []
    rejection = None
    try:
        if content:
            checked.extend(iter_checked_batches(content, limits))
    except RecordsRejected as error:
        rejection = error
    appended = append_batches(partition, checked, limits)
    if rejection is not None:
        raise rejection
    return appended


def check_produce_request(name: str, request: ProduceRequest, context: RequestContext) -> None:
    """Check what needs no partition. Raise RecordsRejected if a check fails."""
    if not ALL <= request.acks <= 1:
        raise RecordsRejected(ErrorCode.INVALID_REQUIRED_ACKS)
    topics = context.cluster.topics
    if name in topics.internal_names and context.header.client_id != ADMIN_CLIENT_ID:
        raise RecordsRejected(ErrorCode.INVALID_TOPIC_EXCEPTION)


def _verify_transaction(
    name: str,
    partition: Partition,
    batch: Batch,
    request: ProduceRequest,
    context: RequestContext,
    facts: RecordFacts,
) -> None:
    """Check that the partition is part of the producer's transaction, or add it (KIP-890)."""
    owner = batch.producer_id, batch.producer_epoch
    if batch.producer_id <= NO_PRODUCER:
        return
    if is_transaction_open(partition.log, *owner, facts):
        return
    assert request.transactional_id is not None  # else the request was refused
    partition.log.note_unverified_batch(
        owner,
        batch.base_sequence,
        begins_at_zero=context.version >= facts.unknown_producer_must_start_at_zero_since,
    )
    error = verify_partition(
        TransactionOwner(request.transactional_id, *owner),
        (name, partition.index),
        context,
        facts.produce_adds_partitions_since,
        facts.produce_abortable_error_since,
    )
    message = None
    if error is ErrorCode.INVALID_TXN_STATE:
        message = "the partition was not added to the transaction"
    elif error is not ErrorCode.TRANSACTION_ABORTABLE and facts.unverified_partition_has_message:
        message = "the transaction belongs to another producer"
    if error is not NO_ERROR:
        raise RecordsRejected(error, message)


def _check_min_insync_replicas(partition: Partition, min_insync: int, facts: RecordFacts) -> None:
    if facts.min_isr_is_capped_by_replicas:
        min_insync = min(min_insync, len(partition.replicas))
    if len(partition.isr) < min_insync:
        raise RecordsRejected(ErrorCode.NOT_ENOUGH_REPLICAS, returns_log_start=True)
