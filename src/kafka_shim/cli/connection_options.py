"""The options of every command that connects to a running broker."""

import argparse
import os

from kafka_shim.client.client import Client, connect
from kafka_shim.client.config import read_client_config
from kafka_shim.shim.config import parse_address

BOOTSTRAP_VARIABLE = "KAFKA_BOOTSTRAP_SERVERS"


def add_connection_arguments(parser: argparse._ActionsContainer) -> None:
    parser.add_argument(
        "--bootstrap-server",
        default=os.environ.get(BOOTSTRAP_VARIABLE),
        metavar="HOST:PORT,...",
        help=f"Brokers to try in turn, until one answers (default: ${BOOTSTRAP_VARIABLE})",
    )
    parser.add_argument(
        "--command-config",
        metavar="FILE",
        help="Client properties: security.protocol, sasl.mechanism (PLAIN, SCRAM-SHA-256, -512),"
        " sasl.jaas.config (or username and password), ssl.* in PEM, request.timeout.ms",
    )


def connect_with_options(
    args: argparse.Namespace, bootstrap_option: str = "--bootstrap-server"
) -> Client:
    """Connect as the options say; raise ClientError or ConfigError if that fails.

    `bootstrap_option` is the option that the user gave, for errors.
    """
    for address in filter(None, args.bootstrap_server.split(",")):
        parse_address(address.strip(), bootstrap_option)
    return connect(args.bootstrap_server, read_client_config(args.command_config))
