"""The changes since the last commit."""

from collections.abc import Callable, Hashable

from kafka_shim.authorizer.model import Acl
from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.share_partitions.share_state_values import SharePartitionKey as ShareKey
from kafka_shim.shim.storage.persisted_log import PersistedLog, ProducerChanges


class UncommittedChanges:
    """The changes since the last commit, by part; `on_first_change` is called at the first one."""

    def __init__(self, on_first_change: Callable[[], None]) -> None:
        self._when_first = on_first_change
        self.clear_all()

    def clear_all(self) -> None:
        """Clear the changes after they were written."""
        self.is_marked = False
        self.batches: list[tuple[PersistedLog, StoredBatch]] = []
        self.has_rows = False
        """Whether there is more than batches."""
        self._clear_rows()

    def clear_written_batches(self) -> None:
        """Clear the changes after they were written, if they were only batches."""
        assert not self.has_rows
        self.is_marked = False
        self.batches.clear()

    def _clear_rows(self) -> None:
        self.logs: dict[PersistedLog, None] = {}
        self.producers: dict[PersistedLog, ProducerChanges] = {}
        self.gone_logs: list[int] = []
        self.topics: set[str] = set()
        self.offsets: set[tuple[str, bytes, int]] = set()
        self.zookeeper: set[tuple[str, bytes, int]] = set()
        self.held: set[tuple[str, int]] = set()
        self.transactions: set[str] = set()
        self.groups: set[str] = set()
        self.shares: set[ShareKey] = set()
        self.acls: set[Acl] = set()
        self.sections: set[str] = set()
        self.entries: dict[tuple[str, Hashable], None] = {}

    def mark_rows_changed(self) -> None:
        """Record a change other than a new batch."""
        self.has_rows = True
        if not self.is_marked:
            self.is_marked = True
            self._when_first()

    def on_batch_appended(self, log: PersistedLog, batch: StoredBatch) -> None:
        self.batches.append((log, batch))
        if not self.is_marked:
            self.is_marked = True
            self._when_first()

    def on_log_changed(self, log: PersistedLog) -> None:
        """Mark a log that lost batches."""
        self.logs[log] = None
        self.mark_rows_changed()

    def on_producers_changed(self, log: PersistedLog, changes: ProducerChanges, /) -> None:
        self.producers.setdefault(log, ProducerChanges()).add(changes)
        if changes.is_whole:
            self.logs[log] = None
        self.mark_rows_changed()

    def on_log_closed(self, log: PersistedLog) -> None:
        """Record that a log was deleted."""
        self.gone_logs.append(log.number)
        self.mark_rows_changed()

    def on_acl_added(self, acl: Acl, /) -> None:
        """Record that whether the store has this ACL may differ from what is written."""
        self.acls.add(acl)
        self.mark_rows_changed()

    on_acl_removed = on_acl_added

    def mark_topic(self, name: str) -> None:
        self.topics.add(name)
        self.mark_rows_changed()

    def mark_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self.offsets.add((group_id, topic_id, partition))
        self.mark_rows_changed()

    def mark_pending_offsets(self, group_id: str, producer_id: int) -> None:
        self.held.add((group_id, producer_id))
        self.mark_rows_changed()

    def mark_transaction(self, transactional_id: str) -> None:
        """Record that a transactional id may change; empty: the next producer id."""
        self.transactions.add(transactional_id)
        self.mark_rows_changed()

    def mark_group(self, group_id: str) -> None:
        self.groups.add(group_id)
        self.mark_rows_changed()

    def mark_share_partition(self, key: ShareKey) -> None:
        self.shares.add(key)
        self.mark_rows_changed()

    def mark_entry(self, section: str, key: Hashable) -> None:
        """Record that an entry of a section changed which reports its changes."""
        self.entries[section, key] = None
        self.mark_rows_changed()

    def mark_section(self, name: str) -> None:
        """Record that a part may have changed which is compared as a whole."""
        self.sections.add(name)
        self.mark_rows_changed()


class FiringReportingClock:
    """A clock that reports when a timer has fired."""

    def __init__(self, clock: Clock, on_fired: Callable[[], None]) -> None:
        self._clock = clock
        self._on_fired = on_fired

    @property
    def fired_timers(self) -> int:
        return self._clock.fired_timers

    @fired_timers.setter
    def fired_timers(self, number: int) -> None:
        self._clock.fired_timers = number

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def now_us(self) -> int:
        return self._clock.now_us()

    def start_early_timers(self) -> None:
        self._clock.start_early_timers()

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        return self._clock.call_later(delay_ms, lambda: self._report_and_call(callback))

    def call_after_wait(self, wait_ms: float, callback: Callable[[], None]) -> Timer:
        return self._clock.call_after_wait(wait_ms, lambda: self._report_and_call(callback))

    def _report_and_call(self, callback: Callable[[], None]) -> None:
        self._on_fired()
        callback()
