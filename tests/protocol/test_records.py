"""Batches of format 2: compared with kafka-python, and damaged ones."""

import tracemalloc
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st
from kafka.record.default_records import DefaultRecordBatch, DefaultRecordBatchBuilder

from kafka_shim.protocol.errors import DecodeError, ProtocolError
from kafka_shim.protocol.records.batches import (
    Batch,
    BatchOptions,
    Record,
    assign_consecutive_offsets,
    assign_offsets,
    batch_bounds,
    crc32c,
    encode_batch,
    encode_compacted_batch,
    iterate_batches,
    only_batch_or_none,
)
from kafka_shim.protocol.records.compression import Compression, is_compression_available
from kafka_shim.protocol.records.record_codec import append_zigzag_varint, read_zigzag_varint
from tests.protocol.record_lists import NOW, record_lists, some_records

CODECS = [codec for codec in Compression if is_compression_available(codec)]


def only_batch(blob: bytes) -> Batch:
    (batch,) = iterate_batches(blob)
    return batch


@given(record_lists(), st.sampled_from(CODECS))
def test_round_trip(records: list[Record], compression: Compression) -> None:
    blob = encode_batch(records, BatchOptions(compression=compression))
    batch = only_batch(blob)
    assert batch.records() == records
    assert batch.is_intact()
    assert batch.compression_code == compression
    assert (batch.base_offset, batch.last_offset) == (records[0].offset, records[-1].offset)
    assert batch.max_timestamp == max(record.timestamp for record in records)
    assert (batch.record_count, batch.magic, batch.end_in_blob) == (len(records), 2, len(blob))
    assert batch.tobytes() == blob


def test_only_a_single_whole_batch_is_a_lone_batch() -> None:
    blob = encode_batch(some_records())
    assert only_batch_or_none(blob) == only_batch(blob)
    old = blob[:16] + b"\1" + blob[17:]
    for other in (b"", blob[:60], blob[:-1], blob + b"x", blob * 2, old):
        assert only_batch_or_none(other) is None


@given(record_lists())
def test_kafka_python_reads_written_batches(records: list[Record]) -> None:
    theirs = DefaultRecordBatch(encode_batch(records))
    assert theirs.validate_crc()
    assert [as_record(record) for record in theirs] == records


def as_record(theirs: Any) -> Record:
    return Record(
        theirs.offset, theirs.timestamp, theirs.key, theirs.value, tuple(map(tuple, theirs.headers))
    )


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
@pytest.mark.parametrize("transactional", [False, True])
def test_batches_of_kafka_python_are_read_and_written(
    compression: Compression, transactional: bool
) -> None:
    random = Random(7)
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=compression,
        is_transactional=transactional,
        producer_id=77,
        producer_epoch=3,
        base_sequence=11,
        batch_size=1 << 20,
    )
    records = []
    for offset in range(40):
        key, value = random.randbytes(5) if offset % 3 else None, random.randbytes(offset * 7)
        headers = [("name", b"v"), ("ä", None)] if offset % 5 == 0 else []
        records.append(Record(offset, NOW + offset, key, value, tuple(headers)))
        builder.append(offset, NOW + offset, key, value, headers)
    blob = bytes(builder.build())
    batch = only_batch(blob)
    assert batch.is_intact()
    assert batch.records() == records
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (77, 3, 11)
    assert batch.is_transactional is transactional
    if compression == Compression.NONE:
        ours = encode_batch(
            records,
            BatchOptions(
                partition_leader_epoch=batch.partition_leader_epoch,
                producer_id=77,
                producer_epoch=3,
                base_sequence=11,
                is_transactional=transactional,
            ),
        )
        assert ours == blob


def test_assigning_offsets_keeps_the_checksum() -> None:
    blob = encode_batch(some_records())
    stored = assign_offsets(only_batch(blob), 5000, partition_leader_epoch=9)
    batch = only_batch(stored)
    assert (batch.base_offset, batch.last_offset, batch.partition_leader_epoch) == (5000, 5004, 9)
    assert batch.is_intact()
    assert batch.crc == only_batch(blob).crc
    assert [record.offset for record in batch.records()] == list(range(5000, 5005))
    assert only_batch(blob).base_offset == 100  # the original is unchanged


def test_append_time() -> None:
    batch = only_batch(
        assign_offsets(only_batch(encode_batch(some_records())), 0, append_time_ms=NOW + 5)
    )
    assert batch.is_intact()
    assert batch.has_append_time
    assert {record.timestamp for record in batch.records()} == {NOW + 5}
    written = only_batch(encode_batch(some_records(), BatchOptions(append_time_ms=NOW + 5)))
    assert written.records()[0].timestamp == NOW + 5


def test_assigning_to_several_batches() -> None:
    blob = encode_batch(some_records(3)) + encode_batch(some_records(2))
    stored, after = assign_consecutive_offsets(iterate_batches(blob), 10, partition_leader_epoch=1)
    assert [batch.base_offset for batch in iterate_batches(stored)] == [10, 13]
    assert after == 15
    assert all(batch.is_intact() for batch in iterate_batches(stored))


def test_a_fetch_may_end_within_a_batch() -> None:
    blob = encode_batch(some_records(3))
    for cut in range(1, len(blob)):
        complete = iterate_batches(blob + blob[:cut], allows_truncated_end=True)
        assert [batch.record_count for batch in complete] == [3]
        with pytest.raises(DecodeError):
            list(iterate_batches(blob + blob[:cut]))
    assert list(iterate_batches(b"")) == []


def test_formats_of_entries() -> None:
    blob = encode_batch(some_records(1))
    assert list(batch_bounds(blob + blob)) == [
        (0, len(blob), 2),
        (len(blob), 2 * len(blob), 2),
    ]
    with pytest.raises(DecodeError, match="has format 1; expected 2"):
        list(iterate_batches(blob[:16] + b"\1" + blob[17:]))


def test_a_changed_byte_breaks_the_checksum() -> None:
    blob = encode_batch(some_records())
    for at in range(21, len(blob)):
        changed = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        assert not only_batch(changed).is_intact()


@pytest.mark.parametrize("compression", CODECS)
def test_damaged_batches_are_refused_or_read(compression: Compression) -> None:
    blob = encode_batch(some_records(), BatchOptions(compression=compression))
    random = Random(compression)
    for _ in range(3000):
        at = random.randrange(len(blob))
        noise = random.randbytes(random.choice((1, 1, 1, 4)))
        damaged = blob[:at] + noise + blob[at + len(noise) :]
        try:
            for batch in iterate_batches(damaged):
                batch.is_intact()
                batch.records()
        except ProtocolError as error:
            said = str(error)
            assert said


def test_claimed_counts_take_no_memory() -> None:
    blob = bytearray(encode_batch(some_records(1)))
    blob[57:61] = (0x7FFFFFFF).to_bytes(4, "big")
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError, match="claims 2147483647 records"):
            only_batch(bytes(blob)).records()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 100_000


def with_count(blob: bytes, count: int) -> bytes:
    return blob[:57] + count.to_bytes(4, "big", signed=True) + blob[61:]


def test_counts_and_lengths_must_fit() -> None:
    blob = encode_batch(some_records(2))
    with pytest.raises(DecodeError, match="bytes follow the records of a batch"):
        only_batch(with_count(blob, 1)).records()
    with pytest.raises(DecodeError, match="a batch ends before its records do"):
        only_batch(with_count(blob, 3)).records()
    with pytest.raises(DecodeError, match="a batch claims -1 records"):
        only_batch(with_count(blob, -1)).records()
    with pytest.raises(DecodeError, match=r"a record claims 8128 bytes at byte 2"):
        only_batch(blob[:61] + b"\x80\x7f" + blob[63:]).records()


def test_fields_of_a_record_must_fit() -> None:
    blob = encode_batch([Record(0, 0, b"key", b"value", (("h", b"x"),))])
    record = blob[61:]
    assert record == b"\x24\0\0\0\6key\nvalue\2\2h\2x"
    for damaged, said in (
        (b"\x24\0\0\0\x7ekey\nvalue\2\2h\2x", "a record's field claims 63 bytes"),
        (b"\x24\0\0\0\6key\nvalue\x7e\2h\2x", "a record claims 63 headers"),
        (b"\x24\0\0\0\6key\nvalue\1\2h\2x", "a record claims -1 headers"),
        (b"\x24\0\0\0\6key\nvalue\2\1h\2x", "a record's header has no name"),
        (b"\x24\0\0\0\6key\nvalue\0\2h\2x", "a record ends at byte 15, and claimed"),
    ):
        with pytest.raises(DecodeError, match=said):
            only_batch(blob[:61] + damaged).records()


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.binary(max_size=3))
def test_zigzag_varints(value: int, before: bytes) -> None:
    out = bytearray(before)
    append_zigzag_varint(out, value)
    assert read_zigzag_varint(bytes(out), len(before)) == (value, len(out))


def test_varint_of_eleven_bytes_is_refused() -> None:
    with pytest.raises(DecodeError, match="longer than 10 bytes"):
        read_zigzag_varint(b"\xff" * 11, 0)


@given(record_lists(), st.sampled_from(CODECS), st.data())
def test_a_thinned_batch_keeps_its_offsets_and_the_remaining_records(
    records: list[Record], codec: Compression, data: st.DataObject
) -> None:
    options = BatchOptions(compression=codec, producer_id=7, producer_epoch=1, base_sequence=3)
    (whole,) = iterate_batches(encode_batch(records, options))
    left = [record for record in records if data.draw(st.booleans())]
    horizon_ms = data.draw(st.none() | st.integers(0, 1 << 50))
    (batch,) = iterate_batches(encode_compacted_batch(whole, left, horizon_ms))
    assert batch.is_intact()
    assert batch.records() == left
    assert (batch.base_offset, batch.last_offset) == (whole.base_offset, whole.last_offset)
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 1, 3)
    assert batch.delete_horizon_ms == (horizon_ms if left else None)
    newest = max(record.timestamp for record in left or records)
    assert batch.max_timestamp == newest
    if left:
        theirs = DefaultRecordBatch(batch.tobytes())
        assert theirs.validate_crc()
        assert [record.offset for record in theirs] == [record.offset for record in left]


# the published check value of CRC32C
def test_the_check_value() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(memoryview(b"x123456789")[1:]) == 0xE3069283
    assert crc32c(b"") == 0
