"""Records of any format, as Produce 0 to 2 may have them, as batches of format 2."""

from collections.abc import Iterator
from typing import NamedTuple

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import (
    Batch,
    BatchOptions,
    Record,
    batch_bounds,
    encode_batch,
    iterate_batches,
)
from kafka_shim.protocol.records.compression import Compression
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    check_batch,
    check_compression_known,
)


class CheckedBatch(NamedTuple):
    """A batch of format 2, with the greatest time of its records in ms."""

    batch: Batch
    max_timestamp_ms: int


def iter_checked_batches(records: bytes, limits: RecordLimits) -> Iterator[CheckedBatch]:
    """Yield checked batches; messages of old formats are converted to one batch.

    Raise RecordsRejected for the first that is invalid.
    """
    try:
        formats = {magic for *_, magic in batch_bounds(records)}
        if formats == {2}:
            for batch in iterate_batches(records):
                yield CheckedBatch(batch, check_batch(batch, limits))
            return
        rows, compression = _records_of_old_formats(records, limits)
    except DecodeError as error:
        raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    options = BatchOptions(compression=compression)
    for at, row in enumerate(rows):
        row.offset = at
    (batch,) = iterate_batches(encode_batch(rows, options))
    yield CheckedBatch(batch, check_batch(batch, limits))


def _records_of_old_formats(
    records: bytes, limits: RecordLimits
) -> tuple[list[Record], Compression]:
    """Return the records in messages of formats 0 and 1, and their compression."""
    rows: list[Record] = []
    compression = Compression.NONE
    for start, end, magic in batch_bounds(records):
        if end - start > limits.settings.max_message_bytes:
            raise RecordsRejected(ErrorCode.MESSAGE_TOO_LARGE)
        entry = records[start:end]
        if magic == 2:
            entry_records = [row for batch in iterate_batches(entry) for row in batch.records()]
        else:
            from kafka_shim.protocol.records.message_sets import (  # noqa: PLC0415 - old clients alone
                iterate_outer_messages,
                read_message_set,
            )

            (outer,) = iterate_outer_messages(entry)
            if not outer.is_intact:
                raise RecordsRejected(ErrorCode.CORRUPT_MESSAGE)
            check_compression_known(outer.compression_code, limits.facts)
            compression = Compression(outer.compression_code)
            if compression is Compression.ZSTD:  # exists only in batches of format 2
                raise limits.invalid_records_error()
            entry_records = read_message_set(entry)
        rows += entry_records
    return rows, compression
