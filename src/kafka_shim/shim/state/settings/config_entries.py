"""A setting as a broker describes it: its value, and all that has a say in it (KIP-226)."""

from collections.abc import Iterable
from enum import IntEnum

import msgspec

from kafka_shim.shim.state.settings.config_definitions import ConfigDefinition
from kafka_shim.shim.state.settings.config_values import ConfigValueError, validated_canonical_value


class ConfigSource(IntEnum):
    """The source of a value, with the codes of the protocol (KIP-226)."""

    TOPIC = 1
    BROKER = 2
    DEFAULT_BROKER = 3  # set dynamically for all brokers
    STATIC_BROKER = 4
    DEFAULT = 5
    BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class ConfigSynonym(msgspec.Struct, frozen=True):
    """A setting that decides, or would decide, a value."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(msgspec.Struct, frozen=True):
    """One setting of one resource as a broker describes it; the value of a secret is None."""

    name: str
    value: str | None
    source: ConfigSource
    synonyms: tuple[ConfigSynonym, ...]
    type_code: int
    read_only: bool = False
    is_sensitive: bool = False


def config_entry(
    name: str,
    value: str | None,
    synonyms: list[ConfigSynonym],
    definition: ConfigDefinition,
    *,
    read_only: bool = False,
) -> ConfigEntry:
    """Return the entry of a known setting; `synonyms` begin with the one that applies."""
    if definition.is_sensitive:
        value = None
        synonyms = [ConfigSynonym(synonym.name, None, synonym.source) for synonym in synonyms]
    return ConfigEntry(
        name=name,
        value=value,
        source=synonyms[0].source if synonyms else ConfigSource.DEFAULT,
        synonyms=tuple(synonyms),
        type_code=definition.type_code,
        read_only=read_only,
        is_sensitive=definition.is_sensitive,
    )


def unknown_config_entry(
    name: str,
    source: ConfigSource,
    *,
    read_only: bool = True,
    base_synonyms: Iterable[ConfigSynonym] = (),
) -> ConfigEntry:
    """Return the entry of a setting unknown to Kafka, whose value is treated as sensitive."""
    others = (ConfigSynonym(synonym.name, None, synonym.source) for synonym in base_synonyms)
    return ConfigEntry(
        name=name,
        value=None,
        source=source,
        synonyms=(ConfigSynonym(name, None, source), *others),
        type_code=0,
        read_only=read_only,
        is_sensitive=True,
    )


def value_as_brokers_print(name: str, definition: ConfigDefinition, value: str) -> str:
    """Return the value as brokers print it; an invalid one is unchanged."""
    try:
        return validated_canonical_value(name, definition, value)
    except ConfigValueError:
        return value
