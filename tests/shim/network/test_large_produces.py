"""A long Produce request whose records are quickly checked and appended is not handled in turns."""

from random import Random

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.records.batches import BatchOptions, encode_batch
from kafka_shim.protocol.records.compression import Compression
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.shim.network.large_produces import is_quickly_appended, record_ranges_unless_unusual
from tests.protocol.record_lists import NOW
from tests.support.frames import request_frame
from tests.support.record_requests import produce_request

VERSIONS = range(3, 14)
RECORD_BYTES = 1024


def produce(version: int, *records: bytes | None, client_id: str | None = "c") -> bytes:
    """Return a Produce frame with one topic; each of `records` is for one partition."""
    request = produce_request("orders" if version < 13 else b"\1" * 16, *records)
    return request_frame(ApiKey.PRODUCE, version, request, 7, client_id)


def batch(
    count: int, *, size: int = RECORD_BYTES, compression: Compression = Compression.NONE
) -> bytes:
    rows = [Record(at, NOW + at // 20, None, b"v" * size) for at in range(count)]
    return encode_batch(rows, BatchOptions(compression=compression))


def other_shapes(count: int) -> bytes:
    headers = tuple(("", None) for _ in range(40))
    rows = [Record(at, NOW, None, b"v" * (at % 2), headers) for at in range(count)]
    return encode_batch(rows)


@given(
    st.sampled_from(VERSIONS),
    st.lists(st.none() | st.binary(max_size=300), max_size=16),
    st.none() | st.text(max_size=3),
)
def test_records_are_found_where_the_codec_reads_them(
    version: int, records: list[bytes | None], client_id: str | None
) -> None:
    frame = produce(version, *records, client_id=client_id)
    found = record_ranges_unless_unusual(frame)
    assert found is not None
    assert [frame[start:end] for start, end in found] == [row or b"" for row in records]


@pytest.mark.parametrize("version", VERSIONS)
def test_usual_batches_of_load_tools_are_soon_appended(version: int) -> None:
    for records in ([batch(15)] * 3, [batch(1000)], [batch(62)] * 16, [batch(9000, size=80)]):
        assert is_quickly_appended(produce(version, *records))


@pytest.mark.parametrize(
    "records",
    [
        [batch(15)] * 17,
        [batch(15) * 2],
        [batch(15), None],
        [batch(10_001, size=10)],
        [batch(5000, size=10)] * 3,
        [batch(15, compression=Compression.GZIP)],
        [other_shapes(1000)],
        [batch(1000)] * 5,
        [b"\0" * 40_000],
    ],
)
def test_batches_that_may_take_long_are_not_soon_appended(records: list[bytes | None]) -> None:
    assert not is_quickly_appended(produce(9, *records))


def test_few_records_of_any_shape_are_soon_appended() -> None:
    assert is_quickly_appended(produce(9, other_shapes(500)))


@given(st.integers(0, 14), st.randoms())
def test_damaged_frames_raise_no_exception(version: int, random: Random) -> None:
    whole = produce(max(3, min(13, version)), batch(70, size=8), batch(3), batch(40))
    frame = bytearray(whole)
    for _ in range(random.randrange(1, 4)):
        frame[random.randrange(min(90, len(frame)))] = random.randrange(256)
    for content in (bytes(frame), bytes(frame[: random.randrange(len(frame))])):
        assert is_quickly_appended(content) in (True, False)
