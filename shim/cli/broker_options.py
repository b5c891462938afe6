"""The options of every command that starts a broker, and the Config they make.

An option counts as it is given on the command line, else in the environment (KAFKA_*, as in the
container images), else in the --config file; what is nowhere has its default. What --state names is
there in any case.
"""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from authorizer.model import Acl
from shim.config import Config, ListenerConfig, TopicSeed, parse_listener
from shim.errors import ConfigError
from shim.settings.kafka_properties import (
    LISTENERS,
    advertised,
    as_confluent_derives,
    describes_broker,
    from_environment,
    not_listened_on,
    translate,
    unknown_settings,
)

if TYPE_CHECKING:  # what reads files is imported where there is one
    from shim.cli.config_file import FileContent
    from shim.settings.state_file import State

NO_FILE: "FileContent" = (None, {})
CLIENT_TELEMETRY = "shim.client.telemetry"
PROPAGATION_DELAY = "shim.acl.propagation.delay.ms"
TLS_DIRECTORY = "shim.tls.directory"


def add_broker_arguments(
    parser: argparse.ArgumentParser, listener: str = "PLAINTEXT://127.0.0.1:9092"
) -> None:
    """`listener` is what is opened when none is asked for. Defaults are those of Config."""
    parser.set_defaults(default_listener=listener, parser=parser)
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="options by their names (.yaml, .toml), or a server.properties; the command line"
        " and KAFKA_* variables, spelled as for container images, go before it",
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="YAML with topics, users, super_users, acls and groups to start with",
    )
    _add_network_arguments(parser)
    _add_permission_arguments(parser)
    _add_cluster_arguments(parser)


def _add_network_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listener",
        action="append",
        metavar="NAME://HOST:PORT",
        help="PLAINTEXT, SASL_PLAINTEXT, SSL, SASL_SSL; port 0 is any free one (repeatable)",
    )
    parser.add_argument(
        "--listener-principal",
        action="append",
        metavar="NAME=User:x",
        help="who an unauthenticated client of that listener is (default User:ANONYMOUS)",
    )
    parser.add_argument(
        "--tls-dir",
        metavar="DIR",
        help="make certificates for TLS listeners; leaves ca.pem and client.pem (CN=client) there",
    )


def _add_permission_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--authorizer",
        metavar="standard|none|MODULE:CLASS",
        help="who decides (default: standard)",
    )
    parser.add_argument(
        "--super-user",
        action="append",
        metavar="User:x",
        help="may do everything (repeatable)",
    )
    parser.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        default=None,
        help="a resource without any ACL is open to everybody",
    )
    parser.add_argument(
        "--user",
        action="append",
        metavar="NAME:PASSWORD",
        help="may log in, by every enabled mechanism (repeatable)",
    )
    parser.add_argument(
        "--acls",
        metavar="FILE",
        help="ACLs to start with, in any form that `acls --from` reads",
    )
    _add_propagation_argument(parser)


def _add_propagation_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--acl-propagation-delay",
        type=int,
        metavar="MS",
        help="let changes of ACLs reach each broker late and out of order, at most this late",
    )


def _add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="the release to behave as, 0.11 to the newest (default)",
    )
    parser.add_argument(
        "--topic",
        action="append",
        metavar="NAME[:PARTITIONS]",
        help="exists from the start (repeatable)",
    )
    parser.add_argument(
        "--brokers", type=int, metavar="N", help="how many brokers the cluster has (default: 1)"
    )
    parser.add_argument(
        "--client-telemetry",
        action="store_true",
        default=None,
        help="take the metrics that clients push (KIP-714), as where a metric reporter does",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="makes ids repeatable")
    parser.add_argument(
        "-c",
        "--broker-config",
        action="append",
        metavar="KEY=VALUE",
        help="a broker setting by Kafka's name (repeatable)",
    )
    parser.add_argument("--log-format", choices=("console", "json"), help="default: console")
    parser.add_argument(
        "-l",
        "--log-level",
        choices=("none", "error", "warn", "info", "debug"),
        help="default: info",
    )


def config_from(args: argparse.Namespace, environ: Mapping[str, str] = os.environ) -> Config:
    """What options, environment and files ask for; ConfigError says what is wrong, and where.

    Options of the command that only the file sets are put into `args`.
    """
    content = NO_FILE
    if args.config is not None:
        from shim.cli.config_file import read_config_file

        content = read_config_file(args.config, args.parser)
    if content[0] is not None:
        _fill_in(args, content[0])
    fields, properties = _merged(args, content, from_environment(environ))
    if args.tls_dir is not None:
        properties[TLS_DIRECTORY] = args.tls_dir
    if args.client_telemetry:
        properties[CLIENT_TELEMETRY] = "true"
    if args.acl_propagation_delay is not None:
        properties[PROPAGATION_DELAY] = str(args.acl_propagation_delay)
    fields["listeners"] = _with_principals(args, fields["listeners"])
    fields["topics"] = tuple(_topic(text) for text in args.topic or ())
    fields["acls"] = _acls(args.acls)
    if args.state is not None:
        from shim.settings.state_file import read_state

        _add_state(fields, read_state(args.state))
    plain = {
        "release": args.kafka_version,
        "brokers": args.brokers,
        "seed": args.seed,
        "log_format": args.log_format,
        "log_level": args.log_level,
    }
    given = {name: value for name, value in plain.items() if value is not None}
    return Config(**fields, **given, properties=properties)


_LAYERED = ("listener", "authorizer", "super_user", "allow_everyone_if_no_acl_found", "user")
"""Options with a setting of Kafka's that means the same, which the environment may have."""


def _fill_in(args: argparse.Namespace, from_file: argparse.Namespace) -> None:
    for name, value in vars(from_file).items():
        if name not in (*_LAYERED, "broker_config") and getattr(args, name, None) is None:
            setattr(args, name, value)


def _merged(
    args: argparse.Namespace, content: "FileContent", environment: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """Fields of Config and settings by Kafka's names, of file, environment and command line."""
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
            fields |= _option_fields(options)
    if "authorizer" not in fields and describes_broker({**properties_of_file, **environment}):
        fields["authorizer"] = "none"
        _note(
            "the broker configured has no authorizer.class.name, so no authorizer; to have one,"
            " set it, or --authorizer standard"
        )
    unknown = unknown_settings({**in_file, **typed})
    if unknown:
        _note(f"settings that no Kafka release knows: {', '.join(unknown)}")
    listeners = fields.get("listeners") or (parse_listener(args.default_listener),)
    if LISTENERS not in everything and not args.listener:
        listeners = as_confluent_derives(listeners, environment)
    lost = not_listened_on(listeners, everything)
    if lost:
        _note(f"advertised.listeners has {', '.join(lost)}, which no listener is named")
    fields["listeners"] = advertised(listeners, everything)
    return fields, properties


def _option_fields(options: argparse.Namespace) -> dict[str, Any]:
    """The options that Kafka has settings for, as fields of Config; only those that are given."""
    fields: dict[str, Any] = {}
    if options.listener:
        fields["listeners"] = tuple(parse_listener(text) for text in options.listener)
    if options.authorizer is not None:
        fields["authorizer"] = options.authorizer
    if options.super_user:
        fields["super_users"] = tuple(options.super_user)
    if options.allow_everyone_if_no_acl_found:
        fields["allow_everyone_if_no_acl_found"] = True
    if options.user:
        fields["users"] = dict(_pair(text, ":", "--user") for text in options.user)
    return fields


def _with_principals(
    args: argparse.Namespace, listeners: tuple[ListenerConfig, ...]
) -> tuple[ListenerConfig, ...]:
    texts = args.listener_principal or []
    principals = dict(_pair(text, "=", "--listener-principal") for text in texts)
    named = tuple(
        msgspec.structs.replace(one, principal=principals.pop(one.name, one.principal))
        for one in listeners
    )
    if principals:
        raise ConfigError(f"--listener-principal: no listener is named {', '.join(principals)}")
    return named


def _add_state(fields: dict[str, Any], state: "State") -> None:
    """What the state file names is there besides the rest; options win where both name one."""
    topics = {topic.name: topic for topic in (*state.topics, *fields["topics"])}
    fields["topics"] = tuple(topics.values())
    fields["users"] = {**state.users, **fields.get("users", {})}
    super_users = (*fields.get("super_users", ()), *state.super_users)
    fields["super_users"] = tuple(dict.fromkeys(super_users))
    fields["acls"] = tuple(dict.fromkeys((*fields["acls"], *state.acls)))
    fields["groups"] = state.groups
    fields["client_metrics"] = state.client_metrics
    fields["faults"] = state.faults


def _acls(path: str | None) -> tuple[Acl, ...]:
    if path is None:
        return ()
    from shim.acl_file import read_acls

    return tuple(read_acls(path))


def _settings(texts: Sequence[str] | None) -> dict[str, str]:
    return dict(_pair(text, "=", "--broker-config") for text in texts or ())


def _note(text: str) -> None:
    print(f"kafka-shim: note: {text}", file=sys.stderr)


def _pair(text: str, separator: str, option: str) -> tuple[str, str]:
    left, found, right = text.partition(separator)
    if not found or not left:
        raise ConfigError(f"{option} `{text}`: expected two parts with `{separator}` between")
    return left, right


def _topic(text: str) -> TopicSeed:
    name, colon, count = text.partition(":")
    if colon and not (count.isdigit() and int(count) > 0):
        raise ConfigError(f"--topic `{text}`: partitions are a number from 1")
    return TopicSeed(name, int(count) if colon else 1)
