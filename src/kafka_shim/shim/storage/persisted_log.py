"""A log that reports its changes, and its row beside the batches.

As in Kafka, producers are restored from the headers of the batches after their last snapshot.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection
from operator import attrgetter
from struct import Struct
from typing import Protocol

import msgspec

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import PartitionLog, StoredBatch
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings
from kafka_shim.shim.state.logs.partition_producers import (
    SEQUENCES,
    AbortedTransaction,
    PartitionProducer,
    PartitionProducers,
    ProducedBatch,
)

_HEADER = Struct(">qiibihiqqqhi")
"""Of format 2: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base
and greatest timestamp, producer id, its epoch, base sequence.
"""
_TRANSACTIONAL, _CONTROL = 0x10, 0x20


class ProducerRow(msgspec.Struct):
    """A producer of a partition."""

    producer_id: int
    epoch: int
    coordinator_epoch: int
    transaction_offset: int
    last_timestamp: int
    batches: list[ProducedBatch]


class LogRow(msgspec.Struct):
    """The state of a log up to `end`; later state is in the batches."""

    start: int
    end: int
    epochs: list[tuple[int, int]]
    producers: list[ProducerRow]
    aborted: list[AbortedTransaction]


class LogChangeReceiver(Protocol):
    """The receiver of changes."""

    def on_batch_appended(self, log: "PersistedLog", batch: StoredBatch) -> None: ...
    def on_log_changed(self, log: "PersistedLog") -> None: ...
    def on_log_closed(self, log: "PersistedLog") -> None: ...


class ChangeReportingProducers(PartitionProducers, gc=True):
    """Producers that report changes which are not in batches to their log."""

    _on_change: Callable[[], None] = lambda: None

    def restore_producers(
        self, producers: Collection[PartitionProducer], aborted: Collection[AbortedTransaction]
    ) -> None:
        super().restore_producers(producers, aborted)
        self._on_change()

    def note_transaction_marker(
        self,
        owner: tuple[int, int],
        coordinator_epoch: int,
        marker_offset: int,
        timestamp: int,
        *,
        is_committed: bool,
    ) -> None:
        super().note_transaction_marker(
            owner, coordinator_epoch, marker_offset, timestamp, is_committed=is_committed
        )
        self._on_change()

    def drop_batches_and_producers_below(self, offset: int) -> None:
        super().drop_batches_and_producers_below(offset)
        self._on_change()

    def drop_expired_producers(self, before_ms: int) -> None:
        before = len(self._producers)
        super().drop_expired_producers(before_ms)
        if len(self._producers) != before:
            self._on_change()


class PersistedLog(PartitionLog):
    """A log of a cluster with `--data-dir`; `number` is its number in the file."""

    __slots__ = ("_marks", "number")

    def __init__(
        self,
        settings: EffectiveLogSettings,
        clock: Clock,
        when_filled: Callable[[], None],
        marks: LogChangeReceiver,
        number: int,
    ) -> None:
        super().__init__(settings, clock, when_filled)
        self._marks = marks
        self.number = number
        self.producers = ChangeReportingProducers(_on_change=self._report_change)

    def _report_change(self) -> None:
        self._marks.on_log_changed(self)

    def append_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        self._marks.on_batch_appended(
            self, batch
        )  # first, since waiting requests may then be answered
        super().append_batch(batch, leader_epoch)

    def advance_log_start(self, offset: int) -> None:
        super().advance_log_start(offset)
        self._report_change()

    def replace_cleaned_batches(self, count: int, batches: list[StoredBatch]) -> None:
        super().replace_cleaned_batches(count, batches)
        self._marks.on_log_closed(self)  # all of its batches are then written again
        for batch in self.batches:
            self._marks.on_batch_appended(self, batch)
        self._report_change()

    def close_and_drop_batches(self) -> None:
        super().close_and_drop_batches()
        self._marks.on_log_closed(self)

    @property
    def first_stored_offset(self) -> int:
        """Return the first offset with a batch."""
        return self._batches[0].base_offset if self._batches else self.end_offset

    def still_has_batch(self, batch: StoredBatch) -> bool:
        """Return whether an appended batch still exists."""
        at = bisect_left(self._batches, batch.base_offset, key=attrgetter("base_offset"))
        return at < len(self._batches) and self._batches[at] is batch

    def log_row(self) -> LogRow:
        """Return the log's state beside its batches."""
        producers = self.producers
        return LogRow(
            self.start_offset,
            self.end_offset,
            list(self._epochs),
            [_producer_row(producer) for producer in producers],
            producers.aborted_between(0, self.end_offset + 1),
        )

    def restore_batches(self, row: LogRow | None, batches: list[tuple[int, bool, bytes]]) -> None:
        """Restore batches: first offset, whether it was cleaned, and bytes of each."""
        if row is None:
            row = LogRow(0, 0, [(0, 0)], [], [])
        self.start_offset = row.start
        self._epochs = list(row.epochs)
        self.producers.restore_producers(
            [_producer_from_row(kept) for kept in row.producers], row.aborted
        )
        for base_offset, is_clean, payload in batches:
            header = _HEADER.unpack_from(payload)
            last_offset = base_offset + header[6]
            batch = StoredBatch(base_offset, last_offset, header[8], payload, is_clean=is_clean)
            self._restore_batch(batch, header[2])
            if base_offset >= row.end:
                self._register_producer_of_batch(batch, header)
        self.end_offset = max(self.end_offset, row.end)

    def _restore_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        if leader_epoch > self._epochs[-1][0]:
            self._epochs = [*self._epochs, (leader_epoch, batch.base_offset)]
        if not self._batches:
            self._when_filled()
        self._add_batch(batch)
        self.end_offset = batch.last_offset + 1

    def _register_producer_of_batch(self, batch: StoredBatch, header: tuple[int, ...]) -> None:
        """Register the producer of a batch, as if it were appended."""
        attributes, delta, _, timestamp, producer_id, epoch, first = header[5:]
        if producer_id < 0 or attributes & _CONTROL:  # `note_transaction_marker` handles these
            return
        produced = ProducedBatch(first, (first + delta) % SEQUENCES, batch.base_offset, timestamp)
        self.producers.note_appended_batch(
            producer_id, epoch, produced, is_transactional=bool(attributes & _TRANSACTIONAL)
        )


def _producer_row(producer: PartitionProducer) -> ProducerRow:
    return ProducerRow(
        producer.producer_id,
        producer.epoch,
        producer.coordinator_epoch,
        producer.transaction_offset,
        producer.last_timestamp,
        list(producer.batches),
    )


def _producer_from_row(kept: ProducerRow) -> PartitionProducer:
    producer = PartitionProducer(kept.producer_id, kept.epoch)
    producer.coordinator_epoch = kept.coordinator_epoch
    producer.transaction_offset = kept.transaction_offset
    producer.last_timestamp = kept.last_timestamp
    producer.batches = tuple(kept.batches)
    return producer
