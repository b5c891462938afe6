"""Records for tests: random ones from hypothesis, and fixed ones."""

from hypothesis import strategies as st

from kafka_shim.protocol.records.record_codec import Record

NOW = 1_700_000_000_000

BYTES = st.none() | st.binary(max_size=200)
HEADERS = st.lists(st.tuples(st.text(max_size=5), BYTES), max_size=3).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    offset = draw(st.integers(0, 1 << 60))
    steps = draw(st.lists(st.integers(1, 1000), min_size=1, max_size=12))
    records = []
    for step in steps:
        timestamp = draw(st.integers(-1, 1 << 50))
        content = (draw(BYTES), draw(BYTES), draw(HEADERS))
        records.append(Record(offset, timestamp, *content))
        offset += step
    return records


def some_records(count: int = 5) -> list[Record]:
    return [
        Record(100 + i, NOW - i, b"key %d" % i, b"value %d" % i * 30, (("h", b"x"), ("n", None)))
        for i in range(count)
    ]
