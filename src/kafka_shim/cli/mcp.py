"""`kafka-shim mcp`: answer an assistant's questions about ACLs with the Model Context Protocol."""

import argparse
from pathlib import Path

from kafka_shim.cli.connection_options import add_connection_arguments
from kafka_shim.cli.policy_options import add_rule_arguments
from kafka_shim.cli.usage import (
    UsageError,
    check_principal_option,
    run_reporting_errors,
)
from kafka_shim.text import extras

DESCRIPTION = """\
Serve tools for assistants with the Model Context Protocol, on standard input and output: explain,
who_can, requirements, least_acls, policy_test, policy_diff and policy_plan. They show what a change
of ACLs would do before it is made. None of them changes a cluster; policy_plan can write the file
that `kafka-shim policy apply` takes.

  kafka-shim mcp --acls acls/
  kafka-shim mcp --bootstrap-server 127.0.0.1:9092 --command-config client.properties

Tools read files in --root only. No port is opened, and nothing is sent but to the assistant and the
cluster. The assistant cannot choose the cluster or its credentials. The command ends when the
assistant closes standard input. docs/guides/acls-as-code.md has the configuration of an assistant,
under "Assistants". The command requires the extra `mcp`.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "--root",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="Folder whose files the tools can read (default: the current one)",
    )
    parser.add_argument(
        "--acls",
        metavar="FILE",
        help="File or folder with the ACLs of questions that name none (default: the cluster's)",
    )
    add_connection_arguments(parser)
    add_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _serve)


def _serve(args: argparse.Namespace) -> int:
    if not extras.is_installed("mcp"):
        raise UsageError(extras.requires("`kafka-shim mcp`", "mcp"))
    from kafka_shim.cli.mcp_tools import McpTools, create_server

    for principal in args.super_user:
        check_principal_option("--super-user", principal)
    if not args.root.is_dir():
        raise UsageError(f"--root `{args.root}`: no such folder")
    create_server(McpTools(args)).run("stdio")
    return 0
