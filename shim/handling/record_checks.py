"""What a broker looks at before it appends records, in Kafka's order; refusals as exceptions.

Batches that are large or compressed are not opened unless a setting of the topic asks for it: a
record that lies about its own length in a large batch is stored and served as it came.
"""

from collections.abc import Iterator, Sequence

import msgspec

from protocol.compression import Compression, MissingPackageError
from protocol.error_codes import ErrorCode
from protocol.errors import DecodeError
from protocol.record_releases import RecordBehaviour
from protocol.records import NO_PRODUCER, Batch, Record, batches, entry_sizes
from shim.state.log_settings import FOREVER_MS, LogSettings

FORMAT_2_SINCE = 3
"""From this version of Produce on there is exactly one batch of format 2 for each partition."""
ZSTD_SINCE = 7
_LZ4, _ZSTD = Compression.LZ4, Compression.ZSTD
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
        records: Sequence[tuple[int, str]] = (),
    ) -> None:
        super().__init__(message or error.name)
        self.error = error
        self.message = message
        self.tells_start = tells_start
        self.records = records


class Limits(msgspec.Struct, frozen=True, gc=False):
    """What a log demands of records at a moment, in ms since 1970."""

    settings: LogSettings
    behaviour: RecordBehaviour
    now_ms: int

    @property
    def times(self) -> tuple[int, int]:
        """The earliest and the latest time that a record may have."""
        after_ms = self.settings.after_max_ms
        latest = self.now_ms + after_ms if after_ms != FOREVER_MS else FOREVER_MS
        return self.now_ms - self.settings.before_max_ms, latest

    def invalid(
        self, error: ErrorCode | None = None, records: Sequence[tuple[int, str]] = ()
    ) -> RefusedRecords:
        """What a release says of records that make no sense, or are refused one by one."""
        tells_start = self.behaviour.invalid_record_tells_start
        message = records[0][1] if records else None
        if not self.behaviour.lists_every_record:
            records = [(at, "") for at, _ in records[:1]]
        return RefusedRecords(
            self.behaviour.invalid_record_error if error is None else error,
            message,
            tells_start=tells_start,
            records=records,
        )


def only_batch(records: bytes, behaviour: RecordBehaviour) -> Batch:
    """The one batch that versions from 3 on carry for a partition."""
    try:
        sizes = list(entry_sizes(records, partial=True))
        if any(magic > 2 for *_, magic in sizes[:2]):
            raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE, "there is no such record format")
        found = list(batches(records[: sizes[0][1]])) if sizes and sizes[0][2] == 2 else []
    except DecodeError as fault:
        raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE, str(fault)) from fault
    if not found or len(sizes) > 1:
        raise RefusedRecords(behaviour.invalid_record_error)
    return found[0]


def check_compression(batch: Batch, version: int, behaviour: RecordBehaviour) -> None:
    """Raise RefusedRecords for what a version of Produce must not carry (KIP-110)."""
    if version >= ZSTD_SINCE or not behaviour.knows_zstd:
        return
    if batch.compression == _ZSTD:
        raise RefusedRecords(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def check(batch: Batch, limits: Limits) -> None:
    """Raise RefusedRecords unless a log with these limits takes the batch."""
    size, settings = batch.size, limits.settings
    if batch.base_offset != 0:
        raise limits.invalid()
    if size > settings.max_message_bytes:
        raise RefusedRecords(ErrorCode.MESSAGE_TOO_LARGE)
    if not batch.is_intact():
        raise RefusedRecords(ErrorCode.CORRUPT_MESSAGE)
    has_other_delta = batch.count != batch.last_offset_delta + 1
    is_unnumbered = batch.base_sequence < 0 and batch.producer_id > NO_PRODUCER
    if batch.count <= 0 or has_other_delta or is_unnumbered:
        raise limits.invalid()
    if batch.attributes:
        _check_attributes(batch, limits)
    _check_content(batch, size, limits)
    if size > settings.segment_bytes:
        raise RefusedRecords(ErrorCode.RECORD_LIST_TOO_LARGE)


def _check_attributes(batch: Batch, limits: Limits) -> None:
    if batch.is_control:
        raise limits.invalid()
    newest = _ZSTD if limits.behaviour.knows_zstd else _LZ4
    if batch.compression > newest:
        raise RefusedRecords(ErrorCode.UNKNOWN_SERVER_ERROR, tells_start=True)


def _check_content(batch: Batch, size: int, limits: Limits) -> None:
    settings = limits.settings
    earliest, latest = limits.times
    checks_times = not settings.uses_append_time and (latest < FOREVER_MS or earliest > 0)
    is_doubtful = checks_times and (earliest > 0 or batch.max_timestamp > latest)
    is_append_time = batch.is_append_time
    if not (settings.compacts or is_doubtful or is_append_time or size <= OPENED_BYTES_MAX):
        return
    try:
        found = batch.survey()
    except MissingPackageError:
        return  # what cannot be read is taken on trust
    except DecodeError as fault:
        if batch.compression:  # what a decompressor says is told apart from what Kafka finds
            error = ErrorCode.UNKNOWN_SERVER_ERROR
            raise RefusedRecords(error, tells_start=True) from fault
        raise limits.invalid() from fault
    if settings.compacts and found.lacks_key:
        _refuse(_keyless(batch.records()), limits)
    if is_append_time and (settings.uses_append_time or limits.behaviour.refuses_append_time):
        rows = ((at, "a producer cannot set the append time") for at in range(batch.count))
        _refuse(rows, limits, ErrorCode.INVALID_TIMESTAMP)
    elif checks_times and not earliest <= found.earliest <= found.latest <= latest:
        _refuse(_untimely(batch.records(), limits), limits, ErrorCode.INVALID_TIMESTAMP)


def _keyless(records: list[Record]) -> Iterator[tuple[int, str]]:
    for at, record in enumerate(records):
        if record.key is None:
            yield at, "a compacted topic takes no record without a key"


def _untimely(records: list[Record], limits: Limits) -> Iterator[tuple[int, str]]:
    earliest, latest = limits.times
    for at, record in enumerate(records):
        if record.timestamp == NO_TIMESTAMP:
            continue
        if not earliest <= record.timestamp <= latest:
            yield at, f"timestamp {record.timestamp} is out of range"


def _refuse(
    rows: Iterator[tuple[int, str]], limits: Limits, error: ErrorCode | None = None
) -> None:
    found = list(rows)
    if found:
        raise limits.invalid(error, found)
