"""Producers of a partition: sequences, duplicates, epochs, open and aborted transactions."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.state.logs.partition_producers import (
    SEQUENCES,
    PartitionProducers,
    ProducedBatch,
)

OWNER = (7, 0)


def write(
    producers: PartitionProducers,
    sequence: int,
    offset: int,
    *,
    epoch: int = 0,
    transactional: bool = False,
) -> ErrorCode:
    """Check one record of producer 7, and store it if it is valid; return the error."""
    error = producers.batch_append_error(7, epoch, sequence, is_transactional=transactional)
    if error is ErrorCode.NONE:
        batch = ProducedBatch(sequence, sequence, offset, 100 + offset)
        producers.note_appended_batch(7, epoch, batch, is_transactional=transactional)
    return error


def test_sequence_numbers_must_be_consecutive() -> None:
    producers = PartitionProducers()
    assert write(producers, 0, 0) is ErrorCode.NONE
    assert write(producers, 1, 1) is ErrorCode.NONE
    assert write(producers, 3, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(producers, 1, 2) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequence_numbers_wrap_around() -> None:
    producers = PartitionProducers()
    assert write(producers, SEQUENCES - 1, 0) is ErrorCode.NONE
    assert write(producers, 0, 1) is ErrorCode.NONE


def test_a_newer_epoch_begins_at_sequence_0_and_fences_the_older() -> None:
    producers = PartitionProducers()
    write(producers, 0, 0)
    assert write(producers, 1, 1, epoch=1) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert write(producers, 0, 1, epoch=1) is ErrorCode.NONE
    assert write(producers, 1, 2, epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_the_last_five_batches_are_remembered() -> None:
    producers = PartitionProducers()
    for sequence in range(7):
        write(producers, sequence, sequence)
    assert producers.find_duplicate_batch(*OWNER, 1, 1) is None
    known = producers.find_duplicate_batch(*OWNER, 2, 2)
    assert known is not None
    assert (known.base_offset, known.timestamp) == (2, 102)
    assert producers.find_duplicate_batch(*OWNER, 2, 2, batches_max=1) is None
    assert producers.find_duplicate_batch(7, 1, 6, 6) is None
    assert producers.find_duplicate_batch(8, 0, 6, 6) is None


def test_the_last_stable_offset_is_the_start_of_the_oldest_open_transaction() -> None:
    producers = PartitionProducers()
    write(producers, 0, 3, transactional=True)
    other = ProducedBatch(0, 0, 4, 0)
    producers.note_appended_batch(9, 0, other, is_transactional=True)
    assert producers.first_unstable_offset == 3
    producers.note_transaction_marker(OWNER, 0, 5, 0, is_committed=True)
    assert producers.first_unstable_offset == 4
    producers.note_transaction_marker((9, 0), 0, 6, 0, is_committed=False)
    assert producers.first_unstable_offset is None


def test_aborted_transactions_are_listed_with_their_offsets() -> None:
    producers = PartitionProducers()
    write(producers, 0, 3, transactional=True)
    producers.note_transaction_marker(OWNER, 0, 6, 0, is_committed=False)
    spans = [(0, 3), (0, 4), (5, 9), (6, 9), (7, 9)]
    assert [len(producers.aborted_between(*span)) for span in spans] == [0, 1, 1, 1, 0]
    producers.drop_aborted_below(7)
    assert producers.aborted_between(0, 9) == []


def test_no_batch_overtakes_one_whose_transaction_is_being_verified() -> None:
    producers = PartitionProducers()
    producers.note_unverified_batch(OWNER, 0, 0, begins_at_zero=False)
    producers.note_unverified_batch(OWNER, 4, 0, begins_at_zero=False)
    error = producers.batch_append_error(*OWNER, 2, is_transactional=True)
    assert error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert producers.batch_append_error(*OWNER, 0, is_transactional=True) is ErrorCode.NONE
    write(producers, 0, 3, transactional=True)
    assert producers.batch_append_error(*OWNER, 1, is_transactional=True) is ErrorCode.NONE


def test_a_non_transactional_batch_within_a_transaction_is_rejected() -> None:
    producers = PartitionProducers()
    write(producers, 0, 0, transactional=True)
    assert write(producers, 1, 1) is ErrorCode.INVALID_TXN_STATE
    assert write(producers, 1, 1, transactional=True) is ErrorCode.NONE


def test_idle_producers_expire_unless_they_have_an_open_transaction() -> None:
    producers = PartitionProducers()
    write(producers, 0, 0)
    producers.note_appended_batch(9, 0, ProducedBatch(0, 0, 1, 50), is_transactional=True)
    producers.drop_expired_producers(1000)
    assert [producer.producer_id for producer in producers] == [9]


def test_a_marker_can_stand_for_the_last_batch() -> None:
    producers = PartitionProducers()
    producers.note_appended_batch(7, 0, ProducedBatch(3, 4, 10, 110), is_transactional=True)
    producers.note_transaction_marker(OWNER, 0, 12, 200, is_committed=True)
    producers.replace_last_batch_by_marker(7, 12, 200)
    assert producers.find_duplicate_batch(*OWNER, 3, 4) is None
    assert producers.find_duplicate_batch(*OWNER, 4, 4) == ProducedBatch(
        4, 4, 12, 200, is_marker=True
    )
    assert write(producers, 5, 13) is ErrorCode.NONE


def test_a_marker_of_a_producer_that_wrote_nothing_stands_for_no_batch() -> None:
    producers = PartitionProducers()
    producers.note_transaction_marker(OWNER, 0, 12, 200, is_committed=True)
    producers.replace_last_batch_by_marker(7, 12, 200)
    assert write(producers, 0, 13) is ErrorCode.NONE
