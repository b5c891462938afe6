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
        self._written: dict[int, _Written] = {}  # by partition

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
        written = self._written.get(at)
        if written is None or written.log is not partition.log:  # the topic may have been made anew
            written = self._written[at] = _Written(partition.log)
        key = versioned(TransactionLogKey(transactional_id), KEY_VERSION)
        offset = append_record(partition, key, value, self._clock.now_ms())
        written.note(transactional_id, offset, is_tombstone=value is None)
        if len(partition.log.batches) >= written.clean_at:
            self._clean(written)

    def _clean(self, written: "_Written") -> None:
        """DEVIATION: compact by the number of records; a real broker does by their size on disk."""
        from kafka_shim.shim.state.log_cleaner import clean  # noqa: PLC0415 - few brokers need it

        log = written.log
        if log.settings.min_compaction_lag_ms == 0:
            written.drop_replaced()
        if len(log.batches) >= written.clean_at // 2:
            clean([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
        written.clean_at = max(BATCHES_MAX, 2 * len(log.batches))


class _Written:
    """The records that were written to one log.

    The log cleaner reads records to learn which ones others replace; here that is known.
    """

    __slots__ = ("_last", "_replaced", "clean_at", "log")

    def __init__(self, log: Log) -> None:
        self.log = log
        self.clean_at = BATCHES_MAX
        """The number of batches at which the log is compacted."""
        self._last: dict[str, int] = {}  # offset of the last record of each transactional id
        self._replaced: set[int] = set()

    def note(self, transactional_id: str, offset: int, *, is_tombstone: bool) -> None:
        before = self._last.pop(transactional_id, None)
        if before is not None:
            self._replaced.add(before)
        if not is_tombstone:
            self._last[transactional_id] = offset

    def drop_replaced(self) -> None:
        """Remove the batches whose records were replaced."""
        replaced, self._replaced = self._replaced, set()
        batches = self.log.batches
        self.log.replace(
            len(batches), [each for each in batches if each.base_offset not in replaced]
        )


def _partitions(transaction: Transaction) -> list[PartitionsSchema]:
    """Return the first partitions. DEVIATION: requests may add
    thousands, and would block others.
    """
    first = sorted(islice(transaction.partitions, PARTITIONS_MAX))
    return [
        PartitionsSchema(topic, [index for _, index in rows])
        for topic, rows in groupby(first, itemgetter(0))
    ]
