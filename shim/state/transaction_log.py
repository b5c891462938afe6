"""The records of `__transaction_state`: one for each change of a transactional id (KIP-98)."""

from collections.abc import Callable
from itertools import groupby, islice
from operator import itemgetter

from kafka_shim.protocol.messages.transaction_log_key import TransactionLogKey
from kafka_shim.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.coordinator_records import append_record, versioned
from kafka_shim.shim.state.coordinators import Coordinators, KeyType
from kafka_shim.shim.state.log import Log
from kafka_shim.shim.state.transaction import NO_TIME, State, Transaction

KEY_VERSION = 0
BATCHES_MAX = 500
"""A partition is compacted when it has so many, or twice those that were left the last time."""
PARTITIONS_MAX = 500
"""A record has the first so many partitions of a transaction."""
_STATUSES = {
    State.EMPTY: 0,
    State.ONGOING: 1,
    State.PREPARE_COMMIT: 2,
    State.PREPARE_ABORT: 3,
    State.COMPLETE_COMMIT: 4,
    State.COMPLETE_ABORT: 5,
    State.DEAD: 6,
    State.PREPARE_EPOCH_FENCE: 7,
}
"""The codes of states in records."""


class TransactionLog:
    """Writes to the partition for the transactional id."""

    def __init__(
        self,
        coordinators: Coordinators,
        clock: Clock,
        version: Callable[[], int],
        *,
        stamps_horizon: bool,
    ) -> None:
        """`version` gives the level of the feature transaction.version; 0 where there is none.
        `stamps_horizon`: see `log_cleaner.clean`.
        """
        self._coordinators = coordinators
        self._clock = clock
        self._version = version
        self._stamps_horizon = stamps_horizon
        self._clean_at: dict[int, int] = {}  # number of batches that starts compaction

    @property
    def version(self) -> int:
        return self._version()

    def write(self, transaction: Transaction) -> None:
        """Write the current state of a transactional id."""
        version = 1 if self.version else 0
        is_empty = transaction.state is State.EMPTY
        value = TransactionLogValue(
            producer_id=transaction.producer_id,
            producer_epoch=transaction.epoch,
            transaction_timeout_ms=transaction.timeout_ms,
            transaction_status=_STATUSES[transaction.state],
            transaction_partitions=None if is_empty else _partitions(transaction),
            transaction_last_update_timestamp_ms=transaction.updated_ms,
            transaction_start_timestamp_ms=NO_TIME if is_empty else transaction.started_ms,
        )
        if version:
            value.previous_producer_id = transaction.producer_id
            value.client_transaction_version = transaction.client_version
        self._append(transaction.transactional_id, versioned(value, version))

    def forget(self, transactional_id: str) -> None:
        """Write the tombstone of a transactional id."""
        self._append(transactional_id, None)

    def _append(self, transactional_id: str, value: bytes | None) -> None:
        at = self._coordinators.partition_of(KeyType.TRANSACTION, transactional_id)
        partition = self._coordinators.topic(KeyType.TRANSACTION).partitions[at]
        key = versioned(TransactionLogKey(transactional_id), KEY_VERSION)
        append_record(partition, key, value, self._clock.now_ms())
        if len(partition.log.batches) >= self._clean_at.get(at, BATCHES_MAX):
            self._clean(at, partition.log)

    def _clean(self, at: int, log: Log) -> None:
        """Compact. DEVIATION: by the number of records; a real broker uses their size on disk."""
        from kafka_shim.shim.state.log_cleaner import clean  # noqa: PLC0415 - few brokers need it

        clean([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
        self._clean_at[at] = max(BATCHES_MAX, 2 * len(log.batches))


def _partitions(transaction: Transaction) -> list[PartitionsSchema]:
    """Return the first partitions. DEVIATION: requests may add
    thousands, and would block others.
    """
    first = sorted(islice(transaction.partitions, PARTITIONS_MAX))
    return [
        PartitionsSchema(topic, [index for _, index in rows])
        for topic, rows in groupby(first, itemgetter(0))
    ]
