"""Periodic work of brokers: expiration of old records and idle producers, and compaction."""

from collections.abc import Iterator

from kafka_shim.shim.clock import Clock
from kafka_shim.shim.state.configs import Configs
from kafka_shim.shim.state.log import Log
from kafka_shim.shim.state.rounds import Rounds
from kafka_shim.shim.state.self_cleaning import SelfCleaning
from kafka_shim.shim.state.topics import Topics

PRODUCER_CHECK_INTERVAL_MS = "600000"
"""Until 3.4, which made it a setting."""


class Upkeep:
    """Expires and cleans logs at the configured intervals, as long as there is anything in them."""

    def __init__(
        self, topics: Topics, configs: Configs, clock: Clock, *, stamps_horizon: bool
    ) -> None:
        """`stamps_horizon`: see `clean`."""
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._records = Rounds(clock, self._records_interval_ms, self._expire_records)
        self._producers = Rounds(clock, self._producers_interval_ms, self._expire_producers)
        self._cleaning = SelfCleaning(topics, configs, clock, stamps_horizon=stamps_horizon)

    def plan(self) -> None:
        """Start the timers, as a log is no longer empty."""
        self._records.plan()
        self._producers.plan()
        self._cleaning.plan()

    def stop(self) -> None:
        """Stop all timers."""
        self._records.stop()
        self._producers.stop()
        self._cleaning.stop()

    def _logs(self) -> Iterator[Log]:
        """Yield the logs of topics that still exist when it is their turn."""
        for topic in self._topics:
            for partition in topic.partitions:
                if not partition.stored_log.is_closed:
                    yield partition.stored_log

    def _expire_records(self) -> Iterator[bool]:
        for log in self._logs():
            if log.batches:
                log.expire()
            yield bool(log.batches)

    def _expire_producers(self) -> Iterator[bool]:
        before_ms = self._clock.now_ms() - self._producer_expiration_ms() + 1
        for log in self._logs():
            log.producers.expire(before_ms)
            yield bool(log.batches) or not log.producers.is_empty

    def _records_interval_ms(self) -> int:
        return self._configs.broker_int("log.retention.check.interval.ms")

    def _producers_interval_ms(self) -> int:
        name = "producer.id.expiration.check.interval.ms"
        return int(self._configs.broker_value(name) or PRODUCER_CHECK_INTERVAL_MS)

    def _producer_expiration_ms(self) -> int:
        own = self._configs.broker_value("producer.id.expiration.ms")
        return int(own or self._configs.broker_int("transactional.id.expiration.ms"))
