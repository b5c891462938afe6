"""The topic settings that a log obeys, read from whatever mapping holds them at the moment."""

from collections.abc import Iterator, Mapping
from typing import Any

from shim.state.configs import Configs

FOREVER_MS = 2**63 - 1
DEFAULTS = {
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "segment.bytes": "1073741824",
    "cleanup.policy": "delete",
    "max.message.bytes": "1048588",
    "message.timestamp.type": "CreateTime",
    "min.insync.replicas": "1",
    "message.timestamp.difference.max.ms": str(FOREVER_MS),
    "message.timestamp.before.max.ms": str(FOREVER_MS),
    "message.timestamp.after.max.ms": str(FOREVER_MS),
}
"""What holds where the mapping says nothing."""


class InForce(Mapping[str, str]):
    """The settings of a topic as they hold, with what stands in for those it does not have.

    Values are kept until the settings of the topic or of brokers change.
    """

    __slots__ = ("_configs", "_own", "_seen", "_values")

    def __init__(self, own: Mapping[str, str], configs: Configs) -> None:
        self._own = own
        self._configs = configs
        self._seen: object = None
        self._values: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        value = self._value(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        value = self._value(name)
        return default if value is None else value

    def _value(self, name: str) -> str | None:
        configs = self._configs
        if self._seen != (self._own, configs.all_brokers, configs.brokers):
            brokers = {node_id: dict(values) for node_id, values in configs.brokers.items()}
            self._seen = (dict(self._own), dict(configs.all_brokers), brokers)
            self._values.clear()
        if name not in self._values:
            known = name in configs.topic_definitions
            self._values[name] = configs.topic_value(self._own, name) if known else None
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._own)

    def __len__(self) -> int:
        return len(self._own)


class LogSettings:
    """Typed access. The mapping is asked every time, so that a change holds at once."""

    __slots__ = ("_configs",)

    def __init__(self, configs: Mapping[str, str]) -> None:
        self._configs = configs

    @property
    def retention_ms(self) -> int:
        """-1: for ever."""
        return self._number("retention.ms")

    @property
    def retention_bytes(self) -> int:
        """-1: no limit."""
        return self._number("retention.bytes")

    @property
    def segment_bytes(self) -> int:
        """Kafka deletes whole segments, so up to one more than `retention_bytes` stays."""
        return self._number("segment.bytes")

    @property
    def deletes(self) -> bool:
        return "delete" in self._text("cleanup.policy")

    @property
    def compacts(self) -> bool:
        return "compact" in self._text("cleanup.policy")

    @property
    def max_message_bytes(self) -> int:
        """What a single batch may have."""
        return self._number("max.message.bytes")

    @property
    def uses_append_time(self) -> bool:
        return self._text("message.timestamp.type") == "LogAppendTime"

    @property
    def min_insync_replicas(self) -> int:
        return self._number("min.insync.replicas")

    @property
    def timestamp_limits_ms(self) -> tuple[int, int]:
        """How far before and after now a record's time may be (KIP-937; once one for both)."""
        both = self._number("message.timestamp.difference.max.ms")
        before = self._number("message.timestamp.before.max.ms")
        after = self._number("message.timestamp.after.max.ms")
        return min(both, before), min(both, after)

    def _text(self, name: str) -> str:
        return self._configs.get(name) or DEFAULTS[name]

    def _number(self, name: str) -> int:
        return int(self._configs.get(name) or DEFAULTS[name])
