"""Compaction: of each key the last record stays, as Kafka's log cleaner leaves a log.

A batch keeps its offsets, whatever is left of it. Tombstones stay for `delete.retention.ms`, the
markers of transactions until nothing of the transaction is left, and then as long (KIP-534). Of the
last batch of a producer its header stays, as that has its sequence numbers (KIP-98).
"""

from collections.abc import Sequence

import msgspec

from kafka_shim.protocol.records.batches import (
    Batch,
    Record,
    encode_compacted_batch,
    iterate_batches,
    marker_commits_transaction,
)
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.partition_producers import (
    SEQUENCES,
    AbortedTransaction,
    ProducedBatch,
)


class CompactionSizes(msgspec.Struct, frozen=True):
    """The sizes of a log's cleanable part before and after compaction."""

    records_before: int = 0
    records_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


class _DecodedBatch(msgspec.Struct):
    """A batch of the log with its records."""

    stored: StoredBatch
    header: Batch
    records: list[Record]


def compact_logs(
    logs: Sequence[PartitionLog], now_ms: int, *, stamps_horizon: bool
) -> list[CompactionSizes]:
    """Compact logs, each up to the first batch that is too young or not known to be committed.

    `stamps_horizon`: the release writes into a batch when its tombstones may go. Without that they
    stay where `delete.retention.ms` is not 0, as all that was cleaned is as old as its youngest
    segment, and one segment it is. Raises what `Batch.records` does; then nothing is cleaned.
    """
    runs = [_Compaction(log, now_ms, stamps_horizon=stamps_horizon) for log in logs]
    for run in runs:
        run.apply_compaction()
    return [run.outcome for run in runs]


def _cleanable_batch_count(log: PartitionLog, now_ms: int) -> int:
    """Return the number of batches that can be compacted, from the start of the log."""
    lag_ms = log.settings.min_compaction_lag_ms
    for at, stored in enumerate(log.batches):
        is_young = lag_ms > 0 and stored.max_timestamp > now_ms - lag_ms
        if is_young or stored.last_offset >= log.last_stable_offset:
            return at
    return len(log.batches)


def _decode_batch(stored: StoredBatch) -> _DecodedBatch:
    (header,) = iterate_batches(stored.payload)
    return _DecodedBatch(stored, header, header.records())


class _TransactionScan:
    """The transactions of batches, while these are read in order.

    `gone` are aborted transactions of which only the marker was left.
    """

    def __init__(self, aborted: list[AbortedTransaction]) -> None:
        self._coming = sorted(
            aborted, key=lambda transaction: transaction.first_offset, reverse=True
        )
        self._aborted: dict[int, AbortedTransaction] = {}
        self._seen: set[int] = set()  # producers with batches of the open transaction
        self.gone: list[AbortedTransaction] = []

    def is_obsolete(self, batch: _DecodedBatch) -> bool:
        """Return whether a batch was aborted, or is the marker of a transaction without batches."""
        header = batch.header
        while self._coming and self._coming[-1].first_offset <= header.last_offset:
            aborted = self._coming.pop()
            self._aborted.setdefault(aborted.producer_id, aborted)
        if header.is_control:
            return self._end_transaction(header.producer_id, batch.records)
        if header.is_transactional:
            self._seen.add(header.producer_id)
        return header.is_transactional and header.producer_id in self._aborted

    def _end_transaction(self, producer_id: int, records: list[Record]) -> bool:
        had_batches = producer_id in self._seen
        if records:
            self._seen.discard(producer_id)
            aborted = (
                None
                if marker_commits_transaction(records[0])
                else self._aborted.pop(producer_id, None)
            )
            if aborted is not None and not had_batches:
                self.gone.append(aborted)
        return not (records and had_batches)


class _Compaction:
    """A compaction of a log: the remaining batches, and the result."""

    def __init__(self, log: PartitionLog, now_ms: int, *, stamps_horizon: bool) -> None:
        self._log = log
        self._now_ms = now_ms
        self._stamps_horizon = stamps_horizon
        opened = self._opened = [
            _decode_batch(batch) for batch in log.batches[: _cleanable_batch_count(log, now_ms)]
        ]
        self._transactions = _TransactionScan(log.producers.aborted_between(0, log.end_offset))
        self._void = [self._transactions.is_obsolete(batch) for batch in opened]
        self._last_of_key = {
            record.key: record.offset
            for batch, is_void in zip(opened, self._void, strict=True)
            if not batch.header.is_control and not is_void
            for record in batch.records
        }
        self._records_after = 0
        self._kept = self._remaining_batches()
        self.outcome = CompactionSizes(
            sum(len(batch.records) for batch in opened),
            self._records_after,
            sum(len(batch.stored.payload) for batch in opened),
            sum(len(batch.payload) for batch in self._kept),
        )

    def apply_compaction(self) -> None:
        self._log.replace_cleaned_batches(len(self._opened), self._kept)
        self._log.producers.drop_aborted(self._transactions.gone)

    def _remaining_batches(self) -> list[StoredBatch]:
        found = []
        for batch, is_void in zip(self._opened, self._void, strict=True):
            records = self._remaining_records(batch, is_aborted_or_empty_marker=is_void)
            if records or self._must_keep_empty_batch(batch):
                self._records_after += len(records)
                found.append(
                    self._encode_remaining_batch(batch, records, is_aborted_or_empty_marker=is_void)
                )
        return found

    def _remaining_records(
        self, batch: _DecodedBatch, *, is_aborted_or_empty_marker: bool
    ) -> list[Record]:
        keeps_deleted = self._retains_tombstones(batch)
        if batch.header.is_control:
            return batch.records if keeps_deleted or not is_aborted_or_empty_marker else []
        if is_aborted_or_empty_marker:
            return []
        return [
            record
            for record in batch.records
            if record.key is not None
            and record.offset >= self._last_of_key[record.key]
            and (record.value is not None or keeps_deleted)
        ]

    def _retains_tombstones(self, batch: _DecodedBatch) -> bool:
        """Return whether tombstones and void markers of a batch stay this time."""
        if self._stamps_horizon:
            horizon_ms = batch.header.delete_horizon_ms
            return horizon_ms is None or self._now_ms < horizon_ms
        return not batch.stored.is_clean or self._log.settings.delete_retention_ms > 0

    def _must_keep_empty_batch(self, batch: _DecodedBatch) -> bool:
        """Return whether an empty batch stays: for its producer's
        sequence numbers or the log end.
        """
        if batch is self._opened[-1]:
            return True
        header = batch.header
        producer = self._log.producers.get_producer(header.producer_id)
        if producer is None:
            return False
        if producer.batches:
            return _is_last_batch_of_producer(header, producer.epoch, producer.batches[-1])
        return header.is_control and header.producer_epoch == producer.epoch

    def _encode_remaining_batch(
        self, batch: _DecodedBatch, records: list[Record], *, is_aborted_or_empty_marker: bool
    ) -> StoredBatch:
        horizon_ms = batch.header.delete_horizon_ms
        if (
            self._stamps_horizon
            and horizon_ms is None
            and _has_records_to_remove_later(batch, records, is_aborted_or_empty_marker)
        ):
            horizon_ms = self._now_ms + self._log.settings.delete_retention_ms
        payload = batch.stored.payload
        if len(records) < len(batch.records) or horizon_ms != batch.header.delete_horizon_ms:
            payload = encode_compacted_batch(batch.header, records, horizon_ms)
        (header,) = iterate_batches(payload)
        return StoredBatch(
            header.base_offset, header.last_offset, header.max_timestamp, payload, is_clean=True
        )


def _has_records_to_remove_later(
    batch: _DecodedBatch, records: list[Record], is_aborted_or_empty_marker: bool
) -> bool:
    """Return whether the remaining batches contain something to remove later."""
    if batch.header.is_control:
        return is_aborted_or_empty_marker
    return any(record.value is None for record in records)


def _is_last_batch_of_producer(header: Batch, epoch: int, last: ProducedBatch) -> bool:
    """Return whether a batch is the last one of its producer, which is in an epoch."""
    if not last.is_marker:
        return header.last_offset == last.last_offset
    last_sequence = (header.base_sequence + header.last_offset_delta) % SEQUENCES
    is_of_epoch = header.producer_epoch == epoch and not header.is_control
    return is_of_epoch and last_sequence == last.last_sequence
