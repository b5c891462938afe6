"""Offsets by time: what ListOffsets finds in one partition."""

from typing import NamedTuple

from protocol.compression import MissingPackageError
from protocol.enums import IsolationLevel
from protocol.errors import DecodeError
from protocol.record_releases import NEVER, RecordBehaviour
from protocol.records import Record, batches
from shim.state.log import Log, StoredBatch

LATEST = -1
EARLIEST = -2
NEWEST = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6


class Found(NamedTuple):
    """An offset with the time of its record and its leader epoch; -1 where there is none."""

    offset: int = -1
    timestamp: int = -1
    leader_epoch: int = -1


NOTHING = Found()


def special_since(timestamp: int, behaviour: RecordBehaviour) -> int:
    """The version of ListOffsets that knows a special time (KIP-79, 734, 405, 1005, 1023)."""
    return {
        LATEST: 0,
        EARLIEST: 0,
        NEWEST: behaviour.newest_since,
        EARLIEST_LOCAL: behaviour.earliest_local_since,
        LATEST_TIERED: behaviour.latest_tiered_since,
        EARLIEST_PENDING_UPLOAD: behaviour.pending_upload_since,
    }.get(timestamp, NEVER)


def find(
    log: Log, timestamp: int, isolation_level: int | None, behaviour: RecordBehaviour
) -> Found:
    """What a time, or one of the special ones, stands for; no isolation: a replica asks."""
    is_special = timestamp < 0 and special_since(timestamp, behaviour) < NEVER
    if is_special:
        return _special(log, timestamp, isolation_level, behaviour)
    found = _by_time(log, timestamp)
    if found.offset >= end_for(log, isolation_level):
        return NOTHING
    return found if behaviour.lists_epochs else found._replace(leader_epoch=-1)


def _special(
    log: Log, timestamp: int, isolation_level: int | None, behaviour: RecordBehaviour
) -> Found:
    if timestamp == NEWEST:
        return _newest(log, behaviour)
    if timestamp == LATEST:
        offset = end_for(log, isolation_level)
    elif timestamp in (EARLIEST, EARLIEST_LOCAL):
        offset = log.start_offset
    else:
        return NOTHING  # there is no tiered storage
    return Found(offset, leader_epoch=log.epoch_at(offset) if behaviour.lists_epochs else -1)


def end_for(log: Log, isolation_level: int | None) -> int:
    """The offset up to which a reader reads; no isolation: a replica."""
    if isolation_level is None:
        return log.end_offset
    if isolation_level == IsolationLevel.READ_COMMITTED:
        return log.last_stable_offset
    return log.high_watermark


def _newest(log: Log, behaviour: RecordBehaviour) -> Found:
    batch = log.newest_batch()
    if batch is None:
        return NOTHING
    if behaviour.newest_is_last:
        return Found(batch.last_offset, batch.max_timestamp, log.epoch_at(batch.last_offset))
    return _first_from(log, batch, batch.max_timestamp, 0)


def _by_time(log: Log, timestamp: int) -> Found:
    found = (
        _first_from(log, batch, timestamp, log.start_offset) for batch in log.batches_at(timestamp)
    )
    return next((one for one in found if one != NOTHING), NOTHING)


def _first_from(log: Log, batch: StoredBatch, timestamp: int, offset: int) -> Found:
    """The first record of a batch that is neither before a time nor before an offset."""
    for record in _records(batch):
        if record.timestamp >= timestamp and record.offset >= offset:
            return Found(record.offset, record.timestamp, log.epoch_at(record.offset))
    return NOTHING


def _records(batch: StoredBatch) -> list[Record]:
    """The records; one that stands for all where the batch cannot be opened."""
    try:
        (opened,) = batches(batch.payload)
        return opened.records()
    except (DecodeError, MissingPackageError):
        return [Record(batch.base_offset, batch.max_timestamp)]
