"""Compaction by itself, for brokers that are started with `log.cleaner.enable=true`.

DEVIATION: that is Kafka's default, but tests that read what they wrote would depend on time.
"""

from collections.abc import Iterator

from kafka_shim.protocol.errors import DecodeError
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.logs import Log as Logger
from kafka_shim.shim.state.configs import Configs
from kafka_shim.shim.state.log import Log
from kafka_shim.shim.state.rounds import Rounds
from kafka_shim.shim.state.topics import Topics

logger = Logger("shim.cleaner")

ENABLE = "log.cleaner.enable"
BACKOFF_MS = "log.cleaner.backoff.ms"
DIRTY_RATIO = "min.cleanable.dirty.ratio"
COMPACTION_LAG_MAX_MS = "max.compaction.lag.ms"


class SelfCleaning:
    """Cleans logs that are dirty enough, or for too long, every `log.cleaner.backoff.ms`."""

    def __init__(
        self, topics: Topics, configs: Configs, clock: Clock, *, stamps_horizon: bool
    ) -> None:
        self._topics = topics
        self._configs = configs
        self._clock = clock
        self._stamps_horizon = stamps_horizon
        self._rounds = Rounds(clock, lambda: configs.broker_int(BACKOFF_MS), self._clean)
        self.stop = self._rounds.stop
        self._is_asked_for = configs.own_broker_value(ENABLE) == "true"

    def plan(self) -> None:
        """Begin to compact logs periodically, if the setting enables it."""
        if self._is_asked_for:
            self._rounds.plan()

    def _clean(self) -> Iterator[bool]:
        """Clean the logs that are due; yield for each log whether it may be due later."""
        # most brokers never clean
        from kafka_shim.protocol.compression import MissingPackageError  # noqa: PLC0415
        from kafka_shim.shim.state.log_cleaner import clean  # noqa: PLC0415

        for log, is_due in self._logs():
            if is_due:
                try:
                    clean([log], self._clock.now_ms(), stamps_horizon=self._stamps_horizon)
                except (DecodeError, MissingPackageError) as error:
                    logger.warning("log cannot be compacted", reason=str(error))
            yield bool(log.batches)

    def _logs(self) -> Iterator[tuple[Log, bool]]:
        """Yield all logs, with whether they are due."""
        for topic in self._topics:
            ratio = float(self._value(topic.configs, DIRTY_RATIO) or "0.5")
            lag_ms = int(self._value(topic.configs, COMPACTION_LAG_MAX_MS) or 2**63 - 1)
            before_ms = self._clock.now_ms() - lag_ms
            for partition in topic.partitions:
                log = partition.stored_log
                yield log, log.settings.compacts and _is_due(log, ratio, before_ms)

    def _value(self, own: dict[str, str], name: str) -> str | None:
        if name not in self._configs.topic_definitions:
            return None
        return self._configs.topic_value(own, name)


def _is_due(log: Log, ratio: float, before_ms: int) -> bool:
    """Whether so much of a log is dirty, or something dirty is so old."""
    dirty = [batch for batch in log.batches if not batch.is_clean]
    size = sum(len(batch.payload) for batch in dirty)
    if not size:
        return False
    if size >= ratio * log.size_bytes:
        return True
    return any(batch.max_timestamp < before_ms for batch in dirty)
