"""Looking at records without building them tells what reading them does."""

from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis import given, strategies as st

from protocol.errors import DecodeError
from protocol.record_coding import Record, Survey, read_records, survey, write_records
from protocol.records import BatchOptions, batches, encode_batch
from tests.protocol.record_lists import NOW, record_lists, some_records


def outcome(look: Callable[[], Any]) -> Any:
    try:
        return look()
    except DecodeError:
        return None


def agree(content: bytes, count: int) -> bool:
    """Whether looking at records tells what reading them does."""
    records = outcome(lambda: read_records(content, count, 0, NOW))
    found = outcome(lambda: survey(content, count, NOW))
    if records is None or found is None:
        return records is found
    times = [record.timestamp for record in records] or [NOW]
    holds = found.earliest <= min(times) and max(times) <= found.latest
    return holds and found.lacks_key == any(record.key is None for record in records)


@given(record_lists(), st.integers(0, 1 << 60))
def test_looking_at_records_tells_what_reading_them_does(records: list[Record], seed: int) -> None:
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
            assert agree(content, len(rows) + random.choice((0, 0, 0, 1, -1)))


@given(
    st.none() | st.binary(max_size=70), st.binary(max_size=150), st.integers(1, 90), st.randoms()
)
def test_records_of_one_shape_are_looked_at_together(
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


def test_looking_at_records_is_as_exact_as_need_be() -> None:
    far, near = [Record(0, NOW + 1000, b"k", b"v")], [Record(0, NOW + 63, b"k", b"v")]
    assert survey(write_records(far, 0, NOW), 1, NOW) == Survey(NOW + 1000, NOW + 1000, False)
    assert survey(write_records(near, 0, NOW), 1, NOW) == Survey(NOW - 64, NOW + 64, False)


def test_an_append_time_is_the_time_of_all_records() -> None:
    (batch,) = batches(encode_batch(some_records(), BatchOptions(append_time_ms=NOW + 9)))
    assert batch.survey() == Survey(NOW + 9, NOW + 9, lacks_key=False)
