"""Checks of records that take long: they run while other requests are handled, before anything is
appended.

A few hundred bytes can become records that take 100 ms to check, and a batch of 1 MiB may have half
a million headers.
"""

import msgspec

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.produce import ProduceRequest
from kafka_shim.protocol.records.batches import (
    HEADER_BYTES,
    Batch,
    batch_bounds_and_magic,
    only_batch_or_none,
)
from kafka_shim.protocol.records.compression import (
    Compression,
    DecompressedTooBigError,
    MissingPackageError,
    decompress_until_damage,
)
from kafka_shim.shim.handlers.producing.any_format import (
    CheckedBatch,
    checked_batches_converting_old_formats,
)
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    RecordsRejected,
    check_batch_returning_max_timestamp_ms,
)
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.logs.log_settings import LogSettings

AT_ONCE_BYTES = 64 * 1024
"""Decompressed bytes of a request that are checked in one time slice, in 15 ms at most."""
_MAGIC_AT, _OLD_ATTRIBUTES_AT, _ATTRIBUTES_AT = 16, 17, 22
_COMPRESSION = 0x07


class CheckedRecords(msgspec.Struct, frozen=True, gc=False):
    """The outcome of checks under these settings of a log.

    `batches` ends before the first rejected batch; `rejection` is why that was rejected. It has
    no traceback, whose frames would lead back to this object: no GC scans it.
    """

    settings: LogSettings
    batches: list[CheckedBatch]
    rejection: RecordsRejected | None


def check_records_of_partition(
    content: bytes, batch: Batch | None, limits: RecordLimits
) -> CheckedRecords:
    """Check the records for a partition: one batch, or messages of any format. Do not raise."""
    checked_batches: list[CheckedBatch] = []
    rejection = None
    try:
        if batch is not None:
            max_timestamp_ms = check_batch_returning_max_timestamp_ms(batch, limits)
            checked_batches.append(CheckedBatch(batch, max_timestamp_ms))
        elif content:
            checked_batches.extend(checked_batches_converting_old_formats(content, limits))
    except RecordsRejected as error:
        rejection = error.copy_without_traceback()
    return CheckedRecords(limits.settings, checked_batches, rejection)


def takes_long(request: ProduceRequest, _cluster: Cluster) -> bool:
    """Return whether compressed records of a short request may be many."""
    bytes_left = AT_ONCE_BYTES
    for topic in request.topic_data:
        for data in topic.partition_data:
            records = data.records
            if (
                records is None
                or len(records) < HEADER_BYTES
                or _is_single_uncompressed_batch(records)
            ):
                continue
            batch = only_batch_or_none(records)
            if batch is None:
                if _has_compressed_entry(records):
                    return True
                continue
            bytes_left -= _decompressed_size_or_one_above_limit(batch, bytes_left)
            if bytes_left < 0:
                return True
    return False


def _is_single_uncompressed_batch(records: bytes) -> bool:
    """Return whether this is one batch of format 2 without compression, as most are."""
    return (
        not records[_ATTRIBUTES_AT] & _COMPRESSION
        and records[_MAGIC_AT] == 2
        and int.from_bytes(records[8:12], "big") + 12 == len(records)
    )


def _decompressed_size_or_one_above_limit(batch: Batch, bytes_max: int) -> int:
    """Return the size of decompressed records, or a larger one than `bytes_max`."""
    try:
        compressed = batch.blob[batch.start_in_blob + HEADER_BYTES :]
        return len(
            decompress_until_damage(
                Compression(batch.compression_code), compressed, bytes_max
            ).content
        )
    except DecompressedTooBigError:
        return bytes_max + 1
    except (DecodeError, MissingPackageError, ValueError):  # such as an unknown compression
        return 0


def _has_compressed_entry(records: bytes) -> bool:
    """Return whether one of several messages of old formats, or of batches, is compressed."""
    try:
        return any(
            records[start + (_OLD_ATTRIBUTES_AT if magic < 2 else _ATTRIBUTES_AT)] & _COMPRESSION
            for start, _, magic in batch_bounds_and_magic(records, allows_truncated_end=True)
        )
    except (DecodeError, IndexError):
        return False
