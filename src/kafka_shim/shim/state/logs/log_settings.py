"""The topic settings that a log obeys, as they hold at the moment."""

import sys
from collections.abc import Callable, Mapping
from copy import deepcopy

import msgspec

from kafka_shim.shim.state.settings.configs import Configs

FOREVER_MS = 2**63 - 1
DEFAULTS = {
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "segment.bytes": "1073741824",
    "segment.ms": "604800000",
    "index.interval.bytes": "4096",
    "cleanup.policy": "delete",
    "delete.retention.ms": "86400000",
    "min.compaction.lag.ms": "0",
    "max.message.bytes": "1048588",
    "max.decompressed.message.bytes": str(sys.maxsize),
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "compression.type": "producer",
    "message.timestamp.difference.max.ms": str(FOREVER_MS),
    "message.timestamp.before.max.ms": str(FOREVER_MS),
    "message.timestamp.after.max.ms": str(FOREVER_MS),
}
"""What holds where nothing is said, and in releases that do not have the setting."""


class LogSettings(msgspec.Struct, frozen=True, gc=False):
    """The settings of a log; sizes in bytes, times in ms, -1: no limit.

    `index_interval_bytes`: minimum distance of entries in Kafka's offset index.
    `segment_bytes`, `segment_ms`: maximum size and age of the active segment.
    `delete_retention_ms`: how long tombstones are kept after they were first compacted.
    `decompressed_bytes_max`: of a record in a compressed batch (4.4 and later).
    `min_compaction_lag_ms`: minimum age of a record to be compacted (KIP-58).
    `requires_zstd_support`: `compression.type` is zstd, whatever the producers' batches use.
    `timestamp_before_max_ms`, `timestamp_after_max_ms`: how far a record's time may be before and
    after now (KIP-937; earlier one limit for both), FOREVER_MS: no limit; `limits_timestamps`: at
    least one is limited.
    """

    retention_ms: int
    retention_bytes: int
    segment_bytes: int
    segment_ms: int
    index_interval_bytes: int
    deletes: bool
    compacts: bool
    delete_retention_ms: int
    min_compaction_lag_ms: int
    max_message_bytes: int
    decompressed_bytes_max: int
    uses_append_time: bool
    min_insync_replicas: int
    requires_zstd_support: bool
    timestamp_before_max_ms: int
    timestamp_after_max_ms: int
    limits_timestamps: bool


class EffectiveLogSettings:
    """The settings of a topic as they hold: its own, then those of brokers, then the defaults.

    They are read once, and again when the topic's own, or those of brokers, have changed.
    """

    __slots__ = ("_all_brokers", "_brokers", "_configs", "_own", "_own_then", "last_read")

    def __init__(self, own: Mapping[str, str], configs: Configs | None = None) -> None:
        self._own = own
        self._configs = configs
        self._own_then: Mapping[str, str] = {}  # this and the next two: when they were last read
        self._all_brokers: Mapping[str, str] = {}
        self._brokers: Mapping[int, Mapping[str, str]] = {}
        self.last_read: LogSettings | None = None
        """The settings as they were when somebody asked; None: nobody did."""

    def current_settings(self) -> LogSettings:
        """Return the present settings."""
        configs, settings = self._configs, self.last_read
        if settings is not None and self._own == self._own_then:
            if configs is None:
                return settings
            if configs.all_brokers == self._all_brokers and configs.brokers == self._brokers:
                return settings
        self._own_then = dict(self._own)
        if configs is not None:
            self._all_brokers = dict(configs.all_brokers)
            self._brokers = deepcopy(configs.brokers)
        self.last_read = settings = _parse_settings(self._effective_value)
        return settings

    def _effective_value(self, name: str) -> str:
        configs = self._configs
        if configs is None:
            value = self._own.get(name)
        else:
            known = name in configs.topic_definitions
            value = configs.effective_topic_value(self._own, name) if known else None
        return value or DEFAULTS[name]


def _parse_settings(value: Callable[[str], str]) -> LogSettings:
    both = int(value("message.timestamp.difference.max.ms"))
    before_max_ms = min(both, int(value("message.timestamp.before.max.ms")))
    after_max_ms = min(both, int(value("message.timestamp.after.max.ms")))
    policy = value("cleanup.policy")
    return LogSettings(
        retention_ms=int(value("retention.ms")),
        retention_bytes=int(value("retention.bytes")),
        segment_bytes=int(value("segment.bytes")),
        segment_ms=int(value("segment.ms")),
        index_interval_bytes=int(value("index.interval.bytes")),
        deletes="delete" in policy,
        compacts="compact" in policy,
        delete_retention_ms=int(value("delete.retention.ms")),
        min_compaction_lag_ms=int(value("min.compaction.lag.ms")),
        max_message_bytes=int(value("max.message.bytes")),
        decompressed_bytes_max=int(value("max.decompressed.message.bytes")),
        uses_append_time=value("message.timestamp.type") == "LogAppendTime",
        min_insync_replicas=int(value("min.insync.replicas")),
        requires_zstd_support=value("compression.type") == "zstd",
        timestamp_before_max_ms=before_max_ms,
        timestamp_after_max_ms=after_max_ms,
        limits_timestamps=before_max_ms < FOREVER_MS or after_max_ms < FOREVER_MS,
    )
