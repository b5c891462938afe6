"""Produce: validation of batches, with responses as recorded from 4.3.1 and 3.5.2."""

import gc
import gzip
import resource
import struct
import time
import weakref
from collections.abc import Callable, Sequence

import pytest
from crc32c import crc32c

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.records.compression import Compression, compress, is_compression_available
from kafka_shim.shim.handlers.producing.record_checks import COMPRESSED_ITEMS_MAX, LISTED_MAX
from tests.recordings.records.batches import GZIP, T0, message, record, zigzag
from tests.shim.handlers.records import produce, produced
from tests.shim.play import Stage

INVALID, UNKNOWN = 87, -1
ROWS = [record(at, b"v", b"k", 0) for at in range(3)]
SIZES = pytest.mark.parametrize("size", [1, 6000], ids=["small", "large"])
PACKED = [
    codec
    for codec in (Compression.GZIP, Compression.SNAPPY, Compression.LZ4, Compression.ZSTD)
    if is_compression_available(codec)
]


def holding(content: bytes, count: int = 3, attributes: int = 0, newest: int = T0) -> bytes:
    """Return a batch with exactly this content."""
    fields = (attributes, count - 1, T0, newest, -1, -1, -1, count)
    body = struct.pack(">hiqqqhii", *fields) + content
    return struct.pack(">qiibI", 0, len(body) + 9, -1, 2, crc32c(body)) + body


def packed(content: bytes, count: int = 3, codec: Compression = Compression.GZIP) -> bytes:
    return holding(compress(codec, content), count, codec)


def code(records: bytes, release: str = "4.3", **configs: str) -> int:
    stage = Stage(release)
    stage.topic("t", configs=configs)
    return produced(produce(stage, "t", records=records))["t"]


def lying(row: bytes, by: int) -> bytes:
    return bytes([row[0] + 2 * by]) + row[1:]


def with_offsets(*offsets: int) -> bytes:
    return b"".join(record(offset, b"v", b"k", 0) for offset in offsets)


CONTENTS: dict[str, tuple[Callable[[bytes], Sequence[bytes]], int, int, int]] = {
    # the batch's parts, given its first record; then the error codes of 4.3.1 uncompressed and
    # compressed, and of 3.5.2 compressed
    "valid": (lambda first: [first, *ROWS[1:]], 0, 0, 0),
    "trailing bytes": (lambda first: [first, *ROWS[1:], b"abc"], INVALID, INVALID, INVALID),
    "a record too many": (lambda first: [first, *ROWS[1:], ROWS[2]], INVALID, INVALID, INVALID),
    "a record too few": (lambda first: [first, ROWS[1]], INVALID, INVALID, INVALID),
    "cut off": (lambda first: [first, ROWS[1], ROWS[2][:-2]], INVALID, INVALID, INVALID),
    "zeros": (lambda first: [bytes(len(first))], INVALID, INVALID, INVALID),
    "sizes that never end": (lambda first: [b"\xff" * len(first) * 9], UNKNOWN, INVALID, UNKNOWN),
    "no records": (lambda first: [], INVALID, INVALID, INVALID),
    "other offsets": (lambda first: [first, with_offsets(5, 6)], 0, UNKNOWN, UNKNOWN),
    "the same offset": (lambda first: [first, with_offsets(0, 0)], 0, UNKNOWN, UNKNOWN),
    "a size too large": (lambda first: [first, ROWS[1], lying(ROWS[2], 1)], INVALID, 0, INVALID),
    "a size too small": (lambda first: [first, lying(ROWS[1], -1), ROWS[2]], INVALID, 0, INVALID),
    "a negative number of headers": (
        lambda first: [first, ROWS[1], ROWS[2][:-1] + zigzag(-1)], INVALID, INVALID, INVALID,
    ),
    "many headers": (
        lambda first: [first, ROWS[1], lying(ROWS[2], 4)[:-1] + zigzag(1 << 30)],
        INVALID, INVALID, INVALID,
    ),
}  # fmt: skip


@SIZES
@pytest.mark.parametrize("case", CONTENTS)
def test_records_are_validated_as_by_a_real_broker(case: str, size: int) -> None:
    contents, plain, compressed, before = CONTENTS[case]
    content = b"".join(contents(record(0, b"x" * size, b"k", 0)))
    assert code(holding(content)) == plain
    for codec in PACKED:
        assert code(packed(content, codec=codec)) == compressed, codec
    assert code(packed(content), "3.5") == before


def test_old_releases_accept_other_offsets() -> None:
    """Recorded from 1.1.1."""
    stage = Stage("1.1")
    stage.topic("t")
    records = packed(ROWS[0] + with_offsets(5, 6))
    assert produced(produce(stage, "t", records=records, version=3)) == {"t": 0}


@pytest.mark.parametrize("codec", PACKED)
def test_damaged_compression_is_an_unknown_server_error(codec: Compression) -> None:
    content = b"".join([record(0, bytes(range(256)) * 20, b"k", 0), *ROWS[1:]])
    whole = compress(codec, content)
    damaged = (whole[:-5], whole[: len(whole) // 2], whole[:3], b"\x99" * 50)
    assert [code(holding(part, 3, codec)) for part in damaged] == [UNKNOWN] * 4


def test_trailing_bytes_are_ignored_but_a_second_gzip_member_is_read() -> None:
    content = b"".join(ROWS)
    whole = gzip.compress(content)
    assert code(holding(whole + b"zzzz", 3, GZIP)) == 0
    assert code(holding(whole + whole, 3, GZIP)) == INVALID
    halves = gzip.compress(ROWS[0]) + gzip.compress(ROWS[1] + ROWS[2])
    assert code(holding(halves, 3, GZIP)) == 0


@pytest.mark.parametrize("codec", [Compression.NONE, *PACKED])
def test_the_stored_max_timestamp_is_computed_from_the_records(codec: Compression) -> None:
    content = b"".join([record(0, b"v", b"k", 9), *ROWS[1:]])
    for newest in (T0, T0 + 50, -5):
        stage = Stage("4.3")
        stage.topic("t")
        batch = holding(compress(codec, content), 3, codec, newest)
        assert produced(produce(stage, "t", records=batch)) == {"t": 0}
        (stored,) = stage.found("t").partitions[0].log.batches
        assert stored.max_timestamp == T0 + 9
        assert struct.unpack_from(">q", stored.payload, 35) == (T0 + 9,)
        assert struct.unpack_from(">I", stored.payload, 17) == (crc32c(stored.payload[21:]),)


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """Return the processor seconds, and the growth of the process's peak memory in MiB."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    work()
    took = time.process_time() - began
    return took, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


@pytest.mark.parametrize("codec", PACKED)
def test_a_bomb_of_tiny_records_is_refused(codec: Compression) -> None:
    """A request of some kilobytes contains 8 million records of 7 bytes."""
    bomb = packed(record(0, None, None, 0) * 8_000_000, 8_000_000, codec)
    stage = Stage("4.3")
    stage.topic("t", configs={"max.message.bytes": str(1 << 26)})
    responses: list[dict[str, int]] = []
    seconds, mebibytes = cost(lambda: responses.append(produced(produce(stage, "t", records=bomb))))
    assert responses == [{"t": INVALID}]
    assert seconds < 2
    assert mebibytes < 200


def test_a_bomb_of_bytes_is_refused() -> None:
    content = record(0, bytes(65 << 20), b"k", 0)
    assert code(packed(content, 1)) == INVALID
    assert code(packed(record(0, bytes(60 << 20), b"k", 0), 1)) == 0


def test_a_bomb_of_headers_is_refused() -> None:
    row = record(0, b"v", b"k", 0)[1:-1] + zigzag(COMPRESSED_ITEMS_MAX)
    row += zigzag(0) * 2 * COMPRESSED_ITEMS_MAX
    assert code(packed(zigzag(len(row)) + row, 1)) == INVALID


def test_the_number_of_listed_record_errors_is_limited() -> None:
    stage = Stage("4.3")
    stage.topic("t", configs={"cleanup.policy": "compact"})
    count = LISTED_MAX + 5
    content = b"".join(record(at, b"v", None, 0) for at in range(count))
    response = produce(stage, "t", records=packed(content, count))
    (row,) = response.responses[0].partition_responses
    assert (row.error_code, len(row.record_errors)) == (INVALID, LISTED_MAX)


def test_a_bomb_in_an_old_message_is_refused() -> None:
    inner = message(b"") * 140_000
    old = message(gzip.compress(inner), attributes=GZIP, offset=139_999)
    stage = Stage("3.9")
    stage.topic("t")
    seconds, _ = cost(lambda: produce(stage, "t", records=old, version=2))
    assert seconds < 3
    assert produced(produce(stage, "t", records=old, version=2)) == {"t": 2}


@pytest.mark.parametrize(("release", "version"), [("0.11", 2), ("3.9", 2), ("3.9", 7)])
def test_rejected_records_do_not_stay_in_memory(release: str, version: int) -> None:
    """A traceback in the outcome of the checks kept the request, its records and the cluster."""
    stage = Stage(release)
    stage.topic("t")
    alive = weakref.ref(stage.cluster)
    for records in (b"x" * 30, message(b"v") + b"x", packed(b"x" * 100_000, 1)):
        produce(stage, "t", records=records, version=version)
    del stage
    gc.collect()
    assert alive() is None


def test_a_lookup_by_time_builds_one_record_at_a_time() -> None:
    stage = Stage("4.3")
    stage.topic("t")
    count = COMPRESSED_ITEMS_MAX
    rows = b"".join(record(at, None, None, 0) for at in range(count))
    assert produced(produce(stage, "t", records=packed(rows, count))) == {"t": 0}
    wanted = ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=T0)])
    request = ListOffsetsRequest(replica_id=-1, topics=[wanted])
    _, mebibytes = cost(lambda: stage.ask(ApiKey.LIST_OFFSETS, 7, request))
    assert mebibytes < 10
