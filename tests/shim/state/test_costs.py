"""Work that must not grow with what a request does not name, counted in bytecodes."""

import random
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.releases.facts import facts_of_release
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.state.delegation_tokens import DelegationTokens
from kafka_shim.shim.state.groups.offsets import CommittedOffset, Offsets
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.partition_producers import AbortedTransaction, PartitionProducers
from tests.shim.state.test_log import log_of
from tests.support.counted_work import count_work

SIZES = (2_000, 8_000)


def log_with(sizes: list[int]) -> PartitionLog:
    """Return a log with a batch of one record of each of these sizes."""
    log = log_of()
    for at, size in enumerate(sizes):
        log.append_batch(StoredBatch(at, at, 1000 + at % 7, bytes(size)), 0)
    return log


@pytest.mark.parametrize("offset_of", [lambda n: n - 1, lambda n: n // 2, lambda n: 3])
def test_finding_an_index_entry_does_not_grow(offset_of: Callable[[int], int]) -> None:
    counts = []
    for size in SIZES:
        log = log_with([100] * size)
        log.offset_index_entry(0, 1)  # the index is built by the first search
        counts.append(count_work(partial(log.offset_index_entry, offset_of(size), 500), "opcode"))
    assert counts[1] <= counts[0] * 1.2


def test_finding_the_newest_batch_does_not_grow() -> None:
    counts = []
    for size in SIZES:
        log = log_with([100] * size)
        counts.append(count_work(log.first_max_timestamp_batch, "opcode"))
        newest = log.first_max_timestamp_batch()
        assert newest is not None
        assert newest.base_offset == 6
    assert counts[1] <= counts[0] * 1.2


def with_aborted(count: int) -> PartitionProducers:
    producers = PartitionProducers()
    for at in range(count):
        producers.note_transaction_marker((at % 50, 0), 0, 2 * at, 0, is_committed=False)
    return producers


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_finding_aborted_transactions_does_not_grow(part: float) -> None:
    counts = []
    for size in SIZES:
        producers, offset = with_aborted(size), int(part * 2 * (size - 1))
        counts.append(count_work(partial(producers.aborted_between, offset, offset + 10), "opcode"))
        assert producers.aborted_between(offset, offset + 10) == every(
            producers, offset, offset + 10
        )
    assert counts[1] <= counts[0] * 1.2


def test_the_end_of_a_transaction_does_not_look_at_other_groups() -> None:
    counts = []
    for size in SIZES:
        offsets = Offsets(ManualClock())
        committed = CommittedOffset(1, 0, "")
        for number in range(size):
            offsets.store_offset(f"g{number}", b"t", 0, committed)
        offsets.store_pending_offsets("g7", 5, [(b"t", 0, CommittedOffset(9, 0, ""))])
        counts.append(
            count_work(partial(offsets.settle_pending_offsets, 5, committed=True), "opcode")
        )
        found = offsets.committed_offset("g7", b"t", 0)
        assert found is not None
        assert found.offset == 9
    assert counts[1] == counts[0]


def test_finding_a_token_by_its_hmac_does_not_grow() -> None:
    counts = []
    for size in SIZES:
        tokens = DelegationTokens(
            {}, random.Random(1), ManualClock(), facts=facts_of_release("4.4").users
        )
        made = [tokens.create_token("User:a", "User:a", (), -1) for _ in range(size)]
        counts.append(
            count_work(partial(tokens.renew_token, made[-1].hmac, "User:a", 1000), "opcode")
        )
    assert counts[1] == counts[0]


def every(producers: PartitionProducers, offset: int, end: int) -> list[AbortedTransaction]:
    """Return the same by looking at all of them."""
    return [
        transaction
        for transaction in producers._aborted
        if transaction.last_offset >= offset and transaction.first_offset < end
    ]


def first_entry(log: PartitionLog, offset: int, size: int) -> int:
    """Return what `indexed_after` does, from the definition of Kafka's offset index."""
    position = next(row.position for row in log.batches if row.last_offset >= offset)
    entries, since = [], 0
    for batch in log.batches:
        if since > log.settings.index_interval_bytes:
            entries.append((batch.position, batch.last_offset))
            since = 0
        since += batch.end_position - batch.position
    for number, (at, last_offset) in enumerate(entries):
        if at > position + size or (at == position + size and number > 0):
            return last_offset
    return log.end_offset


@given(st.lists(st.sampled_from([100, 2000, 4096, 5000]), min_size=4, max_size=40), st.data())
def test_the_index_is_that_of_its_definition(sizes: list[int], data: st.DataObject) -> None:
    log = log_with(sizes)
    for _ in range(4):
        offset = data.draw(st.integers(log.start_offset, log.end_offset - 1))
        size = data.draw(st.sampled_from([1, 100, 4096, 4100, 8192, 9000, 20000]))
        assert log.offset_index_entry(offset, size) == first_entry(log, offset, size)
        match data.draw(st.integers(0, 3)):
            case 0:
                log.advance_log_start(data.draw(st.integers(log.start_offset, log.end_offset - 1)))
            case 1:
                end = log.end_offset
                log.append_batch(StoredBatch(end, end, 1000, bytes(3000)), 0)
            case 2 if len(log.batches) > 2:  # the log cleaner keeps the last batch
                log.replace_cleaned_batches(2, log.batches[:1])
