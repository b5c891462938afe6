"""The options of every command that starts a broker, and the Config they make."""

import argparse

from shim.config import Config, ListenerConfig, TopicSeed, parse_listener
from shim.errors import ConfigError


def add_broker_arguments(
    parser: argparse.ArgumentParser, listener: str = "PLAINTEXT://127.0.0.1:9092"
) -> None:
    """`listener` is what is opened when none is asked for."""
    parser.set_defaults(default_listener=listener)
    add = parser.add_argument
    add(
        "--listener",
        action="append",
        metavar="NAME://HOST:PORT",
        help="PLAINTEXT, SASL_PLAINTEXT; port 0 is any free one (repeatable)",
    )
    add(
        "--listener-principal",
        action="append",
        default=[],
        metavar="NAME=User:x",
        help="who an unauthenticated client of that listener is (default User:ANONYMOUS)",
    )
    add(
        "--kafka-version",
        default="",
        metavar="RELEASE",
        help="the release to behave as, 0.11 to the newest (default)",
    )
    add(
        "--authorizer",
        default="standard",
        metavar="standard|none|MODULE:CLASS",
        help="who decides (default: standard)",
    )
    add(
        "--super-user",
        action="append",
        default=[],
        metavar="User:x",
        help="may do everything (repeatable)",
    )
    add(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        help="a resource without any ACL is open to everybody",
    )
    add(
        "--user",
        action="append",
        default=[],
        metavar="NAME:PASSWORD",
        help="may log in, by every enabled mechanism (repeatable)",
    )
    add(
        "--topic",
        action="append",
        default=[],
        metavar="NAME[:PARTITIONS]",
        help="exists from the start (repeatable)",
    )
    add(
        "--acls",
        metavar="FILE",
        help="ACLs to start with: YAML, JSON or the output of kafka-acls --list",
    )
    add("--brokers", type=int, default=1, metavar="N", help="how many brokers the cluster has")
    add("--seed", type=int, help="makes ids repeatable")
    add(
        "--tls-dir",
        metavar="DIR",
        help="make certificates for TLS listeners; leaves ca.pem and client.pem (CN=client) there",
    )
    add(
        "-c",
        "--broker-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a broker setting by Kafka's name (repeatable)",
    )
    add("--log-format", choices=("console", "json"), default="console")
    add("-l", "--log-level", choices=("none", "error", "warn", "info", "debug"), default="info")


def config_from(args: argparse.Namespace) -> Config:
    """What the options ask for; ConfigError says which option is wrong and why."""
    properties = dict(_pair(text, "=", "--broker-config") for text in args.broker_config)
    if args.tls_dir is not None:
        properties["shim.tls.directory"] = args.tls_dir
    return Config(
        listeners=_listeners(args),
        release=args.kafka_version,
        brokers=args.brokers,
        authorizer=args.authorizer,
        super_users=tuple(args.super_user),
        allow_everyone_if_no_acl_found=args.allow_everyone_if_no_acl_found,
        users=dict(_pair(text, ":", "--user") for text in args.user),
        topics=tuple(_topic(text) for text in args.topic),
        acls_file=args.acls,
        seed=args.seed,
        properties=properties,
        log_format=args.log_format,
        log_level=args.log_level,
    )


def _listeners(args: argparse.Namespace) -> tuple[ListenerConfig, ...]:
    texts = args.listener or [args.default_listener]
    principals = dict(_pair(text, "=", "--listener-principal") for text in args.listener_principal)
    found = []
    for text in texts:
        listener = parse_listener(text)
        principal = principals.pop(listener.name, listener.principal)
        found.append(
            ListenerConfig(
                listener.name, listener.protocol, listener.host, listener.port, principal
            )
        )
    if principals:
        raise ConfigError(f"--listener-principal: no listener is named {', '.join(principals)}")
    return tuple(found)


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
