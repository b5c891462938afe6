"""Compaction of random logs; results of real brokers are in the recordings."""

from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import (
    NO_PRODUCER,
    BatchOptions,
    Record,
    encode_batch,
    iterate_batches,
)
from kafka_shim.protocol.records.compression import Compression, is_compression_available
from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.handlers.producing.appending import append_idempotently
from kafka_shim.shim.handlers.producing.record_checks import (
    RecordLimits,
    check_batch,
)
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.log_cleaner import CompactionSizes, compact_logs
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings
from kafka_shim.shim.state.transactions.transaction_markers import append_end_marker
from tests.shim.play import Stage

FACTS = facts_of_release(RELEASES[-1]).records

HOUR_MS = 3_600_000
COMPACT = {"cleanup.policy": "compact", "delete.retention.ms": str(HOUR_MS)}
CODECS = [codec for codec in Compression if is_compression_available(codec)]
ROWS = st.tuples(st.sampled_from("abcd"), st.none() | st.binary(max_size=3))
WRITTEN = st.lists(
    st.tuples(st.lists(ROWS, min_size=1, max_size=4), st.sampled_from(CODECS)), max_size=8
)

_FIRST_OFFSET = attrgetter("first_offset")
Rows = list[tuple[str, bytes | None]]


def add(
    log: PartitionLog, rows: Rows, codec: Compression = Compression.NONE, time: int = 0
) -> None:
    """Append one batch."""
    base = log.end_offset
    records = [
        Record(base + at, time + at, key.encode(), value, (("h", b"x"),))
        for at, (key, value) in enumerate(rows)
    ]
    payload = encode_batch(records, BatchOptions(compression=codec))
    log.append_batch(StoredBatch(base, base + len(rows) - 1, time + len(rows) - 1, payload), 0)


def compacted(log: PartitionLog, now_ms: int = 0) -> CompactionSizes:
    (found,) = compact_logs([log], now_ms, stamps_horizon=True)
    return found


def read(log: PartitionLog, offset: int = 0) -> list[Record]:
    """Return the records that a consumer reads from an offset on."""
    found = log.read_batches(offset, log.end_offset, 1 << 30, whole_first=True)
    return [
        record
        for payload in found
        for batch in iterate_batches(payload)
        for record in batch.records()
        if record.offset >= offset
    ]


@given(WRITTEN, WRITTEN)
def test_the_last_record_of_each_key_is_kept_unchanged(
    first: list[tuple[Rows, Compression]], second: list[tuple[Rows, Compression]]
) -> None:
    log, untouched = (
        PartitionLog(EffectiveLogSettings(COMPACT), ManualClock()),
        PartitionLog(EffectiveLogSettings(COMPACT), ManualClock()),
    )
    for written in (first, second):
        for rows, codec in written:
            add(log, rows, codec)
            add(untouched, rows, codec)
        compacted(log)
        last = {record.key: record for record in read(untouched)}
        wanted = sorted(last.values(), key=lambda record: record.offset)
        assert (log.start_offset, log.end_offset) == (0, untouched.end_offset)
        for offset in range(log.end_offset + 1):
            assert read(log, offset) == [record for record in wanted if record.offset >= offset]
            found = log.read_batches(offset, log.end_offset, 1 << 30, whole_first=True)
            assert log.bytes_between(offset, log.end_offset) == sum(map(len, found))
        assert all(
            batch.is_intact() for stored in log.batches for batch in iterate_batches(stored.payload)
        )


def test_a_tombstone_is_removed_after_delete_retention_ms() -> None:
    log = PartitionLog(EffectiveLogSettings(COMPACT), ManualClock())
    add(log, [("a", b"1"), ("b", b"2")])
    add(log, [("a", None)])
    assert compacted(log, 1000) == CompactionSizes(3, 2, log_bytes(2, 1), log.size_bytes)
    compacted(log, 1000 + HOUR_MS - 1)
    assert [record.key for record in read(log)] == [b"b", b"a"]
    compacted(log, 1000 + HOUR_MS)
    assert [record.key for record in read(log)] == [b"b"]
    assert (log.end_offset, log.batches[-1].last_offset) == (3, 2)  # an empty batch is kept


def log_bytes(*sizes: int) -> int:
    """Return the bytes of batches of these numbers of records as `add` writes them."""
    log = PartitionLog(EffectiveLogSettings(COMPACT), ManualClock())
    for size in sizes:
        add(log, [("k", b"v" if size > 1 else None)] * size)
    return log.size_bytes


def test_records_from_the_first_young_one_on_are_not_compacted() -> None:
    log = PartitionLog(
        EffectiveLogSettings(COMPACT | {"min.compaction.lag.ms": "100"}), ManualClock()
    )
    for time in (0, 10, 50, 20):
        add(log, [("a", b"%d" % time)], time=time)
    compacted(log, 140)
    assert [record.value for record in read(log)] == [b"10", b"50", b"20"]


def test_either_all_logs_are_cleaned_or_none() -> None:
    good, damaged = (
        PartitionLog(EffectiveLogSettings(COMPACT), ManualClock()),
        PartitionLog(EffectiveLogSettings(COMPACT), ManualClock()),
    )
    for log in (good, damaged):
        add(log, [("a", b"1")])
        add(log, [("a", b"2")])
    damaged.batches[0].payload = damaged.batches[0].payload[:-8] + b"\xff" * 8
    with pytest.raises(DecodeError):
        compact_logs([good, damaged], 0, stamps_horizon=True)
    assert [record.value for record in read(good)] == [b"1", b"2"]


def test_an_empty_log_needs_no_cleaning() -> None:
    assert (
        compacted(PartitionLog(EffectiveLogSettings(COMPACT), ManualClock())) == CompactionSizes()
    )


# transactions

PRODUCERS = (7, 8)
WRITES = st.tuples(
    st.just("write"),
    st.sampled_from((NO_PRODUCER, *PRODUCERS)),
    st.lists(ROWS, min_size=1, max_size=3),
)
ENDS = st.tuples(st.just("end"), st.sampled_from(PRODUCERS), st.booleans())
CLEANINGS = st.tuples(st.just("clean"), st.integers(0, 2 * HOUR_MS), st.none())
OPERATIONS = st.lists(st.one_of(WRITES, ENDS, CLEANINGS), max_size=25)
"""Operations on a log: kind, producer or passed time, and records or commit."""


class Written:
    """A partition with records of producers, in transactions or not."""

    def __init__(self) -> None:
        stage = Stage()
        self.partition = stage.topic("t", 1, COMPACT).partitions[0]
        self.log: PartitionLog = self.partition.log
        self.now_ms = 0
        self.sequences = dict.fromkeys(PRODUCERS, 0)
        self._facts = stage.cluster.facts.records

    def write(self, producer_id: int, rows: Rows) -> None:
        records = [Record(at, 0, key.encode(), value) for at, (key, value) in enumerate(rows)]
        options = BatchOptions()
        if producer_id in self.sequences:
            options = BatchOptions(
                producer_id=producer_id,
                producer_epoch=0,
                base_sequence=self.sequences[producer_id],
                is_transactional=True,
            )
            self.sequences[producer_id] += len(rows)
        (batch,) = iterate_batches(encode_batch(records, options))
        limits = RecordLimits(self.log.settings, self._facts, self.now_ms)
        append_idempotently(self.partition, batch, limits, check_batch(batch, limits))

    def end(self, producer_id: int, *, commit: bool) -> None:
        producer = (producer_id, 0)
        now_ms = self.now_ms
        append_end_marker(
            self.partition,
            producer,
            commit=commit,
            coordinator_epoch=0,
            now_ms=now_ms,
            facts=FACTS,
        )

    def committed(self) -> dict[bytes | None, bytes]:
        """Return the newest value of each key, for a read_committed reader."""
        aborted = sorted(
            self.log.producers.aborted_between(0, self.log.end_offset), key=_FIRST_OFFSET
        )
        skipped: set[int] = set()
        values: dict[bytes | None, bytes | None] = {}
        end = self.log.last_stable_offset
        for payload in self.log.read_batches(0, end, 1 << 30, whole_first=True):
            (batch,) = iterate_batches(payload)
            while aborted and aborted[0].first_offset <= batch.last_offset:
                skipped.add(aborted.pop(0).producer_id)
            if batch.is_control:
                skipped -= {batch.producer_id}
            elif not (batch.is_transactional and batch.producer_id in skipped):
                values |= {record.key: record.value for record in batch.records()}
        return {key: value for key, value in values.items() if value is not None}


@given(OPERATIONS)
def test_read_committed_finds_the_same_values_after_compaction(operations: list[Any]) -> None:
    written = Written()
    for kind, which, what in operations:
        if kind == "write":
            written.write(which, what)
        elif kind == "end":
            written.end(which, commit=what)
        else:
            before = written.committed()
            written.now_ms += which
            compacted(written.log, written.now_ms)
            assert written.committed() == before
