"""The options of every command that starts a broker, and the Config they make.

The command line takes precedence over the environment (KAFKA_*, as in the container images), and
the environment over the --config file. The contents of --state are added to all of these.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli.config_sources import (
    configured_or_default_listeners,
    merge_config_sources_recording_locations,
    set_missing_non_kafka_options_from_file,
)
from kafka_shim.cli.error_output import print_note
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.shim.config import Config, parse_initial_topic
from kafka_shim.shim.settings.defaults import default_super_users_if_unrestricted
from kafka_shim.shim.settings.kafka_properties import (
    image_variables_without_effect,
    known_and_image_settings_in_environment,
    misspelt_variables_with_corrections,
)

if TYPE_CHECKING:  # modules that read files are imported only if a file is given
    from kafka_shim.shim.settings.state_file import StateFileContent

CLIENT_TELEMETRY = "shim.client.telemetry"
PROPAGATION_DELAY = "shim.acl.propagation.delay.ms"
TLS_DIRECTORY = "shim.tls.directory"


def add_broker_arguments(parser: argparse.ArgumentParser, first_default_port: int = 0) -> None:
    """Add the options; default listeners get ports from `first_port` on (0: free ports)."""
    parser.set_defaults(first_port=first_default_port, parser=parser)
    files = parser.add_argument_group("Files")
    files.add_argument(
        "--config",
        metavar="FILE",
        help="File with options by name (.yaml, .toml), or a server.properties file. Environment"
        " variables (KAFKA_*, as in the container images) and options take precedence",
    )
    files.add_argument(
        "--state",
        metavar="FILE",
        help="YAML file with the initial topics, users, super_users, acls, groups,"
        " client_metrics and faults",
    )
    files.add_argument(
        "--data-dir",
        metavar="DIR",
        help="Keep topics, records, groups, ACLs, users and settings in this folder across restarts"
        " (default: in memory)",
    )
    _add_network_arguments(parser.add_argument_group("Listeners"))
    _add_permission_arguments(parser.add_argument_group("Users and permissions"))
    _add_cluster_arguments(parser.add_argument_group("Cluster"))
    _add_log_arguments(parser.add_argument_group("Log"))


def _add_network_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--listener",
        action="append",
        metavar="NAME://HOST:PORT",
        help="Address to listen on; port 0 is any free port (repeatable). Further brokers have the"
        " next ports, or the ports of a list: HOST:19092,29092,39092. NAME is PLAINTEXT,"
        " SASL_PLAINTEXT, SSL, SASL_SSL, or another name with -c"
        " listener.security.protocol.map=NAME:PROTOCOL. Default: PLAINTEXT, without authentication"
        " and with everything allowed, and SASL_PLAINTEXT, where users authenticate and ACLs apply",
    )
    group.add_argument(
        "--port",
        type=int,
        metavar="N",
        help="Port of the first default listener; further listeners have the next ports",
    )
    group.add_argument(
        "--listener-principal",
        action="append",
        metavar="NAME=User:x",
        help="Principal of unauthenticated clients of the listener NAME (default: User:ANONYMOUS)",
    )
    group.add_argument(
        "--tls-dir",
        metavar="DIR",
        help="Generate certificates for TLS listeners in this folder, with ca.pem and client.pem"
        " (CN=client) for clients",
    )


def _add_permission_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--authorizer",
        metavar="standard|none|MODULE:CLASS",
        help="Authorizer. standard: ACLs decide, as in Kafka (default). none: everything is"
        " allowed. MODULE:CLASS: your own class decides",
    )
    group.add_argument(
        "--super-user",
        action="append",
        metavar="User:x",
        help="Principal that is allowed everything, regardless of ACLs (repeatable). Default:"
        " User:ANONYMOUS and User:admin. There is no default with --authorizer, with"
        " --allow-everyone-if-no-acl-found, with both --listener and ACLs, or without a PLAINTEXT"
        " listener",
    )
    group.add_argument(
        "--allow-everyone-if-no-acl-found",
        action="store_true",
        default=None,
        help="Allow everybody to use resources without any ACL",
    )
    group.add_argument(
        "--user",
        action="append",
        metavar="NAME:PASSWORD",
        help="Add a user who can authenticate with any enabled SASL mechanism (repeatable)",
    )
    group.add_argument(
        "--acls",
        metavar="FILE",
        help="File with the initial ACLs, in any format of `acls --format`",
    )
    _add_acl_propagation_delay_argument(group)


def _add_acl_propagation_delay_argument(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--acl-propagation-delay",
        type=int,
        metavar="MS",
        help="Apply ACL changes on each broker after a random delay of up to MS milliseconds",
    )


def _add_cluster_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release to emulate, from 0.11 to the newest (default)",
    )
    group.add_argument(
        "--topic",
        action="append",
        metavar="NAME[:PARTITIONS]",
        help="Create this topic at startup (repeatable)",
    )
    group.add_argument("--brokers", type=int, metavar="N", help="Number of brokers (default: 1)")
    group.add_argument(
        "--first-broker-id",
        type=int,
        metavar="N",
        help="Id of the first broker; further brokers have the next ids (default: node.id, else 1)",
    )
    group.add_argument(
        "--rack",
        action="append",
        metavar="RACK[,RACK]",
        help="One rack for each broker, or one rack for all brokers (repeatable)",
    )
    group.add_argument(
        "--client-telemetry",
        action="store_true",
        default=None,
        help="Accept client metrics (KIP-714)",
    )
    group.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="Seed of the random numbers: generated ids are the same in each run",
    )
    group.add_argument(
        "-c",
        "--broker-config",
        action="append",
        metavar="KEY=VALUE",
        help="Kafka broker setting, such as num.partitions=3 (repeatable)",
    )


def _add_log_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--log-format", choices=("console", "json"), help="Format of log lines (default: console)"
    )
    group.add_argument(
        "-l",
        "--log-level",
        choices=("none", "error", "warn", "info", "debug"),
        help="Least severe level to log (default: info)",
    )


def config_from_arguments(
    args: argparse.Namespace,
    environ: Mapping[str, str] = os.environ,
    state_of_environment: "StateFileContent | None" = None,
) -> Config:
    """Return the Config of options, environment and files. Raise ConfigError, which names what is
    invalid, if that fails.

    Add options that only the file sets to `args`. The options and --state take precedence over
    `state_of_environment`.
    """
    content = None
    if args.config is not None:
        from kafka_shim.cli.config_file import read_config_file

        content = read_config_file(args.config, args.parser)
        if content.options is not None:
            set_missing_non_kafka_options_from_file(args, content.options)
    for variable, right in misspelt_variables_with_corrections(environ):
        print_note(f"`{variable}` is not a setting of any Kafka release; did you mean `{right}`?")
    if ignored := image_variables_without_effect(environ):
        print_note(f"ignored: {', '.join(ignored)}")
    merged = merge_config_sources_recording_locations(
        args, content, known_and_image_settings_in_environment(environ)
    )
    fields, properties = merged.config_fields, merged.broker_settings
    if args.tls_dir is not None:
        properties[TLS_DIRECTORY] = args.tls_dir
    if args.client_telemetry:
        properties[CLIENT_TELEMETRY] = "true"
    if args.acl_propagation_delay is not None:
        properties[PROPAGATION_DELAY] = str(args.acl_propagation_delay)
    fields["topics"] = tuple(parse_initial_topic(text, "--topic") for text in args.topic or ())
    fields["acls"] = _read_acls_if_given(args)
    if args.state is not None:
        from kafka_shim.shim.settings.state_file import read_state_file

        state = read_state_file(args.state)
        _warn_about_ineffective_acls(state.acls_with_lines, args.state, args)
        _add_state(fields, state)
    if state_of_environment is not None:
        acls = state_of_environment.acls_with_lines
        _warn_about_ineffective_acls(acls, "KAFKA_SHIM_ACLS, KAFKA_SHIM_STATE", args)
        _add_state(fields, state_of_environment)
    fields.setdefault("super_users", default_super_users_if_unrestricted(fields))
    fields["listeners"] = configured_or_default_listeners(args, merged)
    plain = {
        "release": args.kafka_version,
        "brokers": args.brokers,
        "seed": args.seed,
        "data_dir": args.data_dir,
        "log_format": args.log_format,
        "log_level": args.log_level,
    }
    given = {name: value for name, value in plain.items() if value is not None}
    return Config(**fields, **given, properties=properties)


def _add_state(config_fields: dict[str, Any], state: "StateFileContent") -> None:
    """Add the content of a state file or of variables; what is there takes precedence."""
    topics = {topic.name: topic for topic in (*state.topics, *config_fields["topics"])}
    config_fields["topics"] = tuple(topics.values())
    config_fields["users"] = {**state.users, **config_fields.get("users", {})}
    if state.super_users is not None:
        super_users = (*config_fields.get("super_users", ()), *state.super_users)
        config_fields["super_users"] = tuple(dict.fromkeys(super_users))
    config_fields["acls"] = tuple(dict.fromkeys((*config_fields["acls"], *state.distinct_acls)))
    config_fields["groups"] = (*state.groups, *config_fields.get("groups", ()))
    config_fields["client_metrics"] = {
        **state.client_metrics,
        **config_fields.get("client_metrics", {}),
    }
    config_fields["faults"] = (*config_fields.get("faults", ()), *state.faults)


def _read_acls_if_given(args: argparse.Namespace) -> tuple[Acl, ...]:
    if args.acls is None:
        return ()
    from kafka_shim.shim.settings.input_files import read_acl_file_with_lines

    acls_with_lines = read_acl_file_with_lines(args.acls)
    _warn_about_ineffective_acls(acls_with_lines, args.acls, args)
    return tuple(dict.fromkeys(acl for acl, _ in acls_with_lines))


def _warn_about_ineffective_acls(
    acls_with_lines: Sequence[AclWithLine], file: str, args: argparse.Namespace
) -> None:
    if acls_with_lines:
        from kafka_shim.cli.acl_warnings import warn_about_ineffective_acls

        warn_about_ineffective_acls(acls_with_lines, file, args.kafka_version)
