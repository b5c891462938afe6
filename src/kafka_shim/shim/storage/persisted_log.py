"""A log that reports its changes, and its row beside the batches.

As in Kafka, producers are restored from the headers of the batches after their last snapshot.
"""

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator
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
from kafka_shim.shim.storage.database import Row
from kafka_shim.shim.storage.settings_rows import as_json_text

_HEADER = Struct(">qiibihiqqqhi")
"""Of format 2: base offset, length, leader epoch, magic, CRC, attributes, last offset delta, base
and greatest timestamp, producer id, its epoch, base sequence.
"""
_TRANSACTIONAL, _CONTROL = 0x10, 0x20


PRODUCER, ABORTED = "log-producer", "log-aborted"
"""Parts with a row for each producer and each aborted transaction of a log."""


class ProducerRow(msgspec.Struct):
    """A producer of a partition as of the log end `end`; its later state is in the batches."""

    end: int
    epoch: int
    coordinator_epoch: int
    transaction_offset: int
    last_timestamp: int
    batches: list[ProducedBatch]
    is_dropped: bool = False
    """Whether the producer expired, so that batches before `end` do not restore it."""


class LogRow(msgspec.Struct):
    """The start and end of a log when the row was written, and its epochs.

    The batches before `producers_from` do not restore producers without a row of their own.
    """

    start: int
    end: int
    epochs: list[tuple[int, int]]
    producers_from: int


class StoredLogRows(msgspec.Struct):
    """The rows of a log except its batches."""

    log: LogRow = msgspec.field(default_factory=lambda: LogRow(0, 0, [(0, 0)], 0))
    producers: dict[int, ProducerRow] = {}
    aborted: list[AbortedTransaction] = []


class LogChangeReceiver(Protocol):
    """The receiver of changes."""

    def on_batch_appended(self, log: "PersistedLog", batch: StoredBatch) -> None: ...
    def on_log_changed(self, log: "PersistedLog") -> None: ...
    def on_producers_changed(self, log: "PersistedLog", changes: "ProducerChanges", /) -> None: ...
    def on_log_closed(self, log: "PersistedLog") -> None: ...


class ProducerChanges(msgspec.Struct):
    """Changes of a log's producers and aborted transactions; the latter by last offset, None if
    dropped.
    """

    is_whole: bool = False
    """Whether all of them may have changed."""
    producer_ids: set[int] = msgspec.field(default_factory=set)
    aborted: dict[int, AbortedTransaction | None] = {}

    def add(self, changes: "ProducerChanges") -> None:
        """Add later changes."""
        self.is_whole |= changes.is_whole
        self.producer_ids |= changes.producer_ids
        self.aborted |= changes.aborted


class ChangeReportingProducers(PartitionProducers, gc=True):
    """Producers that report changes which are not in batches to their log."""

    _on_change: Callable[[ProducerChanges], None] = lambda _: None

    def restore_producers(
        self, producers: Collection[PartitionProducer], aborted: Collection[AbortedTransaction]
    ) -> None:
        super().restore_producers(producers, aborted)
        self._on_change(ProducerChanges(is_whole=True))

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
        aborted = {} if is_committed else {marker_offset: self._aborted[-1]}
        self._on_change(ProducerChanges(producer_ids={owner[0]}, aborted=dict(aborted)))

    def drop_aborted(self, emptied: Collection[AbortedTransaction]) -> None:
        super().drop_aborted(emptied)
        dropped = dict.fromkeys(transaction.last_offset for transaction in emptied)
        self._on_change(ProducerChanges(aborted=dropped))

    def drop_aborted_below(self, offset: int) -> None:
        dropped = self._aborted[: self._count_aborted_below(offset)]
        super().drop_aborted_below(offset)
        if dropped:
            self._on_change(
                ProducerChanges(
                    aborted=dict.fromkeys(transaction.last_offset for transaction in dropped)
                )
            )

    def drop_batches_below(self, offset: int) -> None:
        super().drop_batches_below(offset)
        self._on_change(ProducerChanges(is_whole=True))

    def drop_expired_producers(self, before_ms: int) -> None:
        before = set(self._producers)
        super().drop_expired_producers(before_ms)
        expired = before - self._producers.keys()
        if expired:
            self._on_change(ProducerChanges(producer_ids=expired))


class PersistedLog(PartitionLog):
    """A log of a cluster with `--data-dir`; `number` is its number in the file."""

    __slots__ = ("_expired", "_marks", "_producers_from", "number")

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
        self._producers_from = 0  # see LogRow
        self._expired: dict[int, int] = {}  # producer ids with a row, and its `end`
        self.producers = ChangeReportingProducers(_on_change=self._report_producers)

    def _report_producers(self, changes: ProducerChanges) -> None:
        self._marks.on_producers_changed(self, changes)

    def append_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        self._marks.on_batch_appended(
            self, batch
        )  # first, since waiting requests may then be answered
        super().append_batch(batch, leader_epoch)

    def advance_log_start(self, offset: int) -> None:
        count = bisect_left(self._batches, offset, key=attrgetter("last_offset"))
        headers = (_HEADER.unpack_from(batch.payload) for batch in self._batches[:count])
        producer_ids = {header[9] for header in headers}
        super().advance_log_start(offset)
        changed = {each for each in producer_ids if self.producers.get_producer(each) is not None}
        if changed:  # no batch would restore them
            self._report_producers(ProducerChanges(producer_ids=changed))
        self._marks.on_log_changed(self)

    def replace_cleaned_batches(self, count: int, batches: list[StoredBatch]) -> None:
        super().replace_cleaned_batches(count, batches)
        self._marks.on_log_closed(self)  # all of its batches are then written again
        for batch in self.batches:
            self._marks.on_batch_appended(self, batch)
        self._report_producers(ProducerChanges(is_whole=True))
        self._marks.on_log_changed(self)

    def close_deleted(self) -> None:
        super().close_deleted()
        self._marks.on_log_closed(self)

    @property
    def first_batch_offset(self) -> int:
        """Return the first offset with a batch."""
        return self._batches[0].base_offset if self._batches else self.end_offset

    def still_has_batch(self, batch: StoredBatch) -> bool:
        """Return whether an appended batch still exists."""
        at = bisect_left(self._batches, batch.base_offset, key=attrgetter("base_offset"))
        return at < len(self._batches) and self._batches[at] is batch

    @property
    def row_key_prefix(self) -> str:
        """The first part of the keys of its producers and aborted transactions."""
        return f"{self.number}/"

    def log_row(self) -> LogRow:
        """Return the log's state beside its batches, producers and aborted transactions."""
        return LogRow(self.start_offset, self.end_offset, list(self._epochs), self._producers_from)

    def take_changed_rows(self, changes: ProducerChanges) -> Iterator[Row]:
        """Yield the rows of changed producers and aborted transactions.

        If all of them may have changed, the other rows are deleted before, and the log's row has
        to follow.
        """
        producer_ids, aborted = changes.producer_ids, changes.aborted
        if changes.is_whole:
            self._producers_from = self.end_offset
            self._expired.clear()
            producer_ids = {producer.producer_id for producer in self.producers}
            transactions = self.producers.aborted_between(0, self.end_offset + 1)
            aborted = {each.last_offset: each for each in transactions}
        expired_before = len(self._expired)
        for producer_id in producer_ids:
            yield (
                PRODUCER,
                f"{self.number}/{producer_id}",
                as_json_text(self._producer_row(producer_id)),
            )
        for offset, transaction in aborted.items():
            value = None if transaction is None else as_json_text(transaction)
            yield ABORTED, f"{self.number}/{offset}", value
        if len(self._expired) > expired_before:
            yield from self._expired_producer_deletions()

    def _expired_producer_deletions(self) -> Iterator[Row]:
        """Yield the rows that delete those of expired producers whose batches are deleted."""
        for producer_id, end in list(self._expired.items()):
            if end <= self.start_offset:
                del self._expired[producer_id]
                yield PRODUCER, f"{self.number}/{producer_id}", None

    def _producer_row(self, producer_id: int) -> ProducerRow:
        producer = self.producers.get_producer(producer_id)
        if producer is None:
            self._expired[producer_id] = self.end_offset
            return ProducerRow(self.end_offset, -1, -1, -1, -1, [], is_dropped=True)
        self._expired.pop(producer_id, None)
        return ProducerRow(
            self.end_offset,
            producer.epoch,
            producer.coordinator_epoch,
            producer.transaction_offset,
            producer.last_timestamp,
            list(producer.batches),
        )

    def restore(self, rows: StoredLogRows, batches: list[tuple[int, bool, bytes]]) -> None:
        """Restore batches: first offset, whether it was cleaned, and bytes of each."""
        row = rows.log
        self.start_offset, self._producers_from = row.start, row.producers_from
        self._epochs = list(row.epochs)
        self._expired = {key: each.end for key, each in rows.producers.items() if each.is_dropped}
        self.producers.restore_producers(
            [
                _producer_from_row(producer_id, producer)
                for producer_id, producer in sorted(rows.producers.items())
                if not producer.is_dropped
            ],
            rows.aborted,
        )
        ends = {producer_id: producer.end for producer_id, producer in rows.producers.items()}
        for base_offset, is_clean, payload in batches:
            header = _HEADER.unpack_from(payload)
            last_offset = base_offset + header[6]
            batch = StoredBatch(base_offset, last_offset, header[8], payload, is_clean=is_clean)
            self._restore_batch(batch, header[2])
            if base_offset >= ends.get(header[9], row.producers_from):
                self._register_producer(batch, header)
        self.end_offset = max(self.end_offset, row.end)
        if rows.producers:  # open transactions are in the order of their offsets
            self.producers.restore_producers(list(self.producers), rows.aborted)

    def _restore_batch(self, batch: StoredBatch, leader_epoch: int) -> None:
        if leader_epoch > self._epochs[-1][0]:
            self._epochs = [*self._epochs, (leader_epoch, batch.base_offset)]
        if not self._batches:
            self._when_filled()
        self._add_batch(batch)
        self.end_offset = batch.last_offset + 1

    def _register_producer(self, batch: StoredBatch, header: tuple[int, ...]) -> None:
        """Register the producer of a batch, as if it were appended."""
        attributes, delta, _, timestamp, producer_id, epoch, first = header[5:]
        if producer_id < 0 or attributes & _CONTROL:  # `note_transaction_marker` handles these
            return
        produced = ProducedBatch(first, (first + delta) % SEQUENCES, batch.base_offset, timestamp)
        self.producers.note_appended_batch(
            producer_id, epoch, produced, is_transactional=bool(attributes & _TRANSACTIONAL)
        )


def _producer_from_row(producer_id: int, row: ProducerRow) -> PartitionProducer:
    return PartitionProducer(
        producer_id,
        row.epoch,
        tuple(row.batches),
        row.coordinator_epoch,
        row.transaction_offset,
        row.last_timestamp,
    )
