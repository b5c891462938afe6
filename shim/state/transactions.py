"""The transaction coordinator: transactional ids, their producers, their open transactions.

KIP-98, epochs by KIP-360, fencing, timeouts, and version 2 by KIP-890: the epoch grows with every
transaction. Markers are written at once, so the states in between are never to be seen.
"""

from collections.abc import Callable, Iterator
from enum import Enum

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.clock import Clock, Timer

EPOCH_MAX = 32766
"""The last epoch of a producer id that a producer can have (Short.MAX_VALUE is for fencing it)."""
NO_ID = -1
NO_EPOCH = -1
NO_TIME = -1

TopicPartition = tuple[str, int]


class State(Enum):
    """States by the names of DescribeTransactions."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


class Transaction:
    """One transactional id: its producer and the transaction that is open, or was the last."""

    __slots__ = (
        "epoch",
        "last_epoch",
        "last_producer_id",
        "partitions",
        "producer_id",
        "started_ms",
        "state",
        "timeout_ms",
        "timer",
        "transactional_id",
        "updated_ms",
    )

    def __init__(self, transactional_id: str, producer_id: int, now_ms: int) -> None:
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.last_producer_id = NO_ID
        self.epoch = NO_EPOCH
        self.last_epoch = NO_EPOCH
        self.timeout_ms = 0
        self.state = State.EMPTY
        self.partitions: dict[TopicPartition, None] = {}
        self.started_ms = NO_TIME
        self.updated_ms = now_ms
        self.timer: Timer | None = None

    @property
    def is_open(self) -> bool:
        return self.state is State.ONGOING

    def has_ended_before(self, epoch: int) -> bool:
        """Whether this epoch is the one whose transaction ended last, and moved to the next."""
        is_complete = self.state in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT)
        return is_complete and epoch == self.epoch - 1


Marker = Callable[[Transaction, int, bool], None]
"""Writes the end of a transaction: which, with which producer epoch, and whether it committed."""


class Transactions:
    """All transactional ids of the cluster. Producer ids are handed out here too."""

    def __init__(
        self,
        clock: Clock,
        write_markers: Marker,
        *,
        timeout_ms_max: int,
        expiration_ms: int,
        check_interval_ms: int,
        facts: RecordFacts,
    ) -> None:
        self._clock = clock
        self._write_markers = write_markers
        self._timeout_ms_max = timeout_ms_max
        self._expiration_ms = expiration_ms
        self._check_interval_ms = check_interval_ms
        self._facts = facts
        self._began_ms = clock.now_ms()
        self._transactions: dict[str, Transaction] = {}
        self.next_producer_id = 0
        self.when_touched: Callable[[str], None] = lambda _: None
        """Called with an id whose transaction may change now; empty: the next producer id."""

    def __iter__(self) -> Iterator[Transaction]:
        self._expire()
        return iter(list(self._transactions.values()))

    def get(self, transactional_id: str) -> Transaction | None:
        """The transaction of an id, unless it was idle for too long."""
        self._expire()
        self.when_touched(transactional_id)
        return self._transactions.get(transactional_id)

    def kept(self, transactional_id: str) -> Transaction | None:
        """The transaction of an id as it is, to be put aside."""
        return self._transactions.get(transactional_id)

    def put_back(self, transaction: Transaction) -> None:
        """Know a transaction again; if it is open, it has the rest of its time."""
        self._transactions[transaction.transactional_id] = transaction
        if transaction.is_open:
            self._watch(transaction, transaction.started_ms)

    def stop(self) -> None:
        """Look after nothing any more."""
        for transaction in self._transactions.values():
            if transaction.timer is not None:
                transaction.timer.cancel()
                transaction.timer = None

    def new_producer_id(self) -> int:
        """A producer id that no producer of the cluster has."""
        producer_id = self.next_producer_id
        self.next_producer_id += 1
        self.when_touched("")
        return producer_id

    # InitProducerId

    def begin_producer(
        self, transactional_id: str, timeout_ms: int, producer_id: int, epoch: int
    ) -> tuple[ErrorCode, int, int]:
        """A producer starts under this id: error, its producer id, its epoch.

        The producer may name the id and epoch that it believes to have (KIP-360), else -1, -1.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST, NO_ID, NO_EPOCH
        if not 0 < timeout_ms <= self._timeout_ms_max:
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT, NO_ID, NO_EPOCH
        found = self.get(transactional_id)
        if found is None:
            found = Transaction(transactional_id, self.new_producer_id(), self._clock.now_ms())
            self._transactions[transactional_id] = found
        elif not _may_begin(found, producer_id, epoch):
            return ErrorCode.PRODUCER_FENCED, NO_ID, NO_EPOCH
        if found.is_open:
            self._fence(found)
            return ErrorCode.CONCURRENT_TRANSACTIONS, NO_ID, NO_EPOCH
        error = self._next_epoch(found, producer_id, epoch)
        if error is not ErrorCode.NONE:
            return error, NO_ID, NO_EPOCH
        found.timeout_ms = timeout_ms
        found.state = State.EMPTY
        found.partitions.clear()
        if self._facts.forgets_start:
            found.started_ms = NO_TIME
        found.updated_ms = self._clock.now_ms()
        return ErrorCode.NONE, found.producer_id, found.epoch

    def _next_epoch(self, transaction: Transaction, producer_id: int, epoch: int) -> ErrorCode:
        """Move to a new epoch; a producer that asks again for the one it got gets it again."""
        names_epoch = epoch > NO_EPOCH
        if names_epoch and transaction.epoch > NO_EPOCH and epoch != transaction.epoch:
            if (
                epoch == transaction.last_epoch
                or producer_id == transaction.last_producer_id > NO_ID
            ):
                return ErrorCode.NONE
            return ErrorCode.PRODUCER_FENCED
        if transaction.epoch >= EPOCH_MAX:
            transaction.last_producer_id, transaction.producer_id = (
                transaction.producer_id,
                self.new_producer_id(),
            )
            transaction.last_epoch = transaction.epoch if names_epoch else NO_EPOCH
            transaction.epoch = 0
        else:
            transaction.last_epoch = transaction.epoch if names_epoch else NO_EPOCH
            transaction.epoch += 1
        return ErrorCode.NONE

    # AddPartitionsToTxn, AddOffsetsToTxn, Produce

    def add_partitions(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: list[TopicPartition],
    ) -> ErrorCode:
        """Make partitions part of the open transaction; the first ones open it."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        found = self.get(transactional_id)
        error = _owner_error(found, producer_id, epoch)
        if error is not ErrorCode.NONE or found is None:
            return error
        now_ms = self._clock.now_ms()
        if not found.is_open:
            found.state = State.ONGOING
            found.partitions.clear()
            found.started_ms = now_ms
            self._watch(found, now_ms)
        found.partitions.update(dict.fromkeys(partitions))
        found.updated_ms = now_ms
        return ErrorCode.NONE

    def verify(
        self, transactional_id: str, producer_id: int, epoch: int, partition: TopicPartition
    ) -> ErrorCode:
        """Whether a partition is part of the open transaction: INVALID_TXN_STATE if not."""
        found = self.get(transactional_id)
        error = _owner_error(found, producer_id, epoch)
        if error is not ErrorCode.NONE or found is None:
            return error
        if found.is_open and partition in found.partitions:
            return ErrorCode.NONE
        return ErrorCode.INVALID_TXN_STATE

    # EndTxn

    def end(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        *,
        commit: bool,
        bumps_epoch: bool,
    ) -> tuple[ErrorCode, int, int]:
        """Commit or abort; with the producer id and epoch that hold from now on.

        `bumps_epoch`: as transactions of version 2 do (KIP-890).
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST, NO_ID, NO_EPOCH
        found = self.get(transactional_id)
        is_retry = bumps_epoch and found is not None and found.has_ended_before(epoch)
        error = _owner_error(found, producer_id, found.epoch if found and is_retry else epoch)
        if error is ErrorCode.NONE and found is not None:
            error = self._end(found, commit=commit, bumps_epoch=bumps_epoch, is_retry=is_retry)
        if error is not ErrorCode.NONE or found is None:
            return error, NO_ID, NO_EPOCH
        return ErrorCode.NONE, found.producer_id, found.epoch

    def _end(
        self, found: Transaction, *, commit: bool, bumps_epoch: bool, is_retry: bool
    ) -> ErrorCode:
        done = State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT
        if found.is_open:
            self._complete(found, commit=commit, bumps_epoch=bumps_epoch)
            return ErrorCode.NONE
        if found.state is done and (is_retry or not bumps_epoch):
            return ErrorCode.NONE
        if bumps_epoch and not commit and not is_retry:
            self._complete(found, commit=False, bumps_epoch=True)  # nothing was added: a new epoch
            return ErrorCode.NONE
        return ErrorCode.INVALID_TXN_STATE

    def _complete(self, transaction: Transaction, *, commit: bool, bumps_epoch: bool) -> None:
        if transaction.timer is not None:
            transaction.timer.cancel()
            transaction.timer = None
        if bumps_epoch:
            self._bump(transaction)
        self._write_markers(transaction, transaction.epoch, commit)
        transaction.state = State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT
        transaction.partitions.clear()
        transaction.updated_ms = self._clock.now_ms()

    def _bump(self, transaction: Transaction) -> None:
        transaction.last_epoch = transaction.epoch
        transaction.epoch += 1

    def _fence(self, transaction: Transaction) -> None:
        """Abort the open transaction of a producer that is superseded or too slow."""
        self._bump(transaction)
        if not self._facts.fencing_remembers:
            transaction.last_epoch = NO_EPOCH
        self._complete(transaction, commit=False, bumps_epoch=self._facts.fencing_bumps_twice)

    def _watch(self, transaction: Transaction, started_ms: int) -> None:
        def overdue() -> None:
            transaction.timer = None
            if transaction.is_open:
                self.when_touched(transaction.transactional_id)
                self._fence(transaction)

        now_ms = self._clock.now_ms()
        overdue_ms = max(started_ms - self._began_ms + transaction.timeout_ms, 0)
        checks = -(-overdue_ms // self._check_interval_ms)  # it is found when next looked for
        delay_ms = self._began_ms + checks * self._check_interval_ms - now_ms
        transaction.timer = self._clock.call_later(delay_ms, overdue)

    def _expire(self) -> None:
        """Forget ids that were not used for long."""
        before_ms = self._clock.now_ms() - self._expiration_ms
        for found in list(self._transactions.values()):
            if found.updated_ms < before_ms and not found.is_open:
                del self._transactions[found.transactional_id]
                self.when_touched(found.transactional_id)


def _may_begin(transaction: Transaction, producer_id: int, epoch: int) -> bool:
    """Whether the id that a producer believes to have is that of the transactional id."""
    if producer_id == NO_ID or transaction.epoch == NO_EPOCH:
        return True
    return producer_id == transaction.producer_id or (
        producer_id == transaction.last_producer_id and epoch == EPOCH_MAX
    )


def _owner_error(transaction: Transaction | None, producer_id: int, epoch: int) -> ErrorCode:
    if transaction is None or producer_id != transaction.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if epoch != transaction.epoch:
        return ErrorCode.PRODUCER_FENCED
    return ErrorCode.NONE
