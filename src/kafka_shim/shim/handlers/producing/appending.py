"""Putting records into a partition's log: offsets, append times, producers' sequences."""

from collections.abc import Iterable

import msgspec

from kafka_shim.protocol.records.batches import NO_PRODUCER, Batch, assign_offsets, crc32c
from kafka_shim.shim.handlers.producing.any_format import CheckedBatch
from kafka_shim.shim.handlers.producing.record_checks import RecordLimits, RecordsRejected
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
