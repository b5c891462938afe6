"""Markers are the batches that the general writer returns; control records."""

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.records.batches import (
    BatchOptions,
    Record,
    encode_batch,
    iterate_batches,
    marker_commits_transaction,
    prepend_offset,
    transaction_marker,
)
from tests.protocol.record_lists import NOW

OFFSETS = TIMES = IDS = st.integers(0, 2**63 - 1)
EPOCHS = st.integers(-1, 2**31 - 1)


@given(st.tuples(IDS, st.integers(-1, 2**15 - 1)), TIMES, st.booleans(), EPOCHS, OFFSETS, EPOCHS)
def test_a_marker(
    producer: tuple[int, int],
    timestamp: int,
    commit: bool,
    coordinator_epoch: int,
    offset: int,
    epoch: int,
) -> None:
    found = transaction_marker(
        producer, timestamp, commit=commit, coordinator_epoch=coordinator_epoch
    )
    record = Record(
        offset,
        timestamp,
        bytes((0, 0, 0, commit)),
        bytes(2) + coordinator_epoch.to_bytes(4, "big", signed=True),
    )
    options = BatchOptions(
        partition_leader_epoch=epoch,
        producer_id=producer[0],
        producer_epoch=producer[1],
        is_transactional=True,
        is_control=True,
    )
    assert prepend_offset(found, offset, epoch) == encode_batch([record], options)


def test_control_batches() -> None:
    for commit in (True, False):
        written = transaction_marker((77, 3), NOW, commit=commit, coordinator_epoch=2)
        (batch,) = iterate_batches(prepend_offset(written, 7, -1))
        assert batch.is_control
        assert batch.is_transactional
        assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (77, 3, -1)
        (record,) = batch.records()
        assert record.value == b"\0\0\0\0\0\2"
        assert record.key == (b"\0\0\0\1" if commit else b"\0\0\0\0")
        assert marker_commits_transaction(record) is commit
    for key in (None, b"\0\0", b"\0\0\0\2"):
        with pytest.raises(DecodeError, match="control record"):
            marker_commits_transaction(Record(0, 0, key))
