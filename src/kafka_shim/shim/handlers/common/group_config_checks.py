"""Checks of a group's settings beyond their definitions."""

from collections.abc import Iterable, Mapping

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.config_resources import ResourceError
from kafka_shim.shim.state.settings.config_values import elements
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.share_partitions.dead_letters import QUEUE as DEAD_LETTER_QUEUE

KINDS = ("consumer", "share", "streams")
ASSIGNOR = "streams.assignor.name"
_BOUNDED_AS = {"num.standby.replicas": "standby.replicas", "num.warmup.replicas": "warmup.replicas"}


def check_group_settings(new: Mapping[str, str], configs: Configs) -> None:
    """Raise ResourceError unless a group can have these settings."""
    for text in (*_beyond_bounds(new, configs), *_short_sessions(new, configs)):
        raise ResourceError(ErrorCode.INVALID_CONFIG, text)
    if new.get(DEAD_LETTER_QUEUE, "").startswith("__"):
        raise ResourceError(
            ErrorCode.INVALID_CONFIG, f"{DEAD_LETTER_QUEUE} must not begin with `__`"
        )
    assignors = elements(configs.broker_value("group.streams.assignors") or "")
    has_classes = any("." in name for name in assignors)  # whose names are unknown
    if ASSIGNOR in new and new[ASSIGNOR] not in assignors and not has_classes:
        text = f"`{new[ASSIGNOR]}` for {ASSIGNOR}: expected one of {', '.join(assignors)}"
        raise ResourceError(ErrorCode.INVALID_CONFIG, text)


def _beyond_bounds(new: Mapping[str, str], configs: Configs) -> Iterable[str]:
    """Check the broker's bounds for a setting: `group.<kind>.min.<setting>` and `max`."""
    for key, value in new.items():
        kind, _, setting = key.partition(".")
        bounded = _BOUNDED_AS.get(setting, setting)
        for bound, is_outside in (("min", int.__lt__), ("max", int.__gt__)):
            name = f"group.{kind}.{bound}.{bounded}"
            limit = configs.broker_value(name) if kind in KINDS else None
            if limit is not None and is_outside(int(value), int(limit)):
                yield f"{key} of {value} is beyond {name}, {limit}"


def _short_sessions(new: Mapping[str, str], configs: Configs) -> Iterable[str]:
    for kind in KINDS:
        names = (f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms")
        if any(name in new for name in names):
            session, interval = (new.get(n) or configs.broker_value(f"group.{n}") for n in names)
            if session and interval and int(session) <= int(interval):
                yield f"{names[0]} of {session} must be more than {names[1]}, {interval}"
