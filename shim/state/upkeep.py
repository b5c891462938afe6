"""What brokers do by themselves while time passes: old records go, and idle producers with them."""

from collections.abc import Callable, Iterator

from kafka_shim.shim.clock import Clock, Timer
from kafka_shim.shim.state.configs import Configs
from kafka_shim.shim.state.log import Log
from kafka_shim.shim.state.topics import Topics

PRODUCER_CHECK_INTERVAL_MS = "600000"
"""Until 3.4, which made it a setting."""


class Upkeep:
    """Looks after logs as often as the settings say, as long as there is something in them."""

    def __init__(self, topics: Topics, configs: Configs, clock: Clock) -> None:
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._records = _Rounds(clock, self._records_interval_ms, self._expire_records)
        self._producers = _Rounds(clock, self._producers_interval_ms, self._expire_producers)

    def plan(self) -> None:
        """Look after the logs from now on: one has something in it."""
        self._records.plan()
        self._producers.plan()

    def stop(self) -> None:
        """Look after nothing any more."""
        self._records.stop()
        self._producers.stop()

    def _logs(self) -> Iterator[Log]:
        return (partition.log for topic in self._topics for partition in topic.partitions)

    def _expire_records(self) -> bool:
        found = False
        for log in self._logs():
            if log.batches:
                log.expire()
                found = found or bool(log.batches)
        return found

    def _expire_producers(self) -> bool:
        found = False
        before_ms = self._clock.now_ms() - self._producer_expiration_ms() + 1
        for log in self._logs():
            log.producers.expire(before_ms)
            found = found or bool(log.batches) or not log.producers.is_empty
        return found

    def _records_interval_ms(self) -> int:
        return self._configs.broker_int("log.retention.check.interval.ms")

    def _producers_interval_ms(self) -> int:
        name = "producer.id.expiration.check.interval.ms"
        return int(self._configs.broker_value(name) or PRODUCER_CHECK_INTERVAL_MS)

    def _producer_expiration_ms(self) -> int:
        own = self._configs.broker_value("producer.id.expiration.ms")
        return int(own or self._configs.broker_int("transactional.id.expiration.ms"))


class _Rounds:
    """Work that is done again and again until there is none left."""

    def __init__(
        self, clock: Clock, interval_ms: Callable[[], int], work: Callable[[], bool]
    ) -> None:
        self._clock = clock
        self._interval_ms = interval_ms
        self._work = work
        self._timer: Timer | None = None

    def plan(self) -> None:
        if self._timer is None:
            self._timer = self._clock.call_later(self._interval_ms(), self._run)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _run(self) -> None:
        self._timer = None
        if self._work():
            self.plan()
