"""Periodic work of brokers: expiration of old records and idle producers, and compaction."""

from collections.abc import Iterator

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.periodic_work import PeriodicWork
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.topics import Topics
from kafka_shim.text.logs import Log as Logger

PRODUCER_CHECK_INTERVAL_MS = "600000"
"""Until 3.4, which made it a setting."""


class LogMaintenance:
    """Expires and cleans logs at the configured intervals, as long as there is anything in them."""

    def __init__(
        self, topics: Topics, configs: Configs, clock: Clock, *, stamps_horizon: bool
    ) -> None:
        """`stamps_horizon`: see `clean`."""
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._records = PeriodicWork(clock, self._records_interval_ms, self._expire_segments)
        self._producers = PeriodicWork(clock, self._producers_interval_ms, self._expire_producers)
        self._cleaning = AutomaticCompaction(topics, configs, clock, stamps_horizon=stamps_horizon)

    def start_timers(self) -> None:
        """Start the timers, as a log is no longer empty."""
        self._records.ensure_round_scheduled()
        self._producers.ensure_round_scheduled()
        self._cleaning.start()

    def stop_timers(self) -> None:
        """Stop all timers."""
        self._records.stop_timer()
        self._producers.stop_timer()
        self._cleaning.stop()

    def _logs_of_existing_topics(self) -> Iterator[PartitionLog]:
        """Yield the logs of topics that still exist when it is their turn."""
        for topic in self._topics:
            for partition in topic.partitions:
                if not partition.log_without_flush.is_closed:
                    yield partition.log_without_flush

    def _expire_segments(self) -> Iterator[bool]:
        for log in self._logs_of_existing_topics():
            if log.batches:
                log.delete_expired_segments()
            yield bool(log.batches)

    def _expire_producers(self) -> Iterator[bool]:
        before_ms = self._clock.now_ms() - self._producer_expiration_ms() + 1
        for log in self._logs_of_existing_topics():
            log.producers.drop_expired_producers(before_ms)
            yield bool(log.batches) or not log.producers.is_empty

    def _records_interval_ms(self) -> int:
        return self._configs.effective_broker_int("log.retention.check.interval.ms")

    def _producers_interval_ms(self) -> int:
        name = "producer.id.expiration.check.interval.ms"
        return int(self._configs.effective_broker_value(name) or PRODUCER_CHECK_INTERVAL_MS)

    def _producer_expiration_ms(self) -> int:
        own = self._configs.effective_broker_value("producer.id.expiration.ms")
        return int(own or self._configs.effective_broker_int("transactional.id.expiration.ms"))


logger = Logger("shim.cleaner")

ENABLE = "log.cleaner.enable"
BACKOFF_MS = "log.cleaner.backoff.ms"
DIRTY_RATIO = "min.cleanable.dirty.ratio"
COMPACTION_LAG_MAX_MS = "max.compaction.lag.ms"


class AutomaticCompaction:
    """Cleans logs that are dirty enough, or for too long, every `log.cleaner.backoff.ms`."""

    def __init__(
        self, topics: Topics, configs: Configs, clock: Clock, *, stamps_horizon: bool
    ) -> None:
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._stamps_horizon = stamps_horizon
        self._rounds = PeriodicWork(
            clock,
            lambda: configs.effective_broker_int(BACKOFF_MS),
            self._compact_due_logs,
        )
        self.stop = self._rounds.stop_timer
        self._is_enabled = configs.overridden_broker_value(ENABLE) == "true"

    def start(self) -> None:
        """Begin to compact logs periodically, if the setting enables it."""
        if self._is_enabled:
            self._rounds.ensure_round_scheduled()

    def _compact_due_logs(self) -> Iterator[bool]:
        """Clean the logs that are due; yield for each log whether it may be due later."""
        # most brokers never clean
        from kafka_shim.protocol.records.compression import MissingPackageError  # noqa: PLC0415
        from kafka_shim.shim.state.logs.log_cleaner import compact_logs  # noqa: PLC0415

        for log, is_due in self._iter_compaction_candidates():
            if is_due:
                try:
                    compact_logs([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
                except (DecodeError, MissingPackageError) as error:
                    logger.warning("log cannot be compacted", reason=str(error))
            yield bool(log.batches)

    def _iter_compaction_candidates(self) -> Iterator[tuple[PartitionLog, bool]]:
        """Yield all logs, with whether they are due."""
        for topic in self._topics:
            ratio = float(self._effective_topic_value(topic.configs, DIRTY_RATIO) or "0.5")
            lag_ms = int(
                self._effective_topic_value(topic.configs, COMPACTION_LAG_MAX_MS) or 2**63 - 1
            )
            before_ms = self._clock.now_ms() - lag_ms
            for partition in topic.partitions:
                log = partition.log_without_flush
                yield (
                    log,
                    log.settings.compacts and _is_compaction_due(log, ratio, before_ms),
                )

    def _effective_topic_value(self, own: dict[str, str], name: str) -> str | None:
        if name not in self._configs.topic_definitions:
            return None
        return self._configs.effective_topic_value(own, name)


def _is_compaction_due(log: PartitionLog, min_dirty_ratio: float, before_ms: int) -> bool:
    """Return whether this part of a log is dirty, or a dirty batch is older than that."""
    dirty = [batch for batch in log.batches if not batch.is_clean]
    size = sum(len(batch.payload) for batch in dirty)
    if not size:
        return False
    if size >= min_dirty_ratio * log.size_bytes:
        return True
    return any(batch.max_timestamp < before_ms for batch in dirty)
