"""Checks of a running broker's new settings beyond their definitions (KIP-226).

They were measured with all settings on real brokers (tests/recordings/settings).
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.config_resources import ConfigResourceError
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.quotas.quotas import is_host_address
from kafka_shim.shim.state.settings.config_values import (
    ConfigValueError,
    list_elements,
    validated_canonical_value,
)

MIB: Final = 1 << 20
_THREAD_POOLS: Final = frozenset(
    {
        "background.threads",
        "log.cleaner.threads",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "remote.log.manager.copier.thread.pool.size",
        "remote.log.manager.expiration.thread.pool.size",
        "remote.log.manager.follower.thread.pool.size",
        "remote.log.reader.threads",
    }
)
"""Threads, of which there may be half as many as now, or twice as many."""

_MINIMUM_VALUES: Final = {
    "log.roll.ms": 1,
    "log.roll.jitter.ms": 0,
    "max.connection.creation.rate": 1,
    "max.connections": 1,
}
_ONLY_BY_LISTENER: Final = re.compile(
    r"ssl\.(engine\.factory\.class|key\.password|(key|trust)store\..*)"
)
"""Settings that a running broker takes only behind `listener.name.<listener>.`"""

_ONLY_KNOWN_CLASSES: Final = {
    "metric.reporters": "org.apache.kafka.common.metrics.JmxReporter",
    "principal.builder.class": (
        "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    ),
}
"""Settings that name Java classes, and the one that every broker has."""

_PROTOCOLS: Final = frozenset({"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"})
_ENDPOINT: Final = re.compile(r"([^:/]+)://(\[[0-9a-fA-F:]*\]|[^:/]*):(\d+)")
_FEWER_NUMBERS: Final = re.compile(r"\d+(\.\d+){0,2}")
_ASSIGNMENT_INTERVAL: Final = re.compile(r"group\.(\w+)\.assignment\.interval\.ms")


def check_running_broker_settings(new: Mapping[str, str], context: RequestContext) -> None:
    """Raise ConfigResourceError for settings that a running broker rejects.

    Their values were already checked against their definitions.
    """
    if new.get("log.cleaner.threads", "").strip() == "0":
        raise ConfigResourceError(ErrorCode(context.facts.configs.zero_cleaner_threads_error), None)
    for text in _setting_errors(_ProposedBrokerSettings(new, context)):
        raise ConfigResourceError(ErrorCode.INVALID_REQUEST, text)


class _ProposedBrokerSettings:
    """A broker's new settings over its current ones."""

    def __init__(self, new: Mapping[str, str], context: RequestContext) -> None:
        self.new = new
        self.node_id = context.node_id
        self.cluster = context.cluster
        self.configs = context.cluster.configs

    def value_of(self, name: str) -> str:
        return self.new.get(name, self.current_value(name) or "")

    def number_of(self, name: str) -> int:
        return int(self.value_of(name) or 0)

    def current_value(self, name: str) -> str | None:
        return self.configs.effective_broker_value(name, self.node_id)


def _setting_errors(settings: _ProposedBrokerSettings) -> Iterator[str]:
    for name in settings.new:
        yield from _errors_of_setting(name, settings)
    for check in _CHECKS_ACROSS_SETTINGS:
        yield from check(settings)


def _errors_of_setting(name: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    value = settings.new[name]
    if name in _THREAD_POOLS:
        now = int(settings.current_value(name) or 1)
        if int(value) < max(1, now // 2) or int(value) > 2 * now:
            yield f"{name} of {value}: expected a value from half to twice the current {now}"
    if name in _MINIMUM_VALUES and int(value) < _MINIMUM_VALUES[name]:
        yield f"{name} of {value} is below {_MINIMUM_VALUES[name]}"
    if name == "log.retention.ms" and int(value) == 0:
        yield f"{name} must not be 0"
    if _ONLY_BY_LISTENER.fullmatch(name):
        yield f"{name} can only be altered for a listener: listener.name.NAME.{name}"
    if name in _ONLY_KNOWN_CLASSES and any(
        part != _ONLY_KNOWN_CLASSES[name] for part in _split_class_names(name, value)
    ):
        yield f"`{value}` for {name}: unknown class"
    if check := _CHECK_BY_SETTING.get(name):
        yield from check(value, settings)


def _split_class_names(name: str, value: str) -> list[str]:
    is_empty_list = name == "metric.reporters" and not value
    return [] if is_empty_list else value.split(",")


def _compression_type_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    """Check a compression type by the definition of the topic setting."""
    try:
        validated_canonical_value(
            "compression.type", settings.configs.topic_definitions["compression.type"], value
        )
    except ConfigValueError as error:
        yield str(error)


def _host_override_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    for part in list_elements(value):
        host, _, count = part.rpartition(":")
        if part and not (count.strip().isdecimal() and _is_host(host.strip())):
            yield f"`{part}`: expected an address and a number, as in 127.0.0.1:5"


def _is_host(text: str) -> bool:
    """Return whether a text is `localhost` or an address, perhaps of fewer than four numbers."""
    return (
        text == "localhost" or _FEWER_NUMBERS.fullmatch(text) is not None or is_host_address(text)
    )


def _max_per_host_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    if int(value) == 0 and not settings.value_of("max.connections.per.ip.overrides"):
        yield "max.connections.per.ip can be 0 only with max.connections.per.ip.overrides"


def _protocol_map_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    protocols = dict[str, str]()
    for part in list_elements(value):
        name, _, protocol = part.partition(":")
        if protocol.strip().upper() not in _PROTOCOLS:
            yield f"`{part}`: expected a listener and its protocol"
        protocols[name.strip().upper()] = protocol
    needed = _bound_listener_names(settings)
    if settings.value_of("process.roles"):
        needed += [
            name.upper() for name in list_elements(settings.value_of("controller.listener.names"))
        ]
    if missing := [name for name in needed if name not in protocols]:
        yield f"listeners without a protocol: {', '.join(missing)}"


def _bound_listener_names(settings: _ProposedBrokerSettings) -> list[str]:
    return [name.upper() for name in settings.cluster.nodes[settings.node_id].bound]


def _listeners_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    """Yield the error of a `listeners` value that is invalid or lacks an advertised listener."""
    names, error = _parse_endpoint_names(value)
    if error:
        yield error
    elif missing := [name for name in _bound_listener_names(settings) if name not in names]:
        yield f"advertised listeners are missing in listeners: {', '.join(missing)}"


def _advertised_listeners_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    names, error = _parse_endpoint_names(value)
    if settings.value_of("process.roles"):
        yield "advertised.listeners cannot change while the broker runs"
    elif error:
        yield error
    elif unknown := [name for name in names if name not in _bound_listener_names(settings)]:
        yield f"unknown advertised listeners: {', '.join(unknown)}"
    elif (own := settings.value_of("inter.broker.listener.name") or "PLAINTEXT") not in names:
        yield f"the listener between brokers is missing: {own}"


class _EndpointNames(NamedTuple):
    """The listeners of a text, up to its first error; `error` is empty if it is valid."""

    listener_names: list[str]
    error: str


def _parse_endpoint_names(value: str) -> _EndpointNames:
    names = list[str]()
    ports = list[str]()
    for part in value.split(","):
        match = _ENDPOINT.fullmatch(part.strip())
        if match is None:
            return _EndpointNames(names, f"`{part}`: expected NAME://HOST:PORT")
        names.append(match[1].upper())
        ports.append(match[3])
    if len(set(names)) < len(names) or len(set(ports) - {"0"}) < len(ports) - ports.count("0"):
        text = f"`{value}`: each listener needs a name and a port of its own"
        return _EndpointNames(names, text)
    return _EndpointNames(names, "")


def _cordoned_log_dirs_errors(value: str, settings: _ProposedBrokerSettings) -> Iterator[str]:
    known = [
        *list_elements(
            settings.current_value("log.dirs") or settings.current_value("log.dir") or ""
        ),
        "*",
    ]
    if unknown := [part for part in list_elements(value) if part not in known]:
        yield f"cordoned.log.dirs: unknown log directories: {', '.join(unknown)}"


_CHECK_BY_SETTING: Final[Mapping[str, Callable[[str, _ProposedBrokerSettings], Iterator[str]]]] = {
    "advertised.listeners": _advertised_listeners_errors,
    "compression.type": _compression_type_errors,
    "cordoned.log.dirs": _cordoned_log_dirs_errors,
    "listener.security.protocol.map": _protocol_map_errors,
    "listeners": _listeners_errors,
    "max.connections.per.ip": _max_per_host_errors,
    "max.connections.per.ip.overrides": _host_override_errors,
}


def _dedupe_buffer_size_errors(settings: _ProposedBrokerSettings) -> Iterator[str]:
    name = "log.cleaner.dedupe.buffer.size"
    threads = settings.number_of("log.cleaner.threads")
    if settings.number_of(name) // max(1, threads) <= MIB:
        yield f"{name}: expected more than 1 MiB for each of {threads} threads"


def _local_retention_errors(settings: _ProposedBrokerSettings) -> Iterator[str]:
    """Check that local retention and remote copy lag are at most the total retention (KIP-405)."""
    for unit in ("ms", "bytes"):
        name, total = (
            f"log.local.retention.{unit}",
            settings.value_of(f"log.retention.{unit}"),
        )
        if settings.current_value(name) is None:
            return
        local, limit = (
            settings.number_of(name),
            int(total or _effective_retention_ms(settings)),
        )
        if local == -2:
            local = limit
        elif limit >= 0 and (local == -1 or local > limit):
            yield f"{name} of {local} is more than log.retention.{unit}, {limit}"
        lag = f"log.remote.copy.lag.{unit}"
        if (
            settings.current_value(lag) is not None
            and local >= 0
            and settings.number_of(lag) > local
        ):
            yield f"{lag} is more than what is kept locally, {local}"


def _effective_retention_ms(settings: _ProposedBrokerSettings) -> str:
    return settings.configs.effective_topic_value({}, "retention.ms") or "-1"


def _assignment_interval_errors(settings: _ProposedBrokerSettings) -> Iterator[str]:
    for name, value in settings.new.items():
        if match := _ASSIGNMENT_INTERVAL.fullmatch(name):
            bounds = [f"group.{match[1]}.{side}.assignment.interval.ms" for side in ("min", "max")]
            least, most = (settings.current_value(bound) for bound in bounds)
            if least is not None and most is not None and not int(least) <= int(value) <= int(most):
                yield f"{name} of {value}: expected {least} to {most}"


_CHECKS_ACROSS_SETTINGS: Final = (
    _dedupe_buffer_size_errors,
    _local_retention_errors,
    _assignment_interval_errors,
)
