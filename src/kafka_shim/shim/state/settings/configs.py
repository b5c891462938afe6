"""Config values and their sources: topics, brokers, groups, client metrics subscriptions.

A value set on the resource itself wins; then one set dynamically on the broker, one set dynamically
on all brokers, the broker's static configuration, and last the default (KIP-226).
"""

import re
from collections.abc import Callable, Iterator, Mapping

from kafka_shim.protocol.enums import ConfigResourceType
from kafka_shim.shim.state.settings.broker_loggers import default_logger_levels
from kafka_shim.shim.state.settings.config_definitions import (
    ConfigDefinition,
    definitions_of_release,
)
from kafka_shim.shim.state.settings.config_entries import (
    ConfigEntry,
    ConfigSource,
    ConfigSynonym,
    config_entry,
    unknown_config_entry,
    value_as_brokers_print,
)
from kafka_shim.shim.state.settings.config_values import (
    ConfigValueError,
    list_elements,
    validated_canonical_value,
)

MINUTE_MS = 60_000
HOUR_MS = 3_600_000

SYNONYMS: dict[str, tuple[tuple[str, int], ...]] = {
    "log.roll.ms": (("log.roll.ms", 1), ("log.roll.hours", HOUR_MS)),
    "log.roll.jitter.ms": (("log.roll.jitter.ms", 1), ("log.roll.jitter.hours", HOUR_MS)),
    "log.flush.interval.ms": (
        ("log.flush.interval.ms", 1),
        ("log.flush.scheduler.interval.ms", 1),
    ),
    "log.retention.ms": (
        ("log.retention.ms", 1),
        ("log.retention.minutes", MINUTE_MS),
        ("log.retention.hours", HOUR_MS),
    ),
}
"""Broker settings that are synonyms, in order of precedence, with their unit in milliseconds."""


FETCH_BYTES_MAX = "fetch.max.bytes"
_NOTHING: Mapping[str, str] = {}
_FetchBytesMax = tuple[Mapping[str, str], Mapping[str, str], int | None]
"""The limit for the response to a Fetch, after the settings of all brokers and of one when it was
read.
"""


_LISTENER_SETTING = re.compile(r"listener\.name\.[^.]*\.(.*)")


def listener_setting(name: str) -> str | None:
    """Return the setting behind `listener.name.<listener>.`; None without this prefix."""
    match = _LISTENER_SETTING.fullmatch(name)
    return None if match is None else match[1]


def _store_settings(
    settings_by_name: dict[str, dict[str, str]], name: str, new: Mapping[str, str]
) -> None:
    """Store settings; a resource without settings is removed."""
    if new:
        settings_by_name[name] = dict(new)
    else:
        settings_by_name.pop(name, None)


class Configs:
    """All config values except those of topics, which are kept in the topics.

    `static_of` returns a node's static configuration; `first_id` is the first node's id. `brokers`,
    `groups`, `client_metrics` and `loggers` hold values set on one resource, `all_brokers` those
    set on all brokers.
    """

    def __init__(
        self,
        release: str,
        static_of: Callable[[int], Mapping[str, str]],
        all_brokers: Mapping[str, str],
        first_id: int,
    ) -> None:
        self._release = release
        self._static_of = static_of
        self._first_id = first_id
        self.all_brokers = dict(all_brokers)
        self.brokers: dict[int, dict[str, str]] = {}
        """This and `all_brokers`: the values are replaced, never changed. A broker of which nothing
        is set any more keeps an empty entry.
        """
        self.all_brokers_were_altered = False
        self.groups: dict[str, dict[str, str]] = {}
        self.client_metrics: dict[str, dict[str, str]] = {}
        self.loggers: dict[int, dict[str, str]] = {}
        self._fetch_bytes_max: dict[int, _FetchBytesMax] = {}
        self.when_named_changed: Callable[[tuple[str, str]], None] = lambda _: None
        """Called with the field, `groups` or `client_metrics`, and the name of what changed."""

    def store_group_settings(self, name: str, new: Mapping[str, str]) -> None:
        """Replace the settings of a group; without settings it is removed."""
        _store_settings(self.groups, name, new)
        self.when_named_changed(("groups", name))

    def store_client_metrics_settings(self, name: str, new: Mapping[str, str]) -> None:
        """Replace the settings of a subscription; without settings it is removed."""
        _store_settings(self.client_metrics, name, new)
        self.when_named_changed(("client_metrics", name))

    @property
    def topic_definitions(self) -> Mapping[str, ConfigDefinition]:
        return definitions_of_release(self._release).topic_configs

    @property
    def broker_definitions(self) -> Mapping[str, ConfigDefinition]:
        return definitions_of_release(self._release).broker

    @property
    def group_definitions(self) -> Mapping[str, ConfigDefinition]:
        return definitions_of_release(self._release).group

    @property
    def client_metrics_definitions(self) -> Mapping[str, ConfigDefinition]:
        return definitions_of_release(self._release).client_metrics

    @property
    def default_logger_levels(self) -> dict[str, str]:
        """The loggers of every broker with their default levels."""
        return dict(default_logger_levels(self._release))

    def definitions_of_resource_type(self, resource_type: int) -> Mapping[str, ConfigDefinition]:
        """Return the settings of a resource type; empty if it has no fixed ones."""
        known = definitions_of_release(self._release)
        return {
            ConfigResourceType.TOPIC: known.topic_configs,
            ConfigResourceType.BROKER: known.broker,
            ConfigResourceType.GROUP: known.group,
            ConfigResourceType.CLIENT_METRICS: known.client_metrics,
        }.get(ConfigResourceType(resource_type), {})

    def effective_broker_value(self, name: str, node_id: int | None = None) -> str | None:
        """Return the effective value on a broker (default: the first); None if the setting has no
        value or is unknown.
        """
        definition = definitions_of_release(self._release).broker.get(name)
        node_id = self._first_id if node_id is None else node_id
        own = self.brokers.get(node_id, _NOTHING)
        for values in (own, self.all_brokers, self._static_of(node_id)):
            if name in values:
                value = values[name]
                return (
                    value if definition is None else value_as_brokers_print(name, definition, value)
                )
        return None if definition is None else definition.default

    def fetch_bytes_max(self, node_id: int) -> int | None:
        """Return a broker's limit for the response to a Fetch (KIP-541); None if the release has
        none. It is asked of every Fetch, and is only read again if settings of brokers changed.
        """
        of_all, own = self.all_brokers, self.brokers.get(node_id, _NOTHING)
        known = self._fetch_bytes_max.get(node_id)
        if known is None or known[0] is not of_all or known[1] is not own:
            value = None
            if FETCH_BYTES_MAX in self.broker_definitions:
                value = self.effective_broker_value(FETCH_BYTES_MAX, node_id)
            known = self._fetch_bytes_max[node_id] = (of_all, own, int(value) if value else None)
        return known[2]

    def overridden_broker_value(self, name: str) -> str | None:
        """Return the value set on the first broker; None if only the default applies."""
        return next((held[name] for _, held in self._values_by_precedence() if name in held), None)

    def effective_broker_int(self, name: str) -> int:
        value = self.effective_broker_value(name)
        assert value is not None, name
        return int(value)

    def effective_broker_bool(self, name: str, node_id: int | None = None) -> bool:
        return self.effective_broker_value(name, node_id) == "true"

    def log_directories(self, node_id: int) -> list[str]:
        """Return the broker's log directories."""
        dirs = self.effective_broker_value("log.dirs", node_id) or self.effective_broker_value(
            "log.dir", node_id
        )
        return list_elements(dirs or "")

    def accepts_topic_value(self, name: str, value: str) -> bool:
        """Return whether a value is valid for a topic setting; True for unknown settings."""
        definition = self.topic_definitions.get(name)
        try:
            return (
                definition is None or validated_canonical_value(name, definition, value) is not None
            )
        except ConfigValueError:
            return False

    def effective_topic_value(self, topic: Mapping[str, str], name: str) -> str | None:
        """Return the effective value for a topic with these overrides."""
        definition = self.topic_definitions[name]
        if name in topic:
            return value_as_brokers_print(name, definition, topic[name])
        if definition.default_from_broker_config is None:
            return definition.default
        for synonym, unit in SYNONYMS.get(
            definition.default_from_broker_config, ((definition.default_from_broker_config, 1),)
        ):
            value = self.effective_broker_value(synonym)
            if value is not None:
                return str(int(value) * unit) if unit > 1 and int(value) >= 0 else value
        return definition.default

    def topic_entries(
        self, topic: Mapping[str, str], *, keeps_spelling_and_internal_configs: bool = False
    ) -> Iterator[ConfigEntry]:
        """Yield every setting of a topic with these overrides.

        `keeps_spelling_and_internal_configs`: overrides keep their original spelling instead of the
        form that brokers print, and internal settings with a value are included.
        """
        for name, definition in self.topic_definitions.items():
            value = self.effective_topic_value(topic, name)
            if keeps_spelling_and_internal_configs:
                value = topic.get(name, value)
            if definition.internal and (value is None or not keeps_spelling_and_internal_configs):
                continue
            synonyms: list[ConfigSynonym] = []
            if name in topic:
                synonyms.append(ConfigSynonym(name, value, ConfigSource.TOPIC))
            if definition.default_from_broker_config is not None:
                synonyms.extend(
                    self._broker_synonyms(definition.default_from_broker_config, self._first_id)
                )
            yield config_entry(name, value, synonyms, definition)
        for name in topic.keys() - self.topic_definitions.keys():
            yield unknown_config_entry(name, ConfigSource.TOPIC, read_only=False)

    def broker_entries(
        self,
        node_id: int,
        *,
        with_unknown: bool,
        altered_list_internal: bool = False,
        configs_wrongly_shown_as_alterable: tuple[str, ...] = (),
        configs_wrongly_shown_as_read_only: tuple[str, ...] = (),
    ) -> Iterator[ConfigEntry]:
        """Yield every setting of a broker; internal ones only if they are set.

        `with_unknown` adds unknown settings of its static configuration, whose values are
        sensitive. `altered_list_internal`: a broker that was altered yields all internal settings
        that Kafka's classes define, set or not. `configs_wrongly_shown_as_alterable` are reported
        as not read-only, and `configs_wrongly_shown_as_read_only` as read-only, whether or not
        they can be altered.
        """
        lists_internal = altered_list_internal and self._was_altered(node_id)
        for name, definition in self.broker_definitions.items():
            synonyms = self._broker_synonyms(name, node_id)
            is_hidden = definition.internal and not (lists_internal and definition.is_documented)
            if is_hidden and (not synonyms or synonyms[0].source is ConfigSource.DEFAULT):
                continue
            value = self.effective_broker_value(name, node_id)
            is_dynamic = definition.dynamic and name not in configs_wrongly_shown_as_read_only
            read_only = not is_dynamic and name not in configs_wrongly_shown_as_alterable
            yield config_entry(name, value, synonyms, definition, read_only=read_only)
        if with_unknown:
            yield from self._unknown_broker_entries(node_id)

    def _unknown_broker_entries(self, node_id: int) -> Iterator[ConfigEntry]:
        """Yield settings that are not defined, or only without the prefix of a listener."""
        static, own = self._static_of(node_id), self.brokers.get(node_id, _NOTHING)
        of_listeners = {name for name in own if listener_setting(name) is not None}
        for name in sorted((static.keys() | of_listeners) - self.broker_definitions.keys()):
            if (base := listener_setting(name)) is not None:
                yield self._listener_entry(name, base, node_id)
            else:
                yield unknown_config_entry(name, ConfigSource.STATIC_BROKER)

    def _listener_entry(self, name: str, base: str, node_id: int) -> ConfigEntry:
        """Return the entry of a listener's setting, which takes precedence over the `base` one."""
        definition = self.broker_definitions.get(base)
        synonyms = [
            ConfigSynonym(synonym, values[synonym], source)
            for source, values in self._values_by_precedence(node_id)
            for synonym in (name, base)
            if synonym in values
        ]
        if definition is not None and definition.default is not None:
            synonyms.append(ConfigSynonym(base, definition.default, ConfigSource.DEFAULT))
        while synonyms[0].name != name:
            del synonyms[0]
        if definition is None:
            return unknown_config_entry(name, synonyms[0].source, base_synonyms=synonyms[1:])
        return config_entry(name, synonyms[0].value, synonyms, definition, read_only=True)

    def _was_altered(self, node_id: int) -> bool:
        return bool(node_id in self.brokers or self.all_brokers or self.all_brokers_were_altered)

    def all_brokers_entries(
        self, configs_wrongly_shown_as_read_only: tuple[str, ...] = ()
    ) -> Iterator[ConfigEntry]:
        """Yield the values set on all brokers.

        `configs_wrongly_shown_as_read_only` are reported as read-only.
        """
        for name, value in self.all_brokers.items():
            definition = self.broker_definitions.get(name)
            if definition is None:
                yield unknown_config_entry(name, ConfigSource.DEFAULT_BROKER)
                continue
            shown = value_as_brokers_print(name, definition, value)
            synonym = ConfigSynonym(name, shown, ConfigSource.DEFAULT_BROKER)
            read_only = not definition.dynamic or name in configs_wrongly_shown_as_read_only
            yield config_entry(name, shown, [synonym], definition, read_only=read_only)

    def group_entries(self, group_id: str) -> Iterator[ConfigEntry]:
        """Yield every setting of a group, whether or not the group exists (KIP-848)."""
        own = self.groups.get(group_id, {})
        # since settings can inherit from the broker, all have their default as a synonym
        inherits = any(
            group_definition.default_from_broker_config is not None
            for group_definition in self.group_definitions.values()
        )
        for name, definition in self.group_definitions.items():
            synonyms: list[ConfigSynonym] = []
            if name in own:
                synonyms.append(
                    ConfigSynonym(
                        name,
                        value_as_brokers_print(name, definition, own[name]),
                        ConfigSource.GROUP,
                    )
                )
            if definition.default_from_broker_config is not None:
                synonyms.extend(
                    self._broker_synonyms(definition.default_from_broker_config, self._first_id)
                )
            elif inherits or not synonyms:
                synonyms.append(ConfigSynonym(name, definition.default, ConfigSource.DEFAULT))
            if definition.internal and synonyms[0].source is ConfigSource.DEFAULT:
                continue
            yield config_entry(name, synonyms[0].value, synonyms, definition)

    def client_metrics_entries(
        self, subscription: str, *, with_defaults: bool
    ) -> Iterator[ConfigEntry]:
        """Yield every setting of a metrics subscription, or only those set on it (KIP-714)."""
        own = self.client_metrics.get(subscription, {})
        if not with_defaults:
            for name, given in own.items():
                yield ConfigEntry(name, given, ConfigSource.CLIENT_METRICS, (), 0)
            return
        for name, definition in self.client_metrics_definitions.items():
            synonyms: list[ConfigSynonym] = []
            if name in own:
                shown = value_as_brokers_print(name, definition, own[name])
                synonyms.append(ConfigSynonym(name, shown, ConfigSource.CLIENT_METRICS))
            value = synonyms[0].value if synonyms else definition.default
            yield config_entry(name, value, synonyms, definition)

    def logger_entries(self, node_id: int) -> Iterator[ConfigEntry]:
        """Yield the levels of a broker's loggers (KIP-412)."""
        for name, level in (self.default_logger_levels | self.loggers.get(node_id, {})).items():
            yield ConfigEntry(name, level, ConfigSource.BROKER_LOGGER, (), 0)

    def _values_by_precedence(
        self, node_id: int | None = None
    ) -> Iterator[tuple[ConfigSource, Mapping[str, str]]]:
        """Yield the values of each source, the one with the highest precedence first."""
        node_id = self._first_id if node_id is None else node_id
        yield ConfigSource.BROKER, self.brokers.get(node_id, {})
        yield ConfigSource.DEFAULT_BROKER, self.all_brokers
        yield ConfigSource.STATIC_BROKER, self._static_of(node_id)

    def _broker_synonyms(self, name: str, node_id: int) -> list[ConfigSynonym]:
        """Return all synonyms of a broker setting, in order of precedence.

        As in Kafka, synonyms before the setting's own name are left out, even if one of them
        applies.
        """
        found: list[ConfigSynonym] = []
        names = [synonym for synonym, _ in SYNONYMS.get(name, ((name, 1),))]
        known = self.broker_definitions
        for source, values in self._values_by_precedence(node_id):
            found.extend(
                ConfigSynonym(
                    synonym,
                    value_as_brokers_print(synonym, known[synonym], values[synonym]),
                    source,
                )
                for synonym in names
                if synonym in values and synonym in known
            )
        found.extend(
            ConfigSynonym(synonym, known[synonym].default, ConfigSource.DEFAULT)
            for synonym in names
            if synonym in known and known[synonym].default is not None
        )
        while found and found[0].name != name:
            del found[0]
        return found
