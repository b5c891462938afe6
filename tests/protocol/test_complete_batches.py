"""Batches of all formats in one form, and parts of them."""

import pytest

from kafka_shim.protocol.records.batches import BatchOptions, encode_batch, iterate_batches
from kafka_shim.protocol.records.complete_batches import complete_batches
from kafka_shim.protocol.records.compression import Compression
from kafka_shim.protocol.records.message_sets import write_message_set
from kafka_shim.protocol.records.record_codec import Record

RECORDS = [Record(offset, 1_000 + offset, b"k", b"%d" % offset) for offset in range(5, 9)]


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_a_part_of_a_batch_ends_with_its_last_record(compression: Compression) -> None:
    options = BatchOptions(compression=compression, is_transactional=True, producer_id=7)
    [whole] = complete_batches(encode_batch(RECORDS, options) + b"truncated")
    assert (whole.first_offset, whole.last_offset, whole.is_transactional) == (5, 8, True)
    part = whole.cut_before(7)
    assert part is not None
    assert (part.first_offset, part.last_offset) == (5, 6)
    [batch] = iterate_batches(part.blob)
    assert batch.is_intact()
    assert (batch.last_offset, batch.producer_id, batch.is_transactional) == (6, 7, True)
    assert batch.records() == RECORDS[:2]
    assert whole.cut_before(5) is None


def test_messages_of_earlier_formats_have_their_offsets_and_no_parts() -> None:
    first, second = complete_batches(write_message_set(RECORDS[:2], 1))
    assert (first.first_offset, second.last_offset) == (5, 6)
    assert [record.value for record in second.records()] == [b"6"]
    assert second.cut_before(6) is None
