"""Putting records into a partition's log: offsets, append times, producers' sequences.

Produce checks the partition and the records before.
"""

from collections.abc import Iterable

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.protocol.records.batches import NO_PRODUCER, Batch, assign_offsets, crc32c
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
from kafka_shim.shim.handlers.producing.produced_rows import ProducedRow
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    check_batch,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.logs.partition_producers import SEQUENCES, ProducedBatch
from kafka_shim.shim.state.topics import Partition

NO_APPEND_TIME = -1
_CRC = slice(17, 21)
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP = slice(35, 43)
_APPEND_TIME = 0x08


class AppendedPosition(msgspec.Struct, frozen=True, gc=False):
    """Where records were stored; `append_time_ms` is -1 where they keep their own times."""

    base_offset: int
    append_time_ms: int = NO_APPEND_TIME


NOTHING_APPENDED = AppendedPosition(-1)


def append_batches(
    partition: Partition, batches: Iterable[CheckedBatch], limits: RecordLimits
) -> AppendedPosition:
    """Append checked batches, and return the position of the first."""
    first = None
    for batch, max_timestamp_ms in batches:
        appended = append_idempotently(partition, batch, limits, max_timestamp_ms)
        first = first or appended
    return first or NOTHING_APPENDED


def append_idempotently(
    partition: Partition, batch: Batch, limits: RecordLimits, max_timestamp_ms: int
) -> AppendedPosition:
    """Append a checked batch of format 2, unless it is a duplicate.

    A duplicate gets the position that it had the first time
    (KIP-98). Raise RecordsRejected for an unexpected producer id, epoch or sequence number.
    """
    log = partition.log
    if batch.producer_id <= NO_PRODUCER:
        return _store_batch(partition, batch, limits, max_timestamp_ms)
    last_sequence = (batch.base_sequence + batch.last_offset_delta) % SEQUENCES
    owner = (batch.producer_id, batch.producer_epoch)
    remembered = limits.facts.producer_batches_remembered
    known = log.producers.find_duplicate_batch(
        *owner, batch.base_sequence, last_sequence, remembered
    )
    if known is not None:
        return AppendedPosition(known.base_offset, known.timestamp)
    error = log.producers.batch_append_error(
        *owner, batch.base_sequence, is_transactional=batch.is_transactional
    )
    is_new = not error and log.producers.get_producer(batch.producer_id) is None
    if is_new and batch.base_sequence != 0:
        error = limits.facts.unknown_producer_error
    if error:
        raise RecordsRejected(error, returns_log_start=True)
    # who waits for committed records is woken by the append, and must find the transaction open
    timestamp = limits.now_ms if limits.settings.uses_append_time else max_timestamp_ms
    log.producers.note_appended_batch(
        *owner,
        ProducedBatch(batch.base_sequence, last_sequence, log.end_offset, timestamp),
        is_transactional=batch.is_transactional,
    )
    return _store_batch(partition, batch, limits, max_timestamp_ms)


def _store_batch(
    partition: Partition, batch: Batch, limits: RecordLimits, max_timestamp_ms: int
) -> AppendedPosition:
    log = partition.log
    base_offset = log.end_offset
    last_offset, epoch = base_offset + batch.last_offset_delta, partition.leader_epoch
    if limits.settings.uses_append_time:
        now_ms = limits.now_ms
        payload = assign_offsets(
            batch, base_offset, partition_leader_epoch=epoch, append_time_ms=now_ms
        )
        log.append_batch(StoredBatch(base_offset, last_offset, now_ms, payload), epoch)
        return AppendedPosition(base_offset, now_ms)
    payload = assign_offsets(batch, base_offset, partition_leader_epoch=epoch)
    if max_timestamp_ms != batch.max_timestamp or (batch.attributes and batch.has_append_time):
        payload = _restore_producer_times(payload, max_timestamp_ms)
    log.append_batch(StoredBatch(base_offset, last_offset, max_timestamp_ms, payload), epoch)
    return AppendedPosition(base_offset)


def _restore_producer_times(payload: bytes, max_timestamp: int) -> bytes:
    """Return a batch with the producer's record times, and their maximum in its header.

    The producer's own header is not used for either.
    """
    out = bytearray(payload)
    out[_ATTRIBUTES_AT + 1] &= ~_APPEND_TIME & 0xFF
    out[_MAX_TIMESTAMP] = max_timestamp.to_bytes(8, "big", signed=True)
    out[_CRC] = crc32c(bytes(out[_ATTRIBUTES_AT:])).to_bytes(4, "big")
    return bytes(out)


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
