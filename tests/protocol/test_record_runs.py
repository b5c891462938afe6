"""The fast check of runs of records has the same result as the check of each single record."""

from random import Random
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.record_codec import Record, write_records
from kafka_shim.protocol.records.validation import (
    ALL_CHECKS,
    RUN_RECORDS_MIN,
    TIMESTAMP_DELTA_LIMIT,
    UNLIMITED,
    CheckedUniformRuns,
    RecordChecks,
    _validate_remaining_records,
    check_leading_uniform_runs,
    validate_records,
)
from tests.protocol.record_lists import NOW

pytestmark = pytest.mark.deep

LAST = (1 << 63) - 1
SCOPES = (
    ALL_CHECKS,
    RecordChecks(checks_record_sizes=False),
    RecordChecks(record_bytes_max=30),
    RecordChecks(records_and_headers_max=400),
)


def walked(content: bytes, count: int, timestamp: int, scope: RecordChecks) -> Any:
    """Return the result of checking the records one by one, or its error."""
    if not 0 < count <= scope.records_and_headers_max:
        return "limit"
    try:
        return _validate_remaining_records(
            content,
            count,
            timestamp,
            scope,
            CheckedUniformRuns(
                0, 0, TIMESTAMP_DELTA_LIMIT, -TIMESTAMP_DELTA_LIMIT, lacks_some_key=False
            ),
        )
    except (DecodeError, IndexError) as error:
        return type(error), str(error)


def surveyed(content: bytes, count: int, timestamp: int, scope: RecordChecks) -> Any:
    if not 0 < count <= scope.records_and_headers_max:
        return "limit"
    try:
        return validate_records(content, count, timestamp, scope)
    except DecodeError as error:
        if isinstance(error.__cause__, IndexError):
            return IndexError, str(error.__cause__)
        return type(error), str(error)


@st.composite
def stretches(draw: st.DrawFn) -> list[Record]:
    """Draw runs of records with equal lengths and mostly increasing timestamps."""
    rows: list[Record] = []
    time = 0
    for _ in range(draw(st.integers(1, 5))):
        key = draw(st.none() | st.binary(max_size=3) | st.just(b"k" * 64))
        value = draw(st.none() | st.binary(max_size=40) | st.sampled_from((b"v" * 63, b"v" * 200)))
        headers = draw(st.just(()) | st.just((("h", b"x"),)))
        step = draw(st.sampled_from((0, 0, 1, 3, 40, -1, -70, 9000)))
        for number in range(draw(st.sampled_from((1, 5, 6, 7, 40, 64, 150)))):
            time += step if number % 3 == 0 else 0
            rows.append(Record(len(rows), time, key, value, headers))
    return rows


@given(
    stretches(),
    st.sampled_from((NOW, 0, -1, LAST, -LAST - 1, LAST - 3000, 1 << 62, -(1 << 62))),
    st.randoms(),
)
def test_runs_are_checked_like_single_records(
    rows: list[Record], timestamp: int, random: Random
) -> None:
    if random.random() < 0.2:
        rows[random.randrange(len(rows))].offset += 1
    whole = write_records(rows, 0, 0)
    count = len(rows)
    for _ in range(15):
        damaged = bytearray(whole)
        for _ in range(random.choice((0, 1, 1, 2))):
            at = random.randrange(len(damaged))
            flipped = damaged[at] ^ 1 << random.randrange(8)
            damaged[at] = random.choice((flipped, 0, 1, 128, 255))
        if random.random() < 0.2:
            damaged = damaged[: random.randrange(len(damaged))]
        if random.random() < 0.2:
            damaged += b"\0"
        content, said = bytes(damaged), count + random.choice((0, 0, 0, 1, -1))
        scope = random.choice(SCOPES)
        found = surveyed(content, said, timestamp, scope)
        assert found == walked(content, said, timestamp, scope)


@given(st.integers(1, 20_000), st.integers(0, 1000), st.integers(0, 20), st.randoms())
@example(8192 * 2 + 3, 7, 3, Random(1))
def test_offsets_of_one_to_three_bytes(count: int, slow: int, size: int, random: Random) -> None:
    rows = [Record(at, at // (slow + 1), None, b"v" * size) for at in range(count)]
    whole = write_records(rows, 0, 0)
    assert (
        check_leading_uniform_runs(whole, 0, count, NOW, UNLIMITED)[:2]
        >= (count - RUN_RECORDS_MIN, 0)
        or count < RUN_RECORDS_MIN
        or not slow
    )
    for _ in range(3):
        damaged = bytearray(whole)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        for content in (whole, bytes(damaged)):
            found = surveyed(content, count, NOW, ALL_CHECKS)
            assert found == walked(content, count, NOW, ALL_CHECKS)


def test_runs_of_any_length_take_few_steps() -> None:
    pairs = [Record(at, 0, None, b"v" * (at // 2 % 60)) for at in range(2000)]
    assert check_leading_uniform_runs(write_records(pairs, 0, 0), 0, 2000, NOW, UNLIMITED)[0] < 20
