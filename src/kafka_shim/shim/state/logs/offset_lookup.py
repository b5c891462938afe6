"""Offsets by timestamp in one partition, for ListOffsets."""

from typing import NamedTuple

from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.releases.records import NEVER, RecordFacts
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch

_READ_COMMITTED = int(IsolationLevel.READ_COMMITTED)
LATEST = -1
EARLIEST = -2
NEWEST = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class OffsetLookupResult(NamedTuple):
    """An offset with its record's timestamp and leader epoch; -1 where there is none."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


NOTHING = OffsetLookupResult()


def first_version_of_timestamp(timestamp: int, facts: RecordFacts) -> int:
    """Return the first version with a special timestamp (KIP-79, 734, 405, 1005, 1023)."""
    match timestamp:
        case -1 | -2:  # LATEST, EARLIEST
            return 0
        case -3:  # NEWEST
            return facts.max_timestamp_lookup_since
        case -4:  # EARLIEST_LOCAL
            return facts.earliest_local_lookup_since
        case -5:  # LATEST_TIERED
            return facts.latest_tiered_lookup_since
        case -6:  # EARLIEST_PENDING_UPLOAD
            return facts.pending_upload_lookup_since
    return NEVER


def find_offset_by_timestamp(
    log: PartitionLog, timestamp: int, isolation_level: int | None, facts: RecordFacts
) -> OffsetLookupResult:
    """Return the offset for a timestamp or a special one; no isolation level: for a replica."""
    is_special = timestamp < 0 and first_version_of_timestamp(timestamp, facts) < NEVER
    if is_special:
        return _find_special_offset(log, timestamp, isolation_level, facts)
    found = _find_first_from_timestamp(log, timestamp)
    if found.offset >= readable_end_offset(log, isolation_level):
        return NOTHING
    return found if facts.list_offsets_returns_leader_epoch else found._replace(leader_epoch=-1)


def _find_special_offset(
    log: PartitionLog, timestamp: int, isolation_level: int | None, facts: RecordFacts
) -> OffsetLookupResult:
    if timestamp == NEWEST:
        return _find_max_timestamp(log, facts)
    if timestamp == LATEST:
        offset = readable_end_offset(log, isolation_level)
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        offset = log.start_offset
    else:
        return NOTHING  # there is no tiered storage
    return OffsetLookupResult(
        offset,
        leader_epoch=log.leader_epoch_at_offset(offset)
        if facts.list_offsets_returns_leader_epoch
        else -1,
    )


def readable_end_offset(log: PartitionLog, isolation_level: int | None) -> int:
    """Return the offset up to which a reader may read; no isolation level: a replica."""
    if isolation_level is None:
        return log.end_offset
    if isolation_level == _READ_COMMITTED:
        return log.last_stable_offset
    return log.high_watermark


def _find_max_timestamp(log: PartitionLog, facts: RecordFacts) -> OffsetLookupResult:
    batch = log.first_max_timestamp_batch()
    if batch is None:
        return NOTHING
    if facts.max_timestamp_returns_last_record_of_batch:
        return OffsetLookupResult(
            batch.last_offset, batch.max_timestamp, log.leader_epoch_at_offset(batch.last_offset)
        )
    return _first_record_from_timestamp(log, batch, batch.max_timestamp, 0)


def _find_first_from_timestamp(log: PartitionLog, timestamp: int) -> OffsetLookupResult:
    found = (
        _first_record_from_timestamp(log, batch, timestamp, log.start_offset)
        for batch in log.batches_with_timestamp_from(timestamp)
    )
    return next((candidate for candidate in found if candidate != NOTHING), NOTHING)


def _first_record_from_timestamp(
    log: PartitionLog, batch: StoredBatch, timestamp: int, min_offset: int
) -> OffsetLookupResult:
    """Return a batch's first record at or after a timestamp and an offset.

    If the batch cannot be decompressed, its first offset is returned.
    """
    try:
        (opened,) = iterate_batches(batch.payload)
        for record in opened.iterate_records():
            if record.timestamp >= timestamp and record.offset >= min_offset:
                return OffsetLookupResult(
                    record.offset, record.timestamp, log.leader_epoch_at_offset(record.offset)
                )
    except (DecodeError, MissingPackageError):
        if batch.max_timestamp >= timestamp and batch.base_offset >= min_offset:
            epoch = log.leader_epoch_at_offset(batch.base_offset)
            return OffsetLookupResult(batch.base_offset, batch.max_timestamp, epoch)
    return NOTHING
