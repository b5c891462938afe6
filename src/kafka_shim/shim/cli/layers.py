"""Merge the configuration: the command line takes precedence over KAFKA_* variables, and these over
the --config file.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.shim.cli.error_output import print_note
from kafka_shim.shim.config import PORT_MAX, ListenerConfig, parse_listener, with_principals
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import default_listeners
from kafka_shim.shim.settings.kafka_properties import (
    LISTENERS,
    advertised,
    as_confluent_derives,
    describes_broker,
    nearest_setting,
    not_listened_on,
    parse_racks,
    protocols_by_listener,
    translate,
    unknown_settings,
)

if TYPE_CHECKING:  # modules that read files are imported only if a file is given
    from kafka_shim.shim.cli.config_file import FileContent

_LAYERED = (
    *("listener", "authorizer", "super_user", "allow_everyone_if_no_acl_found", "user"),
    *("first_broker_id", "rack", "broker_config"),
)
"""Options with an equivalent Kafka setting, which the environment may contain."""


class Merged(msgspec.Struct, frozen=True):
    """The merged options, as `fields` of Config and `properties` by Kafka's names.

    `everything`: the settings of all layers. `is_described`: file or environment describe a whole
    broker.
    """

    fields: dict[str, Any]
    properties: dict[str, str]
    everything: Mapping[str, str]
    is_described: bool


def fill_in(args: argparse.Namespace, from_file: argparse.Namespace) -> None:
    """Take options without a Kafka setting from the file unless the command line has them."""
    for name, value in vars(from_file).items():
        if name not in _LAYERED and getattr(args, name, None) is None:
            setattr(args, name, value)


def merge(
    args: argparse.Namespace, content: "FileContent", environment: Mapping[str, str]
) -> Merged:
    """Merge the layers; ConfigError names the invalid setting and its layer."""
    options_of_file, properties_of_file = content
    in_file = dict(properties_of_file)
    if options_of_file is not None:
        in_file |= _settings(options_of_file.broker_config)
    typed = _settings(args.broker_config)
    layers = (
        (f"--config {args.config}", in_file, options_of_file),
        ("environment", environment, None),
        ("--broker-config", typed, args),
    )
    everything = {**in_file, **environment, **typed}
    fields: dict[str, Any] = {}
    properties: dict[str, str] = {}
    for where, settings, options in layers:
        translation = translate(settings, everything, where)
        fields |= translation.fields
        properties |= translation.properties
        if options is not None:
            try:
                fields |= _option_fields(options, protocols_by_listener(everything))
            except ConfigError as error:
                if options is args:
                    raise
                raise ConfigError(f"{where}: {error}") from error
    _check_unknown_settings({f"--config {args.config}": in_file, "--broker-config": typed})
    is_described = describes_broker({**properties_of_file, **environment})
    if is_described and "authorizer" not in fields:
        fields["authorizer"] = "none"
        print_note(
            "the configuration has no authorizer.class.name, so nothing is denied; to check ACLs,"
            " set it or add --authorizer standard"
        )
    if LISTENERS not in everything and not args.listener:
        derived = as_confluent_derives(fields.get("listeners"), environment)
        fields |= {} if derived is None else {"listeners": derived}
    return Merged(fields, properties, everything, is_described)


def listeners_of(args: argparse.Namespace, merged: Merged) -> tuple[ListenerConfig, ...]:
    """Return the listeners with their principals and advertised addresses, or the default ones.

    If file or environment describe a broker without listeners, it gets Kafka's default one.
    """
    if args.port is not None and merged.fields.get("listeners"):
        raise ConfigError("--port requires the default listeners; put the port into --listener")
    first_port = args.first_port if args.port is None else args.port
    if not 0 <= first_port <= PORT_MAX:
        raise ConfigError(f"--port `{first_port}`: expected 0 to {PORT_MAX}")
    default = default_listeners(first_port, args.brokers or 1)
    listeners = merged.fields.get("listeners") or default[: 1 if merged.is_described else None]
    lost = not_listened_on(listeners, merged.everything)
    if lost:
        print_note(f"advertised.listeners names {', '.join(lost)}, but no such listener exists")
    return _with_principals(args, advertised(listeners, merged.everything))


def pair(text: str, separator: str, option: str, expected: str) -> tuple[str, str]:
    """Split `LEFT<separator>RIGHT`; ConfigError says what was expected of the option."""
    left, found, right = text.partition(separator)
    if not found or not left:
        raise ConfigError(f"{option} `{text}`: expected {expected}")
    return left, right


def parse_user(text: str) -> tuple[str, str]:
    """Return name and password of `NAME:PASSWORD`; ConfigError, without the text, otherwise."""
    name, colon, password = text.partition(":")
    if not colon or not name:
        raise ConfigError("--user: expected NAME:PASSWORD, as in alice:secret")
    return name, password


def _check_unknown_settings(settings_by_source: Mapping[str, Mapping[str, str]]) -> None:
    """Print one note about the unknown settings of all sources, which plugins may have.

    Raise ConfigError for a setting that looks like a misspelt setting of Kafka.
    """
    names: dict[str, None] = {}
    for source, settings in settings_by_source.items():
        for name in unknown_settings(settings):
            if (nearest := nearest_setting(name)) is not None:
                raise ConfigError(f"{source}: unknown setting `{name}`; did you mean `{nearest}`?")
            names[name] = None
    if names:
        print_note(f"settings unknown to every Kafka release: {', '.join(names)}")


def _option_fields(options: argparse.Namespace, protocols: Mapping[str, str]) -> dict[str, Any]:
    """Return the given options that have a Kafka setting, as fields of Config."""
    fields: dict[str, Any] = {}
    if options.listener:
        fields["listeners"] = tuple(parse_listener(text, protocols) for text in options.listener)
    if options.authorizer is not None:
        fields["authorizer"] = options.authorizer
    if options.super_user:
        fields["super_users"] = tuple(options.super_user)
    if options.allow_everyone_if_no_acl_found:
        fields["allow_everyone_if_no_acl_found"] = True
    if options.user:
        fields["users"] = dict(parse_user(text) for text in options.user)
    if options.first_broker_id is not None:
        fields["first_broker_id"] = options.first_broker_id
    if options.rack:
        fields["racks"] = parse_racks(",".join(options.rack), "--rack")
    return fields


_EXPECTED_PRINCIPAL = "NAME=Type:name, as in PLAINTEXT=User:alice"
_EXPECTED_SETTING = "KEY=VALUE, as in num.partitions=3"


def _settings(texts: Sequence[str] | None) -> dict[str, str]:
    return dict(pair(text, "=", "--broker-config", _EXPECTED_SETTING) for text in texts or ())


def _with_principals(
    args: argparse.Namespace, listeners: tuple[ListenerConfig, ...]
) -> tuple[ListenerConfig, ...]:
    option, texts = "--listener-principal", args.listener_principal or []
    principals = dict(pair(text, "=", option, _EXPECTED_PRINCIPAL) for text in texts)
    return with_principals(listeners, principals, option)
