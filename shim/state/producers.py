"""Who produces to a partition: epochs, sequence numbers, what is open and what was aborted.

KIP-98: of each producer the last five batches are known, so that one sent twice is stored once.
"""

from collections import deque
from collections.abc import Collection, Iterator

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode

BATCHES_KEPT = 5
SEQUENCES = 2**31
NO_SEQUENCE = -1


class ProducedBatch(msgspec.Struct, frozen=True):
    """What a batch said of itself, and where it was stored."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    timestamp: int

    @property
    def last_offset(self) -> int:
        return self.base_offset + (self.last_sequence - self.first_sequence) % SEQUENCES


class Producer:
    """One producer id on one partition."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "epoch",
        "last_timestamp",
        "producer_id",
        "transaction_offset",
    )

    def __init__(self, producer_id: int, epoch: int) -> None:
        self.producer_id = producer_id
        self.epoch = epoch
        self.batches: deque[ProducedBatch] = deque(maxlen=BATCHES_KEPT)
        self.coordinator_epoch = -1
        self.transaction_offset = -1  # first offset of the open transaction
        self.last_timestamp = -1

    @property
    def is_open(self) -> bool:
        """Whether a transaction of its is open here."""
        return self.transaction_offset >= 0

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    def move_to_epoch(self, epoch: int) -> None:
        """Sequence numbers begin anew."""
        if epoch != self.epoch:
            self.epoch = epoch
            self.batches.clear()


class Tried(msgspec.Struct):
    """What came of a producer while its transaction had to be looked at (KIP-890)."""

    epoch: int
    lowest_sequence: int
    begins_at_zero: bool
    """As the first of these batches asked for: here its numbers must begin at 0."""
    since_ms: int


class AbortedTransaction(msgspec.Struct, frozen=True):
    """A transaction that read_committed skips; `last_offset` is that of its marker.

    One without records begins where it ends.
    """

    producer_id: int
    first_offset: int
    last_offset: int


class PartitionProducers:
    """The producers of one partition and the transactions open on it."""

    __slots__ = ("_aborted", "_open", "_producers", "_tried")

    def __init__(self) -> None:
        self._producers: dict[int, Producer] = {}
        self._open: dict[int, int] = {}  # producer id: first offset, in the order of offsets
        self._aborted: list[AbortedTransaction] = []
        self._tried: dict[int, Tried] = {}  # by producer id

    def __iter__(self) -> Iterator[Producer]:
        return iter(self._producers.values())

    def get(self, producer_id: int) -> Producer | None:
        return self._producers.get(producer_id)

    def put_back(
        self, producers: Collection[Producer], aborted: Collection[AbortedTransaction]
    ) -> None:
        """Know producers, their open transactions and aborted ones again."""
        self._producers = {producer.producer_id: producer for producer in producers}
        still_open = sorted(
            (producer.transaction_offset, producer.producer_id)
            for producer in producers
            if producer.is_open
        )
        self._open = {producer_id: offset for offset, producer_id in still_open}
        self._aborted = list(aborted)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest open transaction begins."""
        return next(iter(self._open.values()), None)

    def duplicate(
        self,
        producer_id: int,
        epoch: int,
        first_sequence: int,
        last_sequence: int,
        remembered: int = BATCHES_KEPT,
    ) -> ProducedBatch | None:
        """The earlier arrival of the very same batch, if it is among the last ones."""
        producer = self._producers.get(producer_id)
        if producer is None or producer.epoch != epoch:
            return None
        for batch in list(producer.batches)[-remembered:]:
            if batch.first_sequence == first_sequence and batch.last_sequence == last_sequence:
                return batch
        return None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of any producer."""
        return not self._producers and not self._tried

    def tried(
        self, owner: tuple[int, int], first_sequence: int, now_ms: int, *, begins_at_zero: bool
    ) -> None:
        """A batch of a producer, by id and epoch, came whose transaction has to be looked at
        first: none with a higher number may overtake it.
        """
        producer_id, epoch = owner
        found = Tried(epoch, first_sequence, begins_at_zero, now_ms)
        known = self._tried.setdefault(producer_id, found)
        if epoch > known.epoch:
            known.epoch, known.lowest_sequence = epoch, first_sequence
        elif epoch == known.epoch:
            known.lowest_sequence = min(first_sequence, known.lowest_sequence)

    def error(
        self, producer_id: int, epoch: int, first_sequence: int, *, is_transactional: bool
    ) -> ErrorCode:
        """Why a batch cannot follow what this producer wrote before; NONE if it can."""
        producer = self._producers.get(producer_id)
        if producer is not None and epoch < producer.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        tried = self._tried.get(producer_id)
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
        else:  # only a marker is known of this epoch
            in_order = first_sequence == 0
        if not in_order:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if producer.is_open and not is_transactional:
            return ErrorCode.INVALID_TXN_STATE
        return NO_ERROR

    def appended(
        self,
        producer_id: int,
        epoch: int,
        batch: ProducedBatch,
        *,
        is_transactional: bool,
    ) -> None:
        """A batch of this producer was stored."""
        self._tried.pop(producer_id, None)
        producer = self._of(producer_id, epoch)
        producer.move_to_epoch(epoch)
        producer.batches.append(batch)
        producer.last_timestamp = batch.timestamp
        if is_transactional and producer_id not in self._open:
            self._open[producer_id] = producer.transaction_offset = batch.base_offset

    def ended(
        self,
        owner: tuple[int, int],
        coordinator_epoch: int,
        marker_offset: int,
        timestamp: int,
        *,
        is_committed: bool,
    ) -> None:
        """The marker of a transaction of a producer, by id and epoch, was stored."""
        producer_id, epoch = owner
        self._tried.pop(producer_id, None)
        producer = self._of(producer_id, epoch)
        producer.move_to_epoch(epoch)
        producer.coordinator_epoch = coordinator_epoch
        producer.last_timestamp = timestamp
        producer.transaction_offset = -1
        first_offset = self._open.pop(producer_id, marker_offset)
        if not is_committed:
            self._aborted.append(AbortedTransaction(producer_id, first_offset, marker_offset))

    def aborted(self, offset: int, end: int) -> list[AbortedTransaction]:
        """The aborted transactions with a record from `offset` up to `end`."""
        return [
            transaction
            for transaction in self._aborted
            if transaction.last_offset >= offset and transaction.first_offset < end
        ]

    def forget_aborted(self, gone: Collection[AbortedTransaction]) -> None:
        """Nothing is left of these transactions that a reader would have to skip."""
        self._aborted = [transaction for transaction in self._aborted if transaction not in gone]

    def forget_before(self, offset: int) -> None:
        """The records below `offset` are gone."""
        self._aborted = [
            transaction for transaction in self._aborted if transaction.last_offset >= offset
        ]

    def forget_written_before(self, offset: int) -> None:
        """Forget the batches below `offset`, and who has no others, in a transaction or not."""
        for producer in list(self._producers.values()):
            kept = [batch for batch in producer.batches if batch.last_offset >= offset]
            producer.batches = deque(kept, maxlen=BATCHES_KEPT)
            if not kept:
                del self._producers[producer.producer_id]
                self._open.pop(producer.producer_id, None)

    def expire(self, before_ms: int) -> None:
        """Forget producers that wrote nothing since then, unless a transaction is open, and those
        that tried to before.
        """
        for producer in list(self._producers.values()):
            if producer.last_timestamp < before_ms and producer.producer_id not in self._open:
                del self._producers[producer.producer_id]
        self._tried = {
            producer_id: tried
            for producer_id, tried in self._tried.items()
            if tried.since_ms >= before_ms
        }

    def _of(self, producer_id: int, epoch: int) -> Producer:
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = Producer(producer_id, epoch)
        return producer
