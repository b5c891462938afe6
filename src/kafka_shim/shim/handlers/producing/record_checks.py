"""The broker's checks of records, in Kafka's order; errors are exceptions.

Every batch is checked in one pass that builds no records, whatever its size.

DEVIATION: a compressed batch may have `DECOMPRESSED_BYTES_MAX` bytes and `COMPRESSED_ITEMS_MAX`
records and headers, and a response lists `LISTED_MAX` rejected records; real brokers have no
limits.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import (
    NO_PRODUCER,
    Batch,
    Record,
    batch_bounds,
    iterate_batches,
)
from kafka_shim.protocol.records.compression import Compression, MissingPackageError
from kafka_shim.protocol.records.validation import (
    ALL_CHECKS,
    RecordChecks,
    RecordsSummary,
    UnreadableRecordsError,
)
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.handlers.producing import damage_up_to_2_8
from kafka_shim.shim.state.logs.log_settings import FOREVER_MS, LogSettings

FORMAT_2_SINCE = 3
"""From this version of Produce on there is exactly one batch of format 2 for each partition."""
ZSTD_SINCE = 7
_LZ4, _ZSTD = Compression.LZ4, Compression.ZSTD
COMPRESSED_ITEMS_MAX = 1 << 17
"""Records and headers in a compressed batch, so that a small request cannot take seconds."""
LISTED_MAX = 10_000
"""Records of a batch that a response says are refused."""
NO_TIMESTAMP = -1


IndexAndMessage = tuple[int, str]
"""A rejected record: its number in the batch, and why."""


class RecordsRejected(Exception):  # noqa: N818 - an outcome, not an error
    """Nothing is appended; `returns_log_start`: the response has the log start offset."""

    def __init__(
        self,
        error: ErrorCode,
        message: str | None = None,
        *,
        returns_log_start: bool = False,
        records: Sequence[IndexAndMessage] = (),
    ) -> None:
        super().__init__(message or error.name)
        self.error = error
        self.message = message
        self.returns_log_start = returns_log_start
        self.records = records


class RecordLimits(msgspec.Struct, frozen=True, gc=False):
    """The limits of a log for records at a time, in ms since 1970."""

    settings: LogSettings
    facts: RecordFacts
    now_ms: int

    @property
    def allowed_time_range(self) -> tuple[int, int]:
        """Return the earliest and the latest allowed time of a record."""
        after_ms = self.settings.timestamp_after_max_ms
        latest = self.now_ms + after_ms if after_ms != FOREVER_MS else FOREVER_MS
        return self.now_ms - self.settings.timestamp_before_max_ms, latest

    def invalid_records_error(
        self, error: ErrorCode | None = None, records: Sequence[IndexAndMessage] = ()
    ) -> RecordsRejected:
        """Return a release's errors for invalid records, and for single rejected records."""
        returns_log_start = self.facts.invalid_record_returns_log_start_offset
        message = records[0][1] if records else None
        if not self.facts.every_rejected_record_is_listed:
            records = [(at, "") for at, _ in records[:1]]
        return RecordsRejected(
            self.facts.invalid_record_error if error is None else error,
            message,
            returns_log_start=returns_log_start,
            records=records,
        )


def require_single_batch(records: bytes, facts: RecordFacts) -> Batch:
    """Return the only batch for a partition, as required from version 3."""
    try:
        sizes = list(batch_bounds(records, allows_truncated_end=True))
        if any(magic > 2 for *_, magic in sizes[:2]):
            raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE, "unknown record format")
        only_batches = (
            list(iterate_batches(records[: sizes[0][1]])) if sizes and sizes[0][2] == 2 else []
        )
    except DecodeError as cause:
        raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE, str(cause)) from cause
    if not only_batches or len(sizes) > 1:
        raise RecordsRejected(facts.invalid_record_error)
    return only_batches[0]


def check_compression_of_version(batch: Batch, version: int, facts: RecordFacts) -> None:
    """Raise RecordsRejected for a compression that this version of Produce lacks (KIP-110)."""
    if version >= ZSTD_SINCE or not facts.zstd_is_supported:
        return
    if batch.compression_code == _ZSTD:
        raise RecordsRejected(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def check_batch(batch: Batch, limits: RecordLimits) -> int:
    """Check a batch against the limits of a log.

    Return the greatest time of its records (ms), whatever its header says; the header's if the
    package of its compression is missing. Raise RecordsRejected if a check fails.
    """
    size, settings = batch.size, limits.settings
    if batch.base_offset != 0:
        raise limits.invalid_records_error()
    if size > settings.max_message_bytes:
        raise RecordsRejected(ErrorCode.MESSAGE_TOO_LARGE)
    if not batch.is_intact():
        raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE)
    has_other_delta = batch.record_count != batch.last_offset_delta + 1
    is_unnumbered = batch.base_sequence < 0 and batch.producer_id > NO_PRODUCER
    if batch.record_count <= 0 or has_other_delta or is_unnumbered:
        raise limits.invalid_records_error()
    if batch.attributes:
        _check_attributes(batch, limits)
    newest = batch.max_timestamp
    try:
        summary = batch.validate_records(
            _compressed_read_limits(limits)
            if batch.attributes and batch.compression_code
            else ALL_CHECKS
        )
    except MissingPackageError:
        pass  # what cannot be read is taken on trust
    except DecodeError as cause:
        raise _unreadable_records_error(batch, limits, cause) from cause
    else:
        newest = summary.latest_timestamp
        _check_record_contents(batch, summary, limits)
    if size > settings.segment_bytes:
        raise RecordsRejected(ErrorCode.RECORD_LIST_TOO_LARGE)
    return newest if newest > NO_TIMESTAMP else NO_TIMESTAMP  # noqa: FURB136 - a call takes longer


def _check_attributes(batch: Batch, limits: RecordLimits) -> None:
    if batch.is_control:
        raise limits.invalid_records_error()
    check_compression_known(batch.compression_code, limits.facts)


def check_compression_known(compression: int, facts: RecordFacts) -> None:
    """Raise RecordsRejected for a code of a compression that the release does not know."""
    if compression > (_ZSTD if facts.zstd_is_supported else _LZ4):
        raise RecordsRejected(ErrorCode.UNKNOWN_SERVER_ERROR, returns_log_start=True)


def _compressed_read_limits(limits: RecordLimits) -> RecordChecks:
    """Return the limits within which a compressed batch is read."""
    return RecordChecks(
        checks_record_sizes=limits.facts.compressed_records_must_have_claimed_size,
        records_and_headers_max=COMPRESSED_ITEMS_MAX,
        record_bytes_max=limits.settings.decompressed_bytes_max,
    )


def _unreadable_records_error(
    batch: Batch, limits: RecordLimits, cause: DecodeError
) -> RecordsRejected:
    """Return a release's error for unreadable records."""
    fails = None
    if limits.facts.record_damage_is_checked_one_by_one:
        scope = _compressed_read_limits(limits) if batch.compression_code else ALL_CHECKS
        fails = damage_up_to_2_8.fails_broker(batch, limits.facts, scope)
    if fails is None:
        fails = isinstance(cause, UnreadableRecordsError)
    if fails:
        return RecordsRejected(ErrorCode.UNKNOWN_SERVER_ERROR, returns_log_start=True)
    return limits.invalid_records_error()


def _check_record_contents(batch: Batch, summary: RecordsSummary, limits: RecordLimits) -> None:
    settings = limits.settings
    if settings.compacts and summary.lacks_some_key:
        _reject_records(_records_without_key(batch.iterate_records()), limits)
    uses_append_time = settings.uses_append_time
    sets_append_time = batch.attributes and batch.has_append_time
    if sets_append_time and (uses_append_time or limits.facts.append_time_from_producer_is_invalid):
        rows = ((at, "a producer cannot set the append time") for at in range(batch.record_count))
        _reject_records(rows, limits, ErrorCode.INVALID_TIMESTAMP)
    elif settings.limits_timestamps and not uses_append_time:
        earliest, latest = limits.allowed_time_range
        if not earliest <= summary.earliest_timestamp <= summary.latest_timestamp <= latest:
            _reject_records(
                _records_outside_time_range(batch.iterate_records(), limits),
                limits,
                ErrorCode.INVALID_TIMESTAMP,
            )
    if summary.has_nonconsecutive_offsets and batch.compression_code:
        error = limits.facts.compressed_offset_gap_error
        if error is ErrorCode.INVALID_RECORD:
            _reject_records(_records_with_wrong_offset(batch.iterate_records()), limits, error)
        elif error:
            raise limits.invalid_records_error(error)


def _records_without_key(records: Iterable[Record]) -> Iterator[IndexAndMessage]:
    for at, record in enumerate(records):
        if record.key is None:
            yield at, "records of a compacted topic must have keys"


def _records_with_wrong_offset(records: Iterable[Record]) -> Iterator[IndexAndMessage]:
    for at, record in enumerate(records):
        if record.offset != at:
            yield at, "the offsets of the records are not 0, 1, 2 and so on"


def _records_outside_time_range(
    records: Iterable[Record], limits: RecordLimits
) -> Iterator[IndexAndMessage]:
    earliest, latest = limits.allowed_time_range
    for at, record in enumerate(records):
        if record.timestamp == NO_TIMESTAMP:
            continue
        if not earliest <= record.timestamp <= latest:
            yield at, f"timestamp {record.timestamp} is out of range"


def _reject_records(
    rejected_records: Iterator[IndexAndMessage],
    limits: RecordLimits,
    error: ErrorCode | None = None,
) -> None:
    listed: list[IndexAndMessage] = []
    try:
        listed.extend(islice(rejected_records, LISTED_MAX))
    except DecodeError as cause:  # a record of a wrong length, where it is not checked
        raise limits.invalid_records_error(error, listed) from cause
    if listed:
        raise limits.invalid_records_error(error, listed)
