"""Putting records into a partition's log: formats, offsets, append times, producers' sequences."""

import msgspec

from kafka_shim.protocol.checksum import crc32c
from kafka_shim.protocol.compression import Compression
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records import (
    NO_PRODUCER,
    Batch,
    BatchOptions,
    Record,
    assign,
    batches,
    encode_batch,
    entry_sizes,
)
from kafka_shim.shim.handlers.producing.record_checks import Limits, RefusedRecords, check
from kafka_shim.shim.state.log import StoredBatch
from kafka_shim.shim.state.producers import SEQUENCES, ProducedBatch
from kafka_shim.shim.state.topics import Partition

NO_APPEND_TIME = -1
_CRC = slice(17, 21)
_ATTRIBUTES_AT = 21
_MAX_TIMESTAMP = slice(35, 43)
_APPEND_TIME = 0x08


class Appended(msgspec.Struct, frozen=True, gc=False):
    """Where records were stored; `append_time_ms` is -1 where they keep their own times."""

    base_offset: int
    append_time_ms: int = NO_APPEND_TIME


NOTHING_APPENDED = Appended(-1)


def append(partition: Partition, batch: Batch, limits: Limits) -> Appended:
    """Append a batch of format 2, unless it is a duplicate; RefusedRecords if it is invalid.

    A duplicate gets the response of the first time (KIP-98).
    """
    newest = check(batch, limits)
    log = partition.log
    if batch.producer_id <= NO_PRODUCER:
        return _store(partition, batch, limits, newest)
    last_sequence = (batch.base_sequence + batch.last_offset_delta) % SEQUENCES
    owner = (batch.producer_id, batch.producer_epoch)
    remembered = limits.facts.batches_remembered
    known = log.producers.duplicate(*owner, batch.base_sequence, last_sequence, remembered)
    if known is not None:
        return Appended(known.base_offset, known.timestamp)
    error = log.producers.error(
        *owner, batch.base_sequence, is_transactional=batch.is_transactional
    )
    is_new = not error and log.producers.get(batch.producer_id) is None
    if is_new and batch.base_sequence != 0:
        error = limits.facts.lost_producer_error
    if error:
        raise RefusedRecords(error, tells_start=True)
    # who waits for committed records is woken by the append, and must find the transaction open
    timestamp = limits.now_ms if limits.settings.uses_append_time else newest
    log.producers.appended(
        *owner,
        ProducedBatch(batch.base_sequence, last_sequence, log.end_offset, timestamp),
        is_transactional=batch.is_transactional,
    )
    return _store(partition, batch, limits, newest)


def _store(partition: Partition, batch: Batch, limits: Limits, newest: int) -> Appended:
    log = partition.log
    base_offset = log.end_offset
    last_offset, epoch = base_offset + batch.last_offset_delta, partition.leader_epoch
    if limits.settings.uses_append_time:
        now_ms = limits.now_ms
        payload = assign(batch, base_offset, partition_leader_epoch=epoch, append_time_ms=now_ms)
        log.append(StoredBatch(base_offset, last_offset, now_ms, payload), epoch)
        return Appended(base_offset, now_ms)
    payload = assign(batch, base_offset, partition_leader_epoch=epoch)
    if newest != batch.max_timestamp or (batch.attributes and batch.is_append_time):
        payload = _with_own_times(payload, newest)
    log.append(StoredBatch(base_offset, last_offset, newest, payload), epoch)
    return Appended(base_offset)


def _with_own_times(payload: bytes, max_timestamp: int) -> bytes:
    """Return a batch with the producer's record times, and their maximum in its header.

    The producer's own header is not used for either.
    """
    out = bytearray(payload)
    out[_ATTRIBUTES_AT + 1] &= ~_APPEND_TIME & 0xFF
    out[_MAX_TIMESTAMP] = max_timestamp.to_bytes(8, "big", signed=True)
    out[_CRC] = crc32c(bytes(out[_ATTRIBUTES_AT:])).to_bytes(4, "big")
    return bytes(out)


def append_any_format(partition: Partition, records: bytes, limits: Limits) -> Appended:
    """Append the records of Produce 0 to 2: messages of any format, stored as format 2."""
    try:
        formats = {magic for *_, magic in entry_sizes(records)}
        if formats == {2}:
            appended = [append(partition, batch, limits) for batch in batches(records)]
            return appended[0]
        rows, compression = _old_records(records, limits)
    except DecodeError as error:
        raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    options = BatchOptions(compression=compression)
    for at, row in enumerate(rows):
        row.offset = at
    (batch,) = batches(encode_batch(rows, options))
    return _store(partition, batch, limits, check(batch, limits))


def _old_records(records: bytes, limits: Limits) -> tuple[list[Record], Compression]:
    """Return the records in messages of formats 0 and 1, and their compression."""
    rows: list[Record] = []
    compression = Compression.NONE
    for start, end, magic in entry_sizes(records):
        if end - start > limits.settings.max_message_bytes:
            raise RefusedRecords(ErrorCode.MESSAGE_TOO_LARGE)
        entry = records[start:end]
        if magic == 2:
            found = [row for batch in batches(entry) for row in batch.records()]
        else:
            from kafka_shim.protocol.legacy_records import (  # noqa: PLC0415 - old clients alone
                messages,
                read_message_set,
            )

            (outer,) = messages(entry)
            if not outer.is_intact:
                raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE)
            compression = Compression(outer.compression)
            found = read_message_set(entry)
        rows += found
    return rows, compression
