"""The values of options, from any place, as fields of Config and as settings of the shim."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_shim.shim.config import parse_listener
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.kafka_properties import parse_racks
from kafka_shim.shim.settings.options import OPTIONS, BrokerOption, Kind


def is_option_set(value: object) -> bool:
    """Return whether an option has this value, which is not that of an option left out."""
    return value is not None and value is not False and value not in ([], {}, ())


def option_values_by_key(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the command line that are given, by key, with pairs as a mapping.

    Raise ConfigError for a value that is no such pair.
    """
    return {
        option.key: _option_value(option, options[option.name])
        for option in OPTIONS
        if is_option_set(options.get(option.name))
    }


def _option_value(option: BrokerOption, value: Any) -> Any:
    if option.kind is Kind.PAIRS:
        return dict(split_pair(text, option) for text in value)
    return value


def split_pair(text: str, option: BrokerOption) -> tuple[str, str]:
    """Split `LEFT<separator>RIGHT`. Raise ConfigError, which says what was expected, otherwise."""
    left, separator, right = text.partition(option.separator)
    if not separator or not left:
        value = "" if option.is_secret else f" `{text}`"
        raise ConfigError(f"{option.option}{value}: expected {option.expected}")
    return left, right


def config_fields(
    values: Mapping[str, Any],
    options: Iterable[BrokerOption],
    protocols: Mapping[str, str],
    racks_option: str = "--rack",
) -> dict[str, Any]:
    """Return the fields of Config that these options set. Raise ConfigError for an invalid value.

    `protocols` are security protocols by the names of listeners in capitals.
    """
    fields: dict[str, Any] = {}
    for option in options:
        value: Any = values.get(option.key)
        if not option.field or not is_option_set(value):
            continue
        if option.field == "listeners":
            value = tuple(parse_listener(text, protocols) for text in value)
        elif option.field == "racks":
            value = parse_racks(",".join(value), racks_option)
        fields[option.field] = tuple(value) if option.kind is Kind.TEXTS else value
    return fields


def option_settings(values: Mapping[str, Any], options: Iterable[BrokerOption]) -> dict[str, str]:
    """Return the settings that options without a field of Config set.

    Several values are joined by commas.
    """
    return {
        option.setting: _setting_text(option, values[option.key])
        for option in options
        if option.setting and not option.field and is_option_set(values.get(option.key))
    }


def _setting_text(option: BrokerOption, value: Any) -> str:
    if value is True:
        return "true"
    if isinstance(value, Mapping):
        value = [f"{name}{option.separator}{text}" for name, text in value.items()]
    return ",".join(value) if isinstance(value, list) else str(value)
