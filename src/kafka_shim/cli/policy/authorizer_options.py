"""Options of the verbs: the cluster to read ACLs from, and what decides besides them."""

import argparse
import os

from kafka_shim.cli.authorizer_settings import add_rule_arguments
from kafka_shim.cli.connection_options import BOOTSTRAP_VARIABLE


def add_authorizer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add options for what decisions depend on besides ACLs."""
    add_rule_arguments(parser.add_argument_group("Rules"))


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("A running cluster")
    group.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        help=f"Brokers to connect to (default, if no file is given: ${BOOTSTRAP_VARIABLE})",
    )
    group.add_argument(
        "--command-config",
        metavar="FILE",
        help="Client properties, as for `kafka-shim acls --command-config`",
    )


def set_default_bootstrap_server(args: argparse.Namespace) -> str | None:
    bootstrap_server: str | None = args.bootstrap_server or os.environ.get(BOOTSTRAP_VARIABLE)
    args.bootstrap_server = bootstrap_server
    return bootstrap_server
