"""Offsets by timestamp in one partition, for ListOffsets."""

from typing import NamedTuple

from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import batches
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.releases.records import NEVER, RecordFacts
from kafka_shim.shim.state.logs.log import Log, StoredBatch

LATEST = -1
EARLIEST = -2
NEWEST = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class Found(NamedTuple):
    """An offset with its record's timestamp and leader epoch; -1 where there is none."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


NOTHING = Found()


def special_since(timestamp: int, facts: RecordFacts) -> int:
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


def find(log: Log, timestamp: int, isolation_level: int | None, facts: RecordFacts) -> Found:
    """Return the offset for a timestamp or a special one; no isolation level: for a replica."""
    is_special = timestamp < 0 and special_since(timestamp, facts) < NEVER
    if is_special:
        return _special(log, timestamp, isolation_level, facts)
    found = _by_time(log, timestamp)
    if found.offset >= end_for(log, isolation_level):
        return NOTHING
    return found if facts.list_offsets_returns_leader_epoch else found._replace(leader_epoch=-1)


def _special(log: Log, timestamp: int, isolation_level: int | None, facts: RecordFacts) -> Found:
    if timestamp == NEWEST:
        return _newest(log, facts)
    if timestamp == LATEST:
        offset = end_for(log, isolation_level)
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        offset = log.start_offset
    else:
        return NOTHING  # there is no tiered storage
    return Found(
        offset, leader_epoch=log.epoch_at(offset) if facts.list_offsets_returns_leader_epoch else -1
    )


def end_for(log: Log, isolation_level: int | None) -> int:
    """Return the offset up to which a reader may read; no isolation level: a replica."""
    if isolation_level is None:
        return log.end_offset
    if isolation_level == IsolationLevel.READ_COMMITTED:
        return log.last_stable_offset
    return log.high_watermark


def _newest(log: Log, facts: RecordFacts) -> Found:
    batch = log.newest_batch()
    if batch is None:
        return NOTHING
    if facts.max_timestamp_returns_last_record_of_batch:
        return Found(batch.last_offset, batch.max_timestamp, log.epoch_at(batch.last_offset))
    return _first_from(log, batch, batch.max_timestamp, 0)


def _by_time(log: Log, timestamp: int) -> Found:
    found = (
        _first_from(log, batch, timestamp, log.start_offset) for batch in log.batches_at(timestamp)
    )
    return next((candidate for candidate in found if candidate != NOTHING), NOTHING)


def _first_from(log: Log, batch: StoredBatch, timestamp: int, offset: int) -> Found:
    """Return a batch's first record at or after a timestamp and an offset.

    If the batch cannot be decompressed, its first offset is returned.
    """
    try:
        (opened,) = batches(batch.payload)
        for record in opened.iterate_records():
            if record.timestamp >= timestamp and record.offset >= offset:
                return Found(record.offset, record.timestamp, log.epoch_at(record.offset))
    except (DecodeError, MissingPackageError):
        if batch.max_timestamp >= timestamp and batch.base_offset >= offset:
            epoch = log.epoch_at(batch.base_offset)
            return Found(batch.base_offset, batch.max_timestamp, epoch)
    return NOTHING
