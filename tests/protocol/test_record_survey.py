"""The survey of records finds the same as reading them."""

import re
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import BatchOptions, encode_batch, iterate_batches
from kafka_shim.protocol.records.record_codec import Record, read_records, write_records
from kafka_shim.protocol.records.validation import RecordChecks, RecordsSummary, validate_records
from tests.protocol.record_lists import NOW, record_lists, some_records

pytestmark = pytest.mark.deep


def outcome(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except DecodeError:
        return None


def agree(content: bytes, count: int) -> bool:
    """Return whether the survey and the decoder agree about these records."""
    records = outcome(lambda: read_records(content, count, 0, NOW))
    found = outcome(lambda: validate_records(content, count, NOW))
    if found is None and re.search(rb"[\x80-\xff]{5}", content):
        return True  # brokers reject varints of 6 bytes, which the decoder accepts
    if records is None or found is None:
        return records is found
    times = [record.timestamp for record in records] or [NOW]
    return found == RecordsSummary(
        min(times),
        max(times),
        any(record.key is None for record in records),
        [record.offset for record in records] != list(range(count)),
    )


@given(record_lists(), st.integers(0, 1 << 60))
def test_a_survey_of_records_agrees_with_decoding(records: list[Record], seed: int) -> None:
    random = Random(seed)
    plain = [Record(at, NOW + at, row.key, row.value or b"") for at, row in enumerate(records)]
    for rows in (records, plain):
        whole = write_records(rows, rows[0].offset, NOW)
        assert agree(whole, len(rows))
        for _ in range(20):
            damaged = bytearray(whole)
            for _ in range(random.randrange(3)):
                damaged[random.randrange(len(damaged))] = random.choice((0, 1, 2, 3, 128, 255))
            content = bytes(damaged[: random.randrange(2 * len(damaged))])
            assert agree(content, max(1, len(rows) + random.choice((0, 0, 0, 1, -1))))


@given(
    st.none() | st.binary(max_size=70), st.binary(max_size=150), st.integers(1, 90), st.randoms()
)
def test_records_of_equal_lengths_are_checked_together(
    key: bytes | None, value: bytes, count: int, random: Random
) -> None:
    rows = [Record(at, NOW + random.choice((0, at)), key, value) for at in range(count)]
    whole = write_records(rows, 0, NOW)
    assert agree(whole, count)
    for _ in range(20):
        damaged = bytearray(whole)
        at = random.randrange(len(damaged))
        damaged[at] = random.choice((damaged[at] ^ 1 << random.randrange(8), random.randrange(256)))
        assert agree(bytes(damaged), count)


def test_times_are_exact() -> None:
    far, near = [Record(0, NOW + 1000, b"k", b"v")], [Record(0, NOW + 63, b"k", b"v")]
    assert validate_records(write_records(far, 0, NOW), 1, NOW) == RecordsSummary(
        NOW + 1000, NOW + 1000, False
    )
    assert validate_records(write_records(near, 0, NOW), 1, NOW) == RecordsSummary(
        NOW + 63, NOW + 63, False
    )


def test_an_append_time_is_the_time_of_all_records() -> None:
    (batch,) = iterate_batches(encode_batch(some_records(), BatchOptions(append_time_ms=NOW + 9)))
    assert batch.validate_records() == RecordsSummary(NOW + 9, NOW + 9, lacks_some_key=False)


def test_work_is_bounded_by_the_scope() -> None:
    headers = tuple(("", None) for _ in range(50))
    rows = [Record(at, NOW, b"k", b"v" * at, headers) for at in range(10)]
    content = write_records(rows, 0, NOW)
    checks = RecordChecks(records_and_headers_max=510)
    assert validate_records(content, 10, NOW, checks).lacks_some_key is False
    for scope in (
        RecordChecks(records_and_headers_max=509),
        RecordChecks(records_and_headers_max=9),
        RecordChecks(record_bytes_max=100),
    ):
        with pytest.raises(DecodeError):
            validate_records(content, 10, NOW, scope)


def test_times_wrap_around_at_64_bits() -> None:
    content = write_records([Record(0, (1 << 63) - 1, b"", b"")], 0, 0)
    assert validate_records(content, 1, 5).latest_timestamp == -(1 << 63) + 4


@pytest.mark.parametrize(("count", "step"), [(2, 1), (2, 100), (40, 1), (40, 100)])
def test_times_next_to_the_end_of_64_bits_wrap_around(count: int, step: int) -> None:
    rows = [Record(at, at * step, b"k", b"v") for at in range(count)]
    content, end = write_records(rows, 0, 0), (1 << 63) - 1
    times = [end, *(-(1 << 63) - 1 + at * step for at in range(1, count))]
    assert [record.timestamp for record in read_records(content, count, 0, end)] == times
    found = validate_records(content, count, end)
    assert (found.earliest_timestamp, found.latest_timestamp) == (min(times), end)
