"""The topic settings that a log obeys, read from whatever mapping holds them at the moment."""

from collections.abc import Mapping

WEEK_MS = 604_800_000
GIB = 1_073_741_824
FOREVER_MS = 2**63 - 1


class LogSettings:
    """Typed access; a setting that the topic does not have is at Kafka's default.

    The mapping is asked every time, so that a change by AlterConfigs holds at once.
    """

    __slots__ = ("_configs",)

    def __init__(self, configs: Mapping[str, str]) -> None:
        self._configs = configs

    @property
    def retention_ms(self) -> int:
        """-1: for ever."""
        return int(self._configs.get("retention.ms", WEEK_MS))

    @property
    def retention_bytes(self) -> int:
        """-1: no limit."""
        return int(self._configs.get("retention.bytes", -1))

    @property
    def segment_bytes(self) -> int:
        """Kafka deletes whole segments, so up to one more than `retention_bytes` stays."""
        return int(self._configs.get("segment.bytes", GIB))

    @property
    def deletes(self) -> bool:
        return "delete" in self._configs.get("cleanup.policy", "delete")

    @property
    def compacts(self) -> bool:
        return "compact" in self._configs.get("cleanup.policy", "delete")

    @property
    def max_message_bytes(self) -> int:
        """What a single batch may have."""
        return int(self._configs.get("max.message.bytes", 1_048_588))

    @property
    def uses_append_time(self) -> bool:
        return self._configs.get("message.timestamp.type") == "LogAppendTime"

    @property
    def min_insync_replicas(self) -> int:
        return int(self._configs.get("min.insync.replicas", 1))

    def timestamp_limits_ms(self, default_after_ms: int) -> tuple[int, int]:
        """How far before and after now a record's time may be (KIP-937; before it, one limit)."""
        both = self._configs.get("message.timestamp.difference.max.ms", FOREVER_MS)
        before = self._configs.get("message.timestamp.before.max.ms", both)
        if int(both) != FOREVER_MS:
            default_after_ms = int(both)
        after = self._configs.get("message.timestamp.after.max.ms", default_after_ms)
        return int(before), int(after)
