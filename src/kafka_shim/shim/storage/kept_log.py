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
from kafka_shim.shim.state.logs.log import Log, StoredBatch
from kafka_shim.shim.state.logs.log_settings import InForce
from kafka_shim.shim.state.logs.producers import (
    SEQUENCES,
    AbortedTransaction,
    PartitionProducers,
    ProducedBatch,
    Producer,
)

_HEADER = Struct(">qiibihiqqqhi")
"""Of format 2: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base
and greatest timestamp, producer id, its epoch, base sequence.
"""
_TRANSACTIONAL, _CONTROL = 0x10, 0x20


class KeptProducer(msgspec.Struct):
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
    producers: list[KeptProducer]
    aborted: list[AbortedTransaction]


class LogMarks(Protocol):
    """The receiver of changes."""

    def appended(self, log: "PersistedLog", batch: StoredBatch) -> None: ...
    def log(self, log: "PersistedLog") -> None: ...
    def closed(self, log: "PersistedLog") -> None: ...


class NotingProducers(PartitionProducers, gc=True):
    """Producers that report changes which are not in batches to their log."""

    _noted: Callable[[], None] = lambda: None

    def put_back(
        self, producers: Collection[Producer], aborted: Collection[AbortedTransaction]
    ) -> None:
        super().put_back(producers, aborted)
        self._noted()

    def ended(
        self,
        owner: tuple[int, int],
        coordinator_epoch: int,
        marker_offset: int,
        timestamp: int,
        *,
        is_committed: bool,
    ) -> None:
        super().ended(owner, coordinator_epoch, marker_offset, timestamp, is_committed=is_committed)
        self._noted()

    def forget_written_before(self, offset: int) -> None:
        super().forget_written_before(offset)
        self._noted()

    def expire(self, before_ms: int) -> None:
        before = len(self._producers)
        super().expire(before_ms)
        if len(self._producers) != before:
            self._noted()


class PersistedLog(Log):
    """A log of a cluster with `--data-dir`; `number` is its number in the file."""

    __slots__ = ("_marks", "number")

    def __init__(
        self,
        settings: InForce,
        clock: Clock,
        when_filled: Callable[[], None],
        marks: LogMarks,
        number: int,
    ) -> None:
        super().__init__(settings, clock, when_filled)
        self._marks = marks
        self.number = number
        self.producers = NotingProducers(_noted=self._note)

    def _note(self) -> None:
        self._marks.log(self)

    def append(self, batch: StoredBatch, leader_epoch: int) -> None:
        self._marks.appended(self, batch)  # first, since waiting requests may then be answered
        super().append(batch, leader_epoch)

    def delete_before(self, offset: int) -> None:
        super().delete_before(offset)
        self._note()

    def replace(self, count: int, batches: list[StoredBatch]) -> None:
        super().replace(count, batches)
        self._marks.closed(self)  # all of its batches are then written again
        for batch in self.batches:
            self._marks.appended(self, batch)
        self._note()

    def close(self) -> None:
        super().close()
        self._marks.closed(self)

    @property
    def first_kept(self) -> int:
        """Return the first offset with a batch."""
        return self._batches[0].base_offset if self._batches else self.end_offset

    def has(self, batch: StoredBatch) -> bool:
        """Return whether an appended batch still exists."""
        at = bisect_left(self._batches, batch.base_offset, key=attrgetter("base_offset"))
        return at < len(self._batches) and self._batches[at] is batch

    def row(self) -> LogRow:
        """Return the log's state beside its batches."""
        producers = self.producers
        return LogRow(
            self.start_offset,
            self.end_offset,
            list(self._epochs),
            [_kept(producer) for producer in producers],
            producers.aborted(0, self.end_offset + 1),
        )

    def put_back(self, row: LogRow | None, batches: list[tuple[int, bool, bytes]]) -> None:
        """Restore batches: first offset, whether it was cleaned, and bytes of each."""
        if row is None:
            row = LogRow(0, 0, [(0, 0)], [], [])
        self.start_offset = row.start
        self._epochs = list(row.epochs)
        self.producers.put_back([_producer(kept) for kept in row.producers], row.aborted)
        for base_offset, is_clean, payload in batches:
            header = _HEADER.unpack_from(payload)
            last_offset = base_offset + header[6]
            batch = StoredBatch(base_offset, last_offset, header[8], payload, is_clean=is_clean)
            self._put_batch(batch, header[2])
            if base_offset >= row.end:
                self._produced(batch, header)
        self.end_offset = max(self.end_offset, row.end)

    def _put_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        if leader_epoch > self._epochs[-1][0]:
            self._epochs = [*self._epochs, (leader_epoch, batch.base_offset)]
        if not self._batches:
            self._when_filled()
        self._add(batch)
        self.end_offset = batch.last_offset + 1

    def _produced(self, batch: StoredBatch, header: tuple[int, ...]) -> None:
        """Register the producer of a batch, as if it were appended."""
        attributes, delta, _, timestamp, producer_id, epoch, first = header[5:]
        if producer_id < 0 or attributes & _CONTROL:  # control batches are handled by `ended`
            return
        produced = ProducedBatch(first, (first + delta) % SEQUENCES, batch.base_offset, timestamp)
        self.producers.appended(
            producer_id, epoch, produced, is_transactional=bool(attributes & _TRANSACTIONAL)
        )


def _kept(producer: Producer) -> KeptProducer:
    return KeptProducer(
        producer.producer_id,
        producer.epoch,
        producer.coordinator_epoch,
        producer.transaction_offset,
        producer.last_timestamp,
        list(producer.batches),
    )


def _producer(kept: KeptProducer) -> Producer:
    producer = Producer(kept.producer_id, kept.epoch)
    producer.coordinator_epoch = kept.coordinator_epoch
    producer.transaction_offset = kept.transaction_offset
    producer.last_timestamp = kept.last_timestamp
    producer.batches = tuple(kept.batches)
    return producer
