"""Producer state of a partition: epochs, sequence numbers, open and aborted transactions.

The last five batches of each producer are kept, so that a duplicate is stored once (KIP-98).
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator
from operator import attrgetter

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode

BATCHES_KEPT = 5
SEQUENCES = 2**31
NO_SEQUENCE = -1
_LAST_OFFSET = attrgetter("last_offset")


class ProducedBatch(msgspec.Struct, frozen=True, gc=False):
    """Sequence numbers, offset and timestamp of a stored batch."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int
    is_marker: bool = False
    """Whether it is a marker that took the place of the last batch (up to 0.11)."""

    @property
    def last_offset(self) -> int:
        return self.base_offset + (self.last_sequence - self.first_sequence) % SEQUENCES


class PartitionProducer(msgspec.Struct, gc=False):
    """One producer id on one partition.

    `batches` are its last ones, at most BATCHES_KEPT. `transaction_offset` is the first offset of
    the open transaction, -1 if there is none.
    """

    producer_id: int
    epoch: int
    batches: tuple[ProducedBatch, ...] = ()
    coordinator_epoch: int = -1
    transaction_offset: int = -1
    last_timestamp: int = -1

    @property
    def has_open_transaction(self) -> bool:
        """Return whether it has an open transaction on this partition."""
        return self.transaction_offset >= 0

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def begin_epoch(self, epoch: int) -> None:
        """Begin a new epoch, in which sequence numbers restart."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches = ()


class UnverifiedBatches(msgspec.Struct, gc=False):
    """A producer's batches during the verification of its transaction (KIP-890)."""

    epoch: int
    lowest_sequence: int
    begins_at_zero: bool
    """Whether sequence numbers must begin at 0 if the producer is new; from the first batch."""
    since_ms: int


class AbortedTransaction(msgspec.Struct, frozen=True, gc=False):
    """An aborted transaction, which read_committed skips; `last_offset` is its marker's.

    One without records begins at its marker. Transactions that ended later began at or after
    `stable_offset`, the last stable offset after the marker (-1: unknown), as in Kafka's index.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    stable_offset: int = -1


_NONE_ABORTED: list[AbortedTransaction] = []
"""That of all partitions without one: it is replaced, never changed."""


class PartitionProducers(msgspec.Struct, gc=False):
    """The producers of one partition and its transactions."""

    _producers: dict[int, PartitionProducer] = {}
    _open_transactions: dict[int, int] = {}  # producer id: first offset, in the order of offsets
    _aborted: list[AbortedTransaction] = msgspec.field(default_factory=lambda: _NONE_ABORTED)
    _unverified: dict[int, UnverifiedBatches] = {}  # by producer id

    def __iter__(self) -> Iterator[PartitionProducer]:
        return iter(self._producers.values())

    def get_producer(self, producer_id: int) -> PartitionProducer | None:
        return self._producers.get(producer_id)

    def restore_producers(
        self, producers: Collection[PartitionProducer], aborted: Collection[AbortedTransaction]
    ) -> None:
        """Restore producers, their open transactions and the aborted ones."""
        self._producers = {producer.producer_id: producer for producer in producers}
        still_open = sorted(
            (producer.transaction_offset, producer.producer_id)
            for producer in producers
            if producer.has_open_transaction
        )
        self._open_transactions = {producer_id: offset for offset, producer_id in still_open}
        self._aborted = list(aborted)

    @property
    def first_unstable_offset(self) -> int | None:
        """First offset of the oldest open transaction; None if there is none."""
        return next(iter(self._open_transactions.values()), None)

    def find_duplicate_batch(
        self,
        producer_id: int,
        epoch: int,
        first_sequence: int,
        last_sequence: int,
        batches_max: int = BATCHES_KEPT,
    ) -> ProducedBatch | None:
        """Return the stored batch with the same sequence numbers, if it is among the last ones."""
        producer = self._producers.get(producer_id)
        if producer is None or producer.epoch != epoch:
            return None
        for batch in producer.batches[-batches_max:]:
            if batch.first_sequence == first_sequence and batch.last_sequence == last_sequence:
                return batch
        return None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no state of any producer."""
        return not self._producers and not self._unverified

    def note_unverified_batch(
        self,
        producer_id_and_epoch: tuple[int, int],
        first_sequence: int,
        now_ms: int,
        *,
        begins_at_zero: bool,
    ) -> None:
        """Record a batch of a producer, by id and epoch, whose transaction must be verified first;
        no batch with a higher sequence number may be stored before it.
        """
        producer_id, epoch = producer_id_and_epoch
        found = UnverifiedBatches(epoch, first_sequence, begins_at_zero, now_ms)
        known = self._unverified.setdefault(producer_id, found)
        if epoch > known.epoch:
            known.epoch, known.lowest_sequence = epoch, first_sequence
        elif epoch == known.epoch:
            known.lowest_sequence = min(first_sequence, known.lowest_sequence)

    def batch_append_error(
        self, producer_id: int, epoch: int, first_sequence: int, *, is_transactional: bool
    ) -> ErrorCode:
        """Return the error for a batch that must not follow the earlier ones; NONE if it may."""
        producer = self._producers.get(producer_id)
        if producer is not None and epoch < producer.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        tried = self._unverified.get(producer_id)
        if tried is not None:
            is_begun = producer is not None or not tried.begins_at_zero
            if first_sequence > (tried.lowest_sequence if is_begun else 0):
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if producer is None:
            return NO_ERROR
        if epoch > producer.epoch:
            in_order = first_sequence == 0
        elif producer.batches:
            in_order = first_sequence == (producer.last_sequence + 1) % SEQUENCES
        else:  # this epoch has only a marker
            in_order = first_sequence == 0
        if not in_order:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if producer.has_open_transaction and not is_transactional:
            return ErrorCode.INVALID_TXN_STATE
        return NO_ERROR

    def note_appended_batch(
        self,
        producer_id: int,
        epoch: int,
        batch: ProducedBatch,
        *,
        is_transactional: bool,
    ) -> None:
        """Record that a batch was stored."""
        self._unverified.pop(producer_id, None)
        producer = self._get_or_create_producer(producer_id, epoch)
        producer.begin_epoch(epoch)
        producer.batches = (*producer.batches[1 - BATCHES_KEPT :], batch)
        producer.last_timestamp = batch.timestamp
        if is_transactional and producer_id not in self._open_transactions:
            self._open_transactions[producer_id] = producer.transaction_offset = batch.base_offset

    def note_transaction_marker(
        self,
        producer_id_and_epoch: tuple[int, int],
        coordinator_epoch: int,
        marker_offset: int,
        timestamp: int,
        *,
        is_committed: bool,
    ) -> None:
        """Record that the marker of a producer's transaction, by id and epoch, was stored."""
        producer_id, epoch = producer_id_and_epoch
        self._unverified.pop(producer_id, None)
        producer = self._get_or_create_producer(producer_id, epoch)
        producer.begin_epoch(epoch)
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_offset = -1
        first_offset = self._open_transactions.pop(producer_id, marker_offset)
        if not is_committed:
            unstable = self.first_unstable_offset
            stable = marker_offset + 1 if unstable is None else unstable
            aborted = AbortedTransaction(producer_id, first_offset, marker_offset, stable)
            if self._aborted:
                self._aborted.append(aborted)
            else:
                self._aborted = [aborted]

    def replace_last_batch_by_marker(self, producer_id: int, offset: int, timestamp: int) -> None:
        """Remember a marker in place of its producer's last batch, with the last sequence number
        (up to 0.11).
        """
        producer = self._producers[producer_id]
        last = producer.last_sequence
        if last != NO_SEQUENCE:
            producer.batches = (ProducedBatch(last, last, offset, timestamp, is_marker=True),)

    def aborted_between(self, offset: int, end: int) -> list[AbortedTransaction]:
        """Return the aborted transactions with a record from `offset` up to `end`."""
        found: list[AbortedTransaction] = []
        first = bisect_left(self._aborted, offset, key=_LAST_OFFSET)
        for at in range(first, len(self._aborted)):
            transaction = self._aborted[at]
            if transaction.first_offset < end:
                found.append(transaction)
            if transaction.stable_offset >= end:
                break
        return found

    def drop_aborted(self, emptied: Collection[AbortedTransaction]) -> None:
        """Drop aborted transactions without any records left."""
        self._aborted = [transaction for transaction in self._aborted if transaction not in emptied]

    def drop_aborted_below(self, offset: int) -> None:
        """Drop aborted transactions below `offset`, whose records are deleted."""
        count = self._count_aborted_below(offset)
        if count:
            self._aborted = self._aborted[count:]

    def _count_aborted_below(self, offset: int) -> int:
        return bisect_left(self._aborted, offset, key=_LAST_OFFSET)

    def drop_batches_below(self, offset: int) -> None:
        """Drop batches below `offset`, and producers without others, also in a transaction."""
        for producer in list(self._producers.values()):
            producer.batches = tuple(
                batch for batch in producer.batches if batch.last_offset >= offset
            )
            if not producer.batches:
                del self._producers[producer.producer_id]
                self._open_transactions.pop(producer.producer_id, None)

    def drop_expired_producers(self, before_ms: int) -> None:
        """Drop producers whose last batch is older than `before_ms` and that have no open
        transaction, and verifications that began before.
        """
        for producer in list(self._producers.values()):
            if (
                producer.last_timestamp < before_ms
                and producer.producer_id not in self._open_transactions
            ):
                del self._producers[producer.producer_id]
        self._unverified = {
            producer_id: tried
            for producer_id, tried in self._unverified.items()
            if tried.since_ms >= before_ms
        }

    def _get_or_create_producer(self, producer_id: int, epoch: int) -> PartitionProducer:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = PartitionProducer(producer_id, epoch)
        return producer
