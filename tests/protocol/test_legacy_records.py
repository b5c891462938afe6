"""Message sets of formats 0 and 1: compared with kafka-python, and damaged ones."""

from random import Random

import pytest
from hypothesis import given, strategies as st
from kafka.record.legacy_records import LegacyRecordBatchBuilder
from kafka.record.memory_records import MemoryRecords

from kafka_shim.protocol.errors import DecodeError, EncodeError, ProtocolError
from kafka_shim.protocol.records.batches import (
    BatchOptions,
    Record,
    encode_batch,
    prepend_offset,
    transaction_marker,
)
from kafka_shim.protocol.records.compression import Compression, compress, is_compression_available
from kafka_shim.protocol.records.message_sets import (
    down_convert_data_batches,
    iterate_outer_messages,
    read_message_set,
    with_correct_header_checksum,
    with_format_0_header_checksum,
    write_message_set,
)

NOW = 1_700_000_000_000
PLAIN, GZIP = Compression.NONE, Compression.GZIP


def some_records(count: int = 5, *, base: int = 0, timestamp: int = NOW) -> list[Record]:
    return [
        Record(base + i, timestamp, None if i == 2 else b"k%d" % i, b"v" * i * 40)
        for i in range(count)
    ]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", [PLAIN, GZIP])
@pytest.mark.parametrize("base", [0, 1000])
def test_round_trip(magic: int, compression: Compression, base: int) -> None:
    records = some_records(base=base, timestamp=NOW if magic else -1)
    blob = write_message_set(records, magic, compression)
    assert read_message_set(blob) == records
    outer = list(iterate_outer_messages(blob))
    assert all(message.is_intact for message in outer)
    assert len(outer) == (1 if compression else 5)
    assert outer[-1].offset == base + 4
    assert outer[0].compression_code == compression


@pytest.mark.parametrize("magic", [0, 1])
def test_the_bytes_of_kafka_python(magic: int) -> None:
    builder = LegacyRecordBatchBuilder(magic=magic, compression_type=0, batch_size=1 << 20)
    for record in some_records():
        builder.append(record.offset, record.timestamp, record.key, record.value)
    assert write_message_set(some_records(), magic) == bytes(builder.build())


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", [PLAIN, GZIP])
def test_kafka_python_reads_written_message_sets(magic: int, compression: Compression) -> None:
    theirs = MemoryRecords(write_message_set(some_records(), magic, compression))
    read = []
    while (batch := theirs.next_batch()) is not None:
        assert batch.validate_crc()
        read += [(record.offset, record.key, record.value) for record in batch]
    assert read == [(record.offset, record.key, record.value) for record in some_records()]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("compression", [PLAIN, GZIP])
def test_message_sets_of_kafka_python_are_read(magic: int, compression: Compression) -> None:
    builder = LegacyRecordBatchBuilder(
        magic=magic, compression_type=compression, batch_size=1 << 20
    )
    for record in some_records():
        builder.append(record.offset, record.timestamp, record.key, record.value)
    read = read_message_set(bytes(builder.build()))
    # a producer's compressed message has offset 0: only a broker assigns real offsets
    wanted = some_records(base=read[0].offset, timestamp=NOW if magic else -1)
    assert read == wanted


def test_offsets_inside_a_compressed_message() -> None:
    real = write_message_set(some_records(3, base=500), 0, GZIP)
    relative = write_message_set(some_records(3, base=500), 1, GZIP)
    for blob in (real, relative):
        assert [record.offset for record in read_message_set(blob)] == [500, 501, 502]


def test_append_time() -> None:
    for compression in (PLAIN, GZIP):
        blob = write_message_set(some_records(), 1, compression, append_time_ms=NOW + 9)
        assert {record.timestamp for record in read_message_set(blob)} == {NOW + 9}
        assert all(message.has_append_time for message in iterate_outer_messages(blob))


# Records in a real broker's response to an old Fetch: two records, compressed with LZ4.
LZ4_OF_A_BROKER = bytes.fromhex(
    "000000000000000100000044cf8a3ee10003ffffffff0000003604224d1860401a27000000160001005137b4f1"
    "d8400f007f016b00000028760100140133003f000001430023507676767676"
    "00000000"
)


@pytest.mark.skipif(not is_compression_available(Compression.LZ4), reason="no LZ4 here")
def test_old_lz4_as_a_broker_writes_it() -> None:
    records = [Record(offset, -1, b"k", b"v" * 40) for offset in range(2)]
    written = write_message_set(records, 0, Compression.LZ4)
    assert written[26:33] == LZ4_OF_A_BROKER[26:33] == bytes.fromhex("04224d1860401a")
    assert read_message_set(written) == read_message_set(LZ4_OF_A_BROKER) == records
    assert next(iterate_outer_messages(LZ4_OF_A_BROKER)).is_intact


def test_old_lz4_checksums() -> None:
    frame = bytes.fromhex("04224d186040821600000000000000")
    assert with_format_0_header_checksum(frame)[6] == 0x1A
    assert with_correct_header_checksum(with_format_0_header_checksum(frame)) == frame
    sized = bytes.fromhex("04224d186848") + bytes(8) + b"?rest"
    assert with_correct_header_checksum(sized)[:14] == sized[:14]
    assert with_correct_header_checksum(sized)[15:] == b"rest"
    assert with_correct_header_checksum(b"\x04\x22") == b"\x04\x22"


def test_a_wrong_checksum_is_noticed() -> None:
    blob = bytearray(write_message_set(some_records(2), 1))
    blob[-1] ^= 1
    assert [message.is_intact for message in iterate_outer_messages(bytes(blob))] == [True, False]


def test_a_fetch_may_end_within_a_message() -> None:
    blob = write_message_set(some_records(2), 1)
    assert len(read_message_set(blob + blob[:20], allows_truncated_end=True)) == 2
    assert len(read_message_set(blob + blob[:9], allows_truncated_end=True)) == 2
    with pytest.raises(DecodeError):
        read_message_set(blob + blob[:20])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "has no value"),
        (b"", "records are not valid gzip|holds no messages"),
        (compress(GZIP, b""), "holds no messages"),
        (compress(GZIP, write_message_set(some_records(1), 0)), "another format or compression"),
        (
            compress(GZIP, write_message_set(some_records(1), 1, GZIP)),
            "another format or compression",
        ),
    ],
)
def test_invalid_compressed_messages_are_rejected(value: bytes | None, said: str) -> None:
    outer = write_message_set([Record(0, NOW, None, value)], 1)
    body = bytearray(outer)
    body[17] = GZIP  # attributes
    with pytest.raises(DecodeError, match=said):
        read_message_set(bytes(body))


def test_a_message_shorter_than_its_fields_is_refused() -> None:
    with pytest.raises(DecodeError, match="a message at byte 0 ends early"):
        read_message_set(bytes(8) + b"\0\0\0\6" + bytes(6))
    blob = bytearray(write_message_set(some_records(1), 1))
    blob[26:30] = (1000).to_bytes(4, "big")
    with pytest.raises(DecodeError, match="a message's field claims 1000 bytes"):
        read_message_set(bytes(blob))


def test_an_empty_message_set_has_no_bytes() -> None:
    assert write_message_set([], 1, GZIP) == write_message_set([], 0) == b""
    assert read_message_set(b"") == []


def test_unknown_compression_is_refused() -> None:
    blob = bytearray(write_message_set(some_records(1), 1))
    blob[17] = 7
    with pytest.raises(DecodeError, match="unknown compression 7"):
        read_message_set(bytes(blob))


@given(st.integers(0, 1 << 32))
def test_damage_is_refused_or_read(seed: int) -> None:
    random = Random(seed)
    blob = write_message_set(some_records(3), random.choice((0, 1)), random.choice((PLAIN, GZIP)))
    at = random.randrange(len(blob))
    noise = random.randbytes(random.choice((1, 4)))
    try:
        read_message_set(blob[:at] + noise + blob[at + len(noise) :])
    except ProtocolError as error:
        said = str(error)
        assert said


def test_down_conversion() -> None:
    headers = (("h", b"x"),)
    written = [Record(r.offset, r.timestamp, r.key, r.value, headers) for r in some_records(3)]
    blob = b"".join(
        [
            encode_batch(written),
            prepend_offset(
                transaction_marker((1, 1), NOW, commit=True, coordinator_epoch=0),
                3,
                -1,
            ),
            encode_batch(some_records(2, base=4), BatchOptions(compression=GZIP)),
            encode_batch(some_records(1, base=6), BatchOptions(append_time_ms=NOW + 1)),
        ]
    )
    later = [Record(6, NOW + 1, b"k0", b"")]
    assert read_message_set(down_convert_data_batches(blob, 1)) == [
        *some_records(3),
        *some_records(2, base=4),
        *later,
    ]
    converted = down_convert_data_batches(blob, 0)
    assert {record.timestamp for record in read_message_set(converted)} == {-1}
    kinds = [
        message.compression_code
        for message in iterate_outer_messages(down_convert_data_batches(blob, 1))
    ]
    assert kinds == [0, 0, 0, 1, 0]


def test_zstd_cannot_be_encoded_in_old_formats() -> None:
    with pytest.raises(EncodeError, match="zstd exists only in batches of format 2"):
        write_message_set(some_records(), 1, Compression.ZSTD)


def test_batches_are_rejected() -> None:
    with pytest.raises(DecodeError, match="has format 2; expected 0 or 1"):
        read_message_set(encode_batch(some_records()))
