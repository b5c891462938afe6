"""The records of `__transaction_state`: one for each change of a transactional id (KIP-98).

They are appended when somebody looks at the log of their partition. Of very many that nobody has
read, only the last one of each id is kept, as if the log had been compacted.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import groupby, islice
from operator import itemgetter
from struct import Struct

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.messages.transaction_log_key import TransactionLogKey
from kafka_shim.protocol.messages.transaction_log_value import (
    PartitionsSchema,
    TransactionLogValue,
)
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.coordinators import (
    KEPT_CHARS_MAX,
    Coordinators,
    KeyType,
    append_record,
    encode_with_version,
)
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.transactions.transaction import (
    NO_TIME,
    TopicPartition,
    Transaction,
    TransactionalIdState,
)

KEY_VERSION = 0
BATCHES_MAX = 500
"""A partition is compacted when it has so many, or twice those that were left the last time."""
UNWRITTEN_MAX = 2_000
"""With more unread records of all partitions, only the last one of each id is kept; if that is more
than half, they are written. A look at the logs must not take long.
"""
PARTITIONS_MAX = 500
"""A record has the first so many partitions of a transaction."""
_EMPTY, _TRANSACTION = (
    TransactionalIdState.EMPTY,
    KeyType.TRANSACTION,
)  # by themselves: see NO_ERROR
_VERSION_BYTES = 2
_HEAD = Struct(">hqhib")
"""The version, and the fields of a record before its partitions; the times follow these."""
_TIMES, _TIMES_AND_ID, _TIMES_AND_BOTH = Struct(">qq"), Struct(">qqBBBq"), Struct(">qqBBBqBBh")
"""The times, and tagged fields: their number, and the tag, length and content of each one."""

Values = tuple[int, int, int, int, int, int, int, int, tuple[TopicPartition, ...] | None]
"""What a record shows: version, producer id and epoch, timeout (ms), code of the state, times of
the last change and of the start (ms), version of the client, and partitions.
"""


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
        self._unwritten: dict[int, _UnwrittenRecords] = {}  # by partition
        self._unwritten_count = 0
        self._written: dict[int, _LastRecordOffsets] = {}  # by partition

    @property
    def transaction_version(self) -> int:
        return self._version()

    def write_state(self, transaction: Transaction) -> None:
        """Write the current state of a transactional id."""
        values = values_of_transaction(transaction, 1 if self._version() else 0)
        self._append_record(transaction.transactional_id, values)

    def write_tombstone(self, transactional_id: str) -> None:
        """Write the tombstone of a transactional id."""
        self._append_record(transactional_id, None)

    def _append_record(self, transactional_id: str, values: Values | None) -> None:
        """Append a record when the log is looked at, or now if a client waits for it."""
        partition = self._coordinators.coordinator_partition_creating_topic(
            _TRANSACTION, transactional_id
        )
        log, index = partition.log_without_flush, partition.index
        unwritten = self._unwritten.get(index)
        if unwritten is None or unwritten.log is not log:  # the topic may have been made anew
            self._take_unwritten(index)
            unwritten = self._unwritten[index] = _UnwrittenRecords(log)
        unwritten.add(partition.leader_epoch, self._clock.now_ms(), transactional_id, values)
        self._unwritten_count += 1
        if log.has_watchers:
            self.write_partition(index)
        elif self._unwritten_count > UNWRITTEN_MAX:
            self._drop_replaced_or_write()

    def _take_unwritten(self, index: int) -> "_UnwrittenRecords | None":
        """Remove the records of a partition from the unwritten ones, and return them."""
        unwritten = self._unwritten.pop(index, None)
        if unwritten is not None:
            self._unwritten_count -= len(unwritten.rows)
        return unwritten

    def _drop_replaced_or_write(self) -> None:
        """Keep the last unwritten record of each id, or write them all."""
        for unwritten in self._unwritten.values():
            if unwritten.log.settings.min_compaction_lag_ms == 0:
                unwritten.drop_replaced()
        self._unwritten_count = sum(len(each.rows) for each in self._unwritten.values())
        if self._unwritten_count > UNWRITTEN_MAX // 2:
            self.write_all_partitions()

    def write_all_partitions(self) -> None:
        """Write all unwritten records."""
        for index in list(self._unwritten):
            self.write_partition(index)

    def write_partition(self, index: int) -> None:
        """Write the unwritten records of a partition, since somebody looks at its log."""
        unwritten = self._take_unwritten(index)
        if unwritten is None or unwritten.log.is_closed:  # its topic was deleted
            return
        log, written = unwritten.log, self._written.get(index)
        if written is None or written.log is not log:
            written = self._written[index] = _LastRecordOffsets(log)
        for offset, leader_epoch, now_ms, transactional_id, values in unwritten.rows:
            key = _known_key if len(transactional_id) <= KEPT_CHARS_MAX else _encode_key
            value = None if values is None else encode_values(values)
            log.end_offset = offset  # there is a gap where records were replaced
            append_record(log, leader_epoch, now_ms, key(transactional_id), value)
            written.note_record(transactional_id, offset, is_tombstone=value is None)
            if len(log.batches) >= written.clean_at:
                self._compact_by_record_count(written)

    def _compact_by_record_count(self, written: "_LastRecordOffsets") -> None:
        """DEVIATION: compact by the number of records; a real broker does by their size on disk."""
        log = written.log
        if log.settings.min_compaction_lag_ms == 0:
            written.remove_replaced_batches()
        if len(log.batches) >= written.clean_at // 2:
            from kafka_shim.shim.state.logs.log_cleaner import compact_logs  # noqa: PLC0415 - few brokers need it

            compact_logs([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
        written.clean_at = max(BATCHES_MAX, 2 * len(log.batches))


_Row = tuple[int, int, int, str, Values | None]
"""Offset, leader epoch, time (ms), transactional id, and values; None: a tombstone."""


class _UnwrittenRecords:
    """The records that are to be appended to a log."""

    __slots__ = ("log", "rows")

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.rows: list[_Row] = []

    def add(
        self, leader_epoch: int, now_ms: int, transactional_id: str, values: Values | None
    ) -> None:
        rows = self.rows
        offset = rows[-1][0] + 1 if rows else self.log.end_offset
        rows.append((offset, leader_epoch, now_ms, transactional_id, values))

    def drop_replaced(self) -> None:
        """Keep the last record of each transactional id."""
        last = {transactional_id: offset for offset, _, _, transactional_id, _ in self.rows}
        self.rows = [row for row in self.rows if last[row[3]] == row[0]]


class _LastRecordOffsets:
    """The records that were written to one log.

    The log cleaner reads records to learn which ones others replace; here that is known.
    """

    __slots__ = ("_last", "_replaced", "clean_at", "log")

    def __init__(self, log: PartitionLog) -> None:
        self.log = log
        self.clean_at = BATCHES_MAX
        """The number of batches at which the log is compacted."""
        self._last: dict[str, int] = {}  # offset of the last record of each transactional id
        self._replaced: set[int] = set()

    def note_record(self, transactional_id: str, offset: int, *, is_tombstone: bool) -> None:
        before = self._last.pop(transactional_id, None)
        if before is not None:
            self._replaced.add(before)
        if not is_tombstone:
            self._last[transactional_id] = offset

    def remove_replaced_batches(self) -> None:
        """Remove the batches whose records were replaced."""
        replaced, self._replaced = self._replaced, set()
        batches = self.log.batches
        self.log.replace_cleaned_batches(
            len(batches), [each for each in batches if each.base_offset not in replaced]
        )


def _encode_key(transactional_id: str) -> bytes:
    return encode_with_version(TransactionLogKey(transactional_id), KEY_VERSION)


_known_key = lru_cache(maxsize=1024)(_encode_key)


def values_of_transaction(transaction: Transaction, version: int) -> Values:
    """Return what a record shows of the state of a transactional id."""
    state = transaction.state
    is_empty = state is _EMPTY
    return (
        version,
        transaction.producer_id,
        transaction.epoch,
        transaction.timeout_ms,
        state.code,
        transaction.updated_ms,
        NO_TIME if is_empty else transaction.started_ms,
        transaction.client_version,
        None if is_empty else tuple(islice(transaction.partitions, PARTITIONS_MAX)),
    )


def encode_values(values: Values) -> bytes:
    """Return what `encode_with_version` returns, in a quarter of the time."""
    *first, updated_ms, started_ms, client_version, partitions = values
    version, producer_id, *_ = first
    head, times = _HEAD.pack(*first), (updated_ms, started_ms)
    if not version:
        tail = _TIMES.pack(*times)
    elif client_version:
        of_client = (2, 2, client_version)
        tail = _TIMES_AND_BOTH.pack(*times, 2, 0, 8, producer_id, *of_client)
    else:
        tail = _TIMES_AND_ID.pack(*times, 1, 0, 8, producer_id)
    return b"".join((head, _encode_partitions(partitions, version), tail))


@lru_cache(maxsize=64)
def _encode_partitions(partitions: tuple[TopicPartition, ...] | None, version: int) -> bytes:
    """Return what a record has of partitions: at most PARTITIONS_MAX. DEVIATION: requests may add
    thousands, and would block others.
    """
    rows = None
    if partitions is not None:
        rows = [
            PartitionsSchema(topic, [index for _, index in found])
            for topic, found in groupby(sorted(partitions), itemgetter(0))
        ]
    value = codecs.write_message(TransactionLogValue(transaction_partitions=rows), version)
    return value[_HEAD.size - _VERSION_BYTES : len(value) - _TIMES.size - version]  # 1 has tags
