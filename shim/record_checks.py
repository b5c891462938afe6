"""What a broker looks at before it appends records, in Kafka's order; refusals as exceptions.

Batches that are large or compressed are not opened unless a setting of the topic asks for it: a
record that lies about its own length in a large batch is stored and served as it came.
"""

from collections.abc import Iterator

import msgspec

from protocol.compression import Compression, MissingPackageError
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.records import NO_PRODUCER, Batch, Record, batches, entry_sizes
from protocol.releases import Behaviour
from shim.state.log_settings import FOREVER_MS, LogSettings

FORMAT_2_SINCE = 3
"""From this version of Produce on there is exactly one batch of format 2 for each partition."""
ZSTD_SINCE = 7
OPENED_BYTES_MAX = 4096
"""Batches up to this size are read record by record in any case."""
NO_TIMESTAMP = -1


class RefusedRecords(Exception):  # noqa: N818 - an outcome, not a fault
    """Nothing is appended; `tells_start`: the answer says where the log starts."""

    def __init__(
        self,
        error: ErrorCode,
        message: str | None = None,
        *,
        tells_start: bool = False,
        records: list[tuple[int, str]] | None = None,
    ) -> None:
        super().__init__(message or error.name)
        self.error = error
        self.message = message
        self.tells_start = tells_start
        self.records = records or []


class Limits(msgspec.Struct, frozen=True):
    """What a log demands of records at this moment; times in ms since 1970."""

    bytes_max: int
    segment_bytes: int
    oldest: int
    newest: int
    needs_keys: bool
    uses_append_time: bool
    refuses_append_time: bool


def limits_of(settings: LogSettings, behaviour: Behaviour, now_ms: int) -> Limits:
    before_ms, after_ms = settings.timestamp_limits_ms
    return Limits(
        bytes_max=settings.max_message_bytes,
        segment_bytes=settings.segment_bytes,
        oldest=now_ms - before_ms,
        newest=now_ms + after_ms if after_ms != FOREVER_MS else FOREVER_MS,
        needs_keys=settings.compacts,
        uses_append_time=settings.uses_append_time,
        refuses_append_time=settings.uses_append_time or behaviour.refuses_append_time,
    )


def only_batch(records: bytes, version: int) -> Batch:
    """The one batch that versions from 3 on carry for a partition."""
    try:
        sizes = list(entry_sizes(records, partial=True))
        if any(magic > 2 for *_, magic in sizes[:2]):
            raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE, "there is no such record format")
        found = list(batches(records[: sizes[0][1]])) if sizes and sizes[0][2] == 2 else []
    except DecodeError as fault:
        raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE, str(fault)) from fault
    if not found or len(sizes) > 1:
        raise RefusedRecords(ErrorCode.INVALID_RECORD)
    if found[0].compression == Compression.ZSTD and version < ZSTD_SINCE:
        raise RefusedRecords(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return found[0]


def check(batch: Batch, limits: Limits) -> None:
    """Raise RefusedRecords unless a log with these limits takes the batch."""
    size = batch.end - batch.start
    if batch.base_offset != 0:
        raise RefusedRecords(ErrorCode.INVALID_RECORD, tells_start=True)
    if size > limits.bytes_max:
        raise RefusedRecords(ErrorCode.MESSAGE_TOO_LARGE)
    if not batch.is_intact():
        raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE)
    _check_header(batch)
    _check_content(batch, size, limits)
    if size > limits.segment_bytes:
        raise RefusedRecords(ErrorCode.RECORD_LIST_TOO_LARGE)


def _check_header(batch: Batch) -> None:
    names_producer = batch.producer_id > NO_PRODUCER
    if (
        batch.count <= 0
        or batch.count != batch.last_offset_delta + 1
        or batch.is_control
        or (names_producer and batch.base_sequence < 0)
    ):
        raise RefusedRecords(ErrorCode.INVALID_RECORD, tells_start=True)
    if batch.compression > Compression.ZSTD:
        raise RefusedRecords(ErrorCode.UNKNOWN_SERVER_ERROR, tells_start=True)


def _check_content(batch: Batch, size: int, limits: Limits) -> None:
    has_limit = limits.newest < FOREVER_MS or limits.oldest > 0
    checks_times = not limits.uses_append_time and has_limit
    is_late = checks_times and batch.max_timestamp > limits.newest
    needs_opening = (
        limits.needs_keys
        or is_late
        or (checks_times and limits.oldest > 0)
        or batch.is_append_time
        or size <= OPENED_BYTES_MAX
    )
    if not needs_opening:
        return
    try:
        records = batch.records()
    except MissingPackageError:
        return  # what cannot be read is taken on trust
    except DecodeError as fault:
        # Kafka tells what decompressors say apart from what it finds itself
        error = ErrorCode.UNKNOWN_SERVER_ERROR if batch.compression else ErrorCode.INVALID_RECORD
        raise RefusedRecords(error, tells_start=True) from fault
    if limits.needs_keys:
        _refuse_rows(ErrorCode.INVALID_RECORD, _keyless(records))
    if batch.is_append_time and limits.refuses_append_time:
        rows = ((at, "a producer cannot set the append time") for at in range(len(records)))
        _refuse_rows(ErrorCode.INVALID_TIMESTAMP, rows)
    elif checks_times:
        _refuse_rows(ErrorCode.INVALID_TIMESTAMP, _untimely(records, limits))


def _keyless(records: list[Record]) -> Iterator[tuple[int, str]]:
    for at, record in enumerate(records):
        if record.key is None:
            yield at, "a compacted topic takes no record without a key"


def _untimely(records: list[Record], limits: Limits) -> Iterator[tuple[int, str]]:
    for at, record in enumerate(records):
        if record.timestamp == NO_TIMESTAMP:
            continue
        if not limits.oldest <= record.timestamp <= limits.newest:
            yield at, f"timestamp {record.timestamp} is out of range"


def _refuse_rows(error: ErrorCode, rows: Iterator[tuple[int, str]]) -> None:
    found = list(rows)
    if found:
        raise RefusedRecords(error, found[0][1], tells_start=True, records=found)
