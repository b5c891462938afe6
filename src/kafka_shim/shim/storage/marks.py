"""The changes since the last commit."""

from collections.abc import Callable

from kafka_shim.authorizer.model import Acl
from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.state.logs.log import StoredBatch
from kafka_shim.shim.state.share_partitions.share_values import SharePartitionKey as ShareKey
from kafka_shim.shim.storage.kept_log import PersistedLog


class NotedAcls(set[Acl]):
    """A set of ACLs that reports its changes."""

    def __init__(self, noted: Callable[[], None]) -> None:
        super().__init__()
        self._noted = noted

    def add(self, acl: Acl, /) -> None:
        super().add(acl)
        self._noted()


class Marks:
    """The changes of a turn, by part; `when_first` is called with the first one."""

    def __init__(self, when_first: Callable[[], None]) -> None:
        self._when_first = when_first
        self.acls = NotedAcls(self.mark)
        self.forget()

    def forget(self) -> None:
        """Clear the changes after they were written."""
        self.is_marked = False
        self.batches: list[tuple[PersistedLog, StoredBatch]] = []
        self.has_rows = False
        """Whether there is more than batches."""
        self._forget_rows()

    def forget_batches(self) -> None:
        """Clear the changes after they were written, if they were only batches."""
        assert not self.has_rows
        self.is_marked = False
        self.batches.clear()

    def _forget_rows(self) -> None:
        self.logs: dict[PersistedLog, None] = {}
        self.gone_logs: list[int] = []
        self.topics: set[str] = set()
        self.all_topics = False
        self.offsets: set[tuple[str, bytes, int]] = set()
        self.zookeeper: set[tuple[str, bytes, int]] = set()
        self.held: set[tuple[str, int]] = set()
        self.transactions: set[str] = set()
        self.groups: set[str] = set()
        self.all_groups = False
        self.shares: set[ShareKey] = set()
        self.acls.clear()
        self.sections: set[str] = set()

    def mark(self) -> None:
        """Record a change other than a new batch."""
        self.has_rows = True
        if not self.is_marked:
            self.is_marked = True
            self._when_first()

    def appended(self, log: PersistedLog, batch: StoredBatch) -> None:
        self.batches.append((log, batch))
        if not self.is_marked:
            self.is_marked = True
            self._when_first()

    def log(self, log: PersistedLog) -> None:
        """Mark a log that lost batches or whose producers changed."""
        self.logs[log] = None
        self.mark()

    def closed(self, log: PersistedLog) -> None:
        """Record that a log was deleted."""
        self.gone_logs.append(log.number)
        self.mark()

    def topic(self, name: str | None) -> None:
        if name is None:
            self.all_topics = True
        else:
            self.topics.add(name)
        self.mark()

    def offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self.offsets.add((group_id, topic_id, partition))
        self.mark()

    def held_back(self, group_id: str, producer_id: int) -> None:
        self.held.add((group_id, producer_id))
        self.mark()

    def transaction(self, transactional_id: str) -> None:
        """Record that a transactional id may change; empty: the next producer id."""
        self.transactions.add(transactional_id)
        self.mark()

    def group(self, group_id: str) -> None:
        self.groups.add(group_id)
        self.mark()

    def every_group(self) -> None:
        self.all_groups = True
        self.mark()

    def share(self, key: ShareKey) -> None:
        self.shares.add(key)
        self.mark()

    def section(self, name: str) -> None:
        """Record that a part may have changed which is compared as a whole."""
        self.sections.add(name)
        self.mark()


class NotingClock:
    """A clock that reports when a timer has fired."""

    def __init__(self, clock: Clock, noted: Callable[[], None]) -> None:
        self._clock = clock
        self._noted = noted

    @property
    def fired(self) -> int:
        return self._clock.fired

    @fired.setter
    def fired(self, number: int) -> None:
        self._clock.fired = number

    def now_ms(self) -> int:
        return self._clock.now_ms()

    def now_us(self) -> int:
        return self._clock.now_us()

    def begin(self) -> None:
        self._clock.begin()

    def call_later(self, delay_ms: float, callback: Callable[[], None]) -> Timer:
        def fire() -> None:
            self._noted()
            callback()

        return self._clock.call_later(delay_ms, fire)
