"""The transaction coordinator: transactional ids, their producers and open transactions.

KIP-98, with epochs by KIP-360, and transactions version 2 by KIP-890, where every transaction has a
new epoch. Markers are written immediately, so no client sees the PREPARE states.
"""

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.clock import Clock, Deadline
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.state.transactions.transaction import (
    EPOCH_MAX,
    NO_EPOCH,
    NO_ID,
    NO_TIME,
    TopicPartition,
    Transaction,
    TransactionalIdState,
)

PARTITIONS_MAX = 5_000
"""DEVIATION: partitions of one transaction. All their markers are written in one turn, which takes
40 ms; a real broker has no limit.
"""

Marker = Callable[[Transaction], None]
"""Writes the markers of a transaction in the state PREPARE_COMMIT or PREPARE_ABORT."""


class TransactionSettings(msgspec.Struct, frozen=True):
    """Broker settings, in ms: the maximum transaction timeout, the expiration of idle ids, and
    the intervals of the checks for overdue transactions and for idle ids.
    """

    timeout_ms_max: int
    expiration_ms: int
    overdue_interval_ms: int
    expiry_interval_ms: int


class Transactions:
    """All transactional ids of the cluster; also allocates producer ids."""

    def __init__(
        self,
        clock: Clock,
        write_markers: Marker,
        create_topic: Callable[[], object],
        settings: TransactionSettings,
        facts: RecordFacts,
    ) -> None:
        """`create_topic` creates `__transaction_state` if it does not exist."""
        self._clock = clock
        self._write_markers = write_markers
        self._create_topic = create_topic
        self._settings = settings
        self._facts = facts
        self._began_ms = clock.now_ms()
        self._transactions: dict[str, Transaction] = {}
        self._expiring = PeriodicWork(
            clock, self._time_to_next_expiry_check_ms, self._expire_idle_ids
        )
        self.next_producer_id = 0
        self.when_touched: Callable[[str], None] = lambda _: None
        """Called with an id whose transaction may change now; empty for the next producer id."""

    def __iter__(self) -> Iterator[Transaction]:
        return iter(list(self._transactions.values()))

    def touch(self, transactional_id: str) -> Transaction | None:
        """Return an id's transaction, after reporting a possible change to `when_touched`."""
        self.when_touched(transactional_id)
        return self._transactions.get(transactional_id)

    def get_for_reading(self, transactional_id: str) -> Transaction | None:
        """Return an id's transaction, which the caller does not change."""
        return self._transactions.get(transactional_id)

    def restore_transaction(self, transaction: Transaction) -> None:
        """Restore a stored transaction; an open one keeps the rest of its timeout.

        If the clock is earlier than when the transaction began, that is the whole timeout.
        """
        self._register_transaction(transaction)
        if transaction.is_ongoing:
            started_ms = min(transaction.started_ms, self._clock.now_ms())
            self._schedule_overdue_check(transaction, started_ms)

    def _register_transaction(self, transaction: Transaction) -> None:
        self._transactions[transaction.transactional_id] = transaction
        self._expiring.ensure_round_scheduled()

    def stop_all_timers(self) -> None:
        """Stop all timers."""
        self._expiring.stop_timer()
        for transaction in self._transactions.values():
            if transaction.deadline is not None:
                transaction.deadline.cancel()

    def new_producer_id(self) -> int:
        """Return an unused producer id."""
        producer_id = self.next_producer_id
        self.next_producer_id += 1
        self.when_touched("")
        return producer_id

    # InitProducerId

    def init_producer_id(
        self, transactional_id: str, timeout_ms: int, producer_id: int, epoch: int
    ) -> tuple[ErrorCode, int, int]:
        """Handle InitProducerId; return the error, producer id and epoch.

        The request may contain the producer's current id and epoch (KIP-360), else -1 and -1.
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST, NO_ID, NO_EPOCH
        if not 0 < timeout_ms <= self._settings.timeout_ms_max:
            return ErrorCode.INVALID_TRANSACTION_TIMEOUT, NO_ID, NO_EPOCH
        found = self.touch(transactional_id)
        if found is None:
            found = Transaction(transactional_id, self.new_producer_id(), self._clock.now_ms())
            self._register_transaction(found)
        elif not _is_valid_producer_id(found, producer_id, epoch):
            return ErrorCode.PRODUCER_FENCED, NO_ID, NO_EPOCH
        if found.is_ongoing:
            self._abort_and_fence(found)
            return ErrorCode.CONCURRENT_TRANSACTIONS, NO_ID, NO_EPOCH
        error = self._begin_next_epoch(found, producer_id, epoch)
        if error is not NO_ERROR:
            return error, NO_ID, NO_EPOCH
        found.timeout_ms = timeout_ms
        found.state = TransactionalIdState.EMPTY
        found.partitions.clear()
        if self._facts.new_transaction_has_no_start_time:
            found.started_ms = NO_TIME
        found.updated_ms = self._clock.now_ms()
        self._create_topic()
        return NO_ERROR, found.producer_id, found.epoch

    def _begin_next_epoch(
        self, transaction: Transaction, producer_id: int, epoch: int
    ) -> ErrorCode:
        """Begin a new epoch; a producer that retries gets the same epoch again."""
        names_epoch = epoch > NO_EPOCH
        if names_epoch and transaction.epoch > NO_EPOCH and epoch != transaction.epoch:
            if (
                epoch == transaction.last_epoch
                or producer_id == transaction.last_producer_id > NO_ID
            ):
                return NO_ERROR
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
        return NO_ERROR

    # AddPartitionsToTxn, AddOffsetsToTxn, Produce

    def add_partitions(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        partitions: list[TopicPartition],
    ) -> ErrorCode:
        """Add partitions to the open transaction, or open one with them."""
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST
        found = self.touch(transactional_id)
        error = _producer_mismatch_error(found, producer_id, epoch)
        if error is not NO_ERROR or found is None:
            return error
        if found.is_ongoing and found.partitions.keys() >= set(partitions):
            return NO_ERROR
        if _exceeds_partitions_max(found, partitions):
            return ErrorCode.POLICY_VIOLATION
        now_ms = self._clock.now_ms()
        if not found.is_ongoing:
            found.state = TransactionalIdState.ONGOING
            found.partitions.clear()
            found.started_ms = now_ms
            self._schedule_overdue_check(found, now_ms)
        found.partitions.update(dict.fromkeys(partitions))
        found.updated_ms = now_ms
        return NO_ERROR

    def verify_partition_in_transaction(
        self, transactional_id: str, producer_id: int, epoch: int, partition: TopicPartition
    ) -> ErrorCode:
        """Return INVALID_TXN_STATE if the partition is not in the open transaction."""
        found = self.touch(transactional_id)
        error = _producer_mismatch_error(found, producer_id, epoch)
        if error is not NO_ERROR or found is None:
            return error
        if found.is_ongoing and partition in found.partitions:
            return NO_ERROR
        return ErrorCode.INVALID_TXN_STATE

    # EndTxn

    def end_transaction(
        self,
        transactional_id: str,
        producer_id: int,
        epoch: int,
        *,
        commit: bool,
        bumps_epoch: bool,
    ) -> tuple[ErrorCode, int, int]:
        """Commit or abort; return the error and the producer id and epoch that apply afterwards.

        `bumps_epoch`: begin a new epoch, as transactions of version 2 do (KIP-890).
        """
        if not transactional_id:
            return ErrorCode.INVALID_REQUEST, NO_ID, NO_EPOCH
        found = self.touch(transactional_id)
        is_retry = bumps_epoch and found is not None and found.was_ended_in_previous_epoch(epoch)
        error = _producer_mismatch_error(
            found, producer_id, found.epoch if found and is_retry else epoch
        )
        if error is NO_ERROR and found is not None:
            error = self._try_end_transaction(
                found, commit=commit, bumps_epoch=bumps_epoch, is_retry=is_retry
            )
        if error is not NO_ERROR or found is None:
            return error, NO_ID, NO_EPOCH
        return NO_ERROR, found.producer_id, found.epoch

    def _try_end_transaction(
        self, found: Transaction, *, commit: bool, bumps_epoch: bool, is_retry: bool
    ) -> ErrorCode:
        done = (
            TransactionalIdState.COMPLETE_COMMIT if commit else TransactionalIdState.COMPLETE_ABORT
        )
        if found.is_ongoing:
            self._complete_transaction(found, commit=commit, bumps_epoch=bumps_epoch)
            return NO_ERROR
        if found.state is done and (is_retry or not bumps_epoch):
            return NO_ERROR
        if bumps_epoch and not commit and not is_retry:
            # empty: only a new epoch
            self._complete_transaction(found, commit=False, bumps_epoch=True)
            return NO_ERROR
        return ErrorCode.INVALID_TXN_STATE

    def _complete_transaction(
        self, transaction: Transaction, *, commit: bool, bumps_epoch: bool
    ) -> None:
        if bumps_epoch:
            self._increment_epoch(transaction)
        transaction.updated_ms = self._clock.now_ms()
        transaction.state = (
            TransactionalIdState.PREPARE_COMMIT if commit else TransactionalIdState.PREPARE_ABORT
        )
        self._write_markers(transaction)
        transaction.state = (
            TransactionalIdState.COMPLETE_COMMIT if commit else TransactionalIdState.COMPLETE_ABORT
        )
        transaction.partitions.clear()

    def _increment_epoch(self, transaction: Transaction) -> None:
        transaction.last_epoch = transaction.epoch
        transaction.epoch += 1

    def _abort_and_fence(self, transaction: Transaction) -> None:
        """Abort the open transaction of a producer that was replaced or has timed out."""
        self._increment_epoch(transaction)
        if not self._facts.old_epoch_accepted_after_abort:
            transaction.last_epoch = NO_EPOCH
        self._complete_transaction(
            transaction, commit=False, bumps_epoch=self._facts.fencing_raises_epoch_twice
        )

    def _schedule_overdue_check(self, transaction: Transaction, started_ms: int) -> None:
        """Have the transaction aborted when it is overdue; one that ends keeps its timer for the
        next one.
        """
        if transaction.deadline is None:
            transaction.deadline = Deadline(self._clock, partial(self._on_timeout, transaction))
        now_ms = self._clock.now_ms()
        interval_ms = self._settings.overdue_interval_ms
        overdue_ms = max(started_ms - self._began_ms + transaction.timeout_ms, 0)
        checks = -(-overdue_ms // interval_ms)  # it is aborted by the next check
        transaction.deadline.restart(self._began_ms + checks * interval_ms - now_ms)

    def _on_timeout(self, transaction: Transaction) -> None:
        if transaction.is_ongoing:
            self.when_touched(transaction.transactional_id)
            self._abort_and_fence(transaction)

    def _time_to_next_expiry_check_ms(self) -> int:
        """Return the time until the next check for idle ids; checks are counted from the start."""
        interval_ms = self._settings.expiry_interval_ms
        return interval_ms - (self._clock.now_ms() - self._began_ms) % interval_ms

    def _expire_idle_ids(self) -> Iterator[bool]:
        """Remove ids that are idle for too long; yield for each id whether it is left."""
        until_ms = self._clock.now_ms() - self._settings.expiration_ms
        for transactional_id in list(self._transactions):
            found = self._transactions[transactional_id]  # nothing else removes one
            may_go = found.is_complete or found.state is TransactionalIdState.EMPTY
            is_over = may_go and found.updated_ms <= until_ms
            if is_over:
                self.when_touched(transactional_id)
                del self._transactions[transactional_id]
            yield not is_over


def _is_valid_producer_id(transaction: Transaction, producer_id: int, epoch: int) -> bool:
    """Return whether the producer id in the request is valid for the transactional id."""
    if producer_id == NO_ID or transaction.epoch == NO_EPOCH:
        return True
    return producer_id == transaction.producer_id or (
        producer_id == transaction.last_producer_id and epoch == EPOCH_MAX
    )


def _exceeds_partitions_max(transaction: Transaction, partitions: list[TopicPartition]) -> bool:
    """Return whether a transaction would have more than PARTITIONS_MAX with these."""
    before = transaction.partitions if transaction.is_ongoing else {}
    if len(before) + len(partitions) <= PARTITIONS_MAX:
        return False
    return len(before.keys() | set(partitions)) > PARTITIONS_MAX


def _producer_mismatch_error(
    transaction: Transaction | None, producer_id: int, epoch: int
) -> ErrorCode:
    if transaction is None or producer_id != transaction.producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if epoch != transaction.epoch:
        return ErrorCode.PRODUCER_FENCED
    return NO_ERROR
