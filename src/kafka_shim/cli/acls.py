"""`kafka-shim acls`: kafka-acls without a JVM, with the same options and output, for any broker.

Also converts ACLs between formats, and copies them from or to a broker.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_tool_releases import AclToolOutput, acl_tool_output_of_release
from kafka_shim.authorizer.model import Acl, AclFilter, acls_to_objects
from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE
from kafka_shim.cli.connection_options import add_connection_arguments, connect_with_options
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.cli.usage import UsageError, release_argument
from kafka_shim.client.acls import create_acls, delete_acls, describe_acls
from kafka_shim.client.client import Client, ClientError
from kafka_shim.policy.formats import (
    FORMATS,
    detect_format,
    format_acls_losslessly,
)
from kafka_shim.policy.formats.command_options import (
    AclsByResourceFilter,
    acls_by_resource_filter,
    add_action_options,
    add_grant_options,
    add_resource_options,
    check_option_combination,
    listed_resource_filters,
    resource_filters_of_options,
)
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.kafka_commands import parse_known_commands
from kafka_shim.policy.formats.kafka_list import (
    format_entries,
    format_entry,
    format_listing,
    format_pattern,
)
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.acl_warnings import warn_about_ineffective_acls
from kafka_shim.shim.settings.input_files import read_acl_file_with_lines
from kafka_shim.text.data_text import json_text
from kafka_shim.text.input_files import read_text_file
from kafka_shim.text.message_text import escaped, sanitize_message

DESCRIPTION = """\
List, add and remove ACLs, with the options and the output of kafka-acls. The broker can be
kafka-shim or a real one; the protocol version is negotiated.

  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --list --topic orders
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:alice \\
      --operation Read --topic orders --resource-pattern-type prefixed
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:alice \\
      --consumer --topic orders --group billing

--acls reads ACLs from a file, --format prints them in another format:

  kafka-shim acls --acls kafka-users.yaml --format csv
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --list --format terraform
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --add --acls acls.csv

Exit codes: 0 done, 1 the broker refused or cannot be reached, 2 usage error (an invalid option or
file).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_connection_arguments(parser)
    parser.add_argument(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help="Controllers to connect to instead of brokers",
    )
    add_action_options(parser.add_argument_group("Action, exactly one"))
    add_resource_options(parser.add_argument_group("Resources"))
    add_grant_options(parser.add_argument_group("Permissions"))
    _add_file_arguments(parser.add_argument_group("Files and formats"))
    parser.add_argument(
        "--force", action="store_true", help="With --remove: do not ask for confirmation"
    )
    parser.add_argument(
        "--kafka-version",
        type=release_argument,
        metavar="RELEASE",
        help="Print in the format of this release's kafka-acls (default: the newest)",
    )


def run(args: argparse.Namespace) -> int:
    try:
        return (
            _print_converted_acl_file(args)
            if args.acls and not _has_action(args)
            else _run_on_broker(args)
        )
    except (UsageError, AclTextError) as error:
        args.exit_with_usage_error(str(error))
    except ConfigError as error:
        print_command_error(args, str(error))
        return EXIT_USAGE
    except ClientError as error:
        print(
            f"Error while executing ACL command: {sanitize_message(str(error))}",
            file=sys.stderr,
        )
    return EXIT_FAILURE


def _add_file_arguments(group: argparse._ArgumentGroup) -> None:
    forms = "".join(f"; {name}: {what}" for name, what in FORMATS.items())
    group.add_argument(
        "--acls",
        metavar="FILE",
        help="File with the ACLs to convert, add or remove; - is standard input",
    )
    group.add_argument(
        "--input-format",
        choices=FORMATS,
        metavar="FORMAT",
        help="Format of the file, as for --format (default: detected from its content)",
    )
    group.add_argument(
        "--skip-unread",
        action="store_true",
        help="Read the rest of a script if the effect of some kafka-acls commands is unknown, as in"
        " a loop; print and count those commands",
    )
    output = group.add_mutually_exclusive_group()
    output.add_argument(
        "--format", choices=FORMATS, metavar="FORMAT", help=f"Format to print the ACLs in{forms}"
    )
    output.add_argument(
        "--csv", action="store_const", const="csv", dest="format", help="Same as --format csv"
    )
    output.add_argument("--json", action="store_true", help="Print JSON instead of text")


def _has_action(args: argparse.Namespace) -> bool:
    return bool(args.list or args.add or args.remove)


def _print_converted_acl_file(args: argparse.Namespace) -> int:
    """Convert a file to standard output, without a broker."""
    form = "json" if args.json else args.format
    if form is None:
        raise UsageError(f"missing `--format`: expected one of {', '.join(FORMATS)}")
    try:
        print(format_acls_losslessly(_read_acls_with_warnings(args), form), end="")
    except AclTextError as error:
        raise ConfigError(f"--format {form}: {error}") from error
    return 0


def _read_acls_with_warnings(args: argparse.Namespace) -> list[Acl]:
    """Return the distinct ACLs of the file; warn about those that can have no effect."""
    acls_with_lines = (
        _read_command_script(args)
        if args.skip_unread
        else read_acl_file_with_lines(args.acls, "--acls", args.input_format)
    )
    if not args.remove:
        warn_about_ineffective_acls(acls_with_lines, args.acls, args.kafka_version)
    return list(dict.fromkeys(acl for acl, _ in acls_with_lines))


def _read_command_script(args: argparse.Namespace) -> list[AclWithLine]:
    """Return the ACLs of the commands whose effect is known; print and count the others."""
    text = read_text_file(args.acls, "--acls")
    if (args.input_format or detect_format(text, args.acls)) != "commands":
        raise UsageError("--skip-unread requires a script with kafka-acls commands")
    acls_with_lines, errors = parse_known_commands(text)
    for error in errors:
        print_command_error(args, f"{args.acls}: {error}")
    print(f"{args.acls}: {len(errors)} commands not read", file=sys.stderr)
    return acls_with_lines


def _run_on_broker(args: argparse.Namespace) -> int:
    args.style = acl_tool_output_of_release(args.kafka_version or RELEASES[-1])
    if args.acls:
        acls_by_resource = _group_file_acls(args)
    else:
        check_option_combination(args)
        acls_by_resource = {} if args.list else acls_by_resource_filter(args, args.style)
    if args.format and not args.list:
        raise UsageError("--format and --csv require --list, or --acls without an action")
    if args.bootstrap_controller:
        args.bootstrap_server = args.bootstrap_controller
    if not args.bootstrap_server:
        raise UsageError("One of --bootstrap-server or --bootstrap-controller must be given")
    with connect_with_options(args) as client:
        if args.list:
            _list_acls(client, args)
        elif args.add:
            _add_acls(client, acls_by_resource, args)
        else:
            _remove_acls(client, acls_by_resource, args)
    return 0


def _group_file_acls(args: argparse.Namespace) -> AclsByResourceFilter:
    """Return the file's ACLs by resource. Raise UsageError for options that also name ACLs."""
    if sum((args.add, args.remove, args.list)) != 1 or args.list:
        raise UsageError("--acls requires --add or --remove, or --format without an action")
    given_options = (
        args.operation,
        args.allow_principal,
        args.deny_principal,
        resource_filters_of_options(args),
    )
    if any(given_options) or args.producer or args.consumer:
        raise UsageError(
            "--acls cannot be combined with options that describe an ACL, such as --topic"
        )
    acls_by_resource: AclsByResourceFilter = {}
    for acl in _read_acls_with_warnings(args):
        resource = AclFilter(acl.resource_type, acl.resource_name, acl.pattern_type)
        acls_by_resource.setdefault(resource, []).append(acl)
    return acls_by_resource


def _list_acls(client: Client, args: argparse.Namespace) -> None:
    principals = [principal.strip() for principal in args.principal]
    acls = _matching_acls_of_broker(client, resource_filters_of_options(args))
    if args.json or args.format:
        selected = [acl for acl in acls if not principals or acl.principal in principals]
        print(format_acls_losslessly(_sorted_acls(selected), args.format or "json"), end="")
        return
    if not principals:
        print(
            format_listing(
                _with_escaped_control_characters(acls),
                args.style,
                resource_filters_of_options(args),
            ),
            end="",
        )
    for principal in principals:
        print(f"ACLs for principal `{principal}`")
        print(
            format_listing(
                _with_escaped_control_characters(acl for acl in acls if acl.principal == principal),
                args.style,
            ),
            end="",
        )


def _with_escaped_control_characters(acls: Iterable[Acl]) -> list[Acl]:
    """Return ACLs for a terminal: a broker's names could move the cursor, or begin a line."""
    return [
        msgspec.structs.replace(
            acl,
            principal=escaped(acl.principal),
            host=escaped(acl.host),
            resource_name=escaped(acl.resource_name),
        )
        for acl in acls
    ]


def _matching_acls_of_broker(client: Client, filters: Iterable[AclFilter]) -> list[Acl]:
    """Return the broker's ACLs that match a filter, without duplicates."""
    matches = (
        acl
        for acl_filter in list(filters) or [AclFilter()]
        for acl in describe_acls(client, acl_filter)
    )
    return list(dict.fromkeys(matches))


def _add_acls(
    client: Client, acls_by_resource: AclsByResourceFilter, args: argparse.Namespace
) -> None:
    """Add ACLs by resource, and print the existing and the new ones as Kafka's AclCommand does."""
    added: list[Acl] = []
    existing: list[Acl] = []
    for resource, acls in acls_by_resource.items():
        stored = set(describe_acls(client, resource))
        old = [acl for acl in acls if acl in stored]
        new = [acl for acl in acls if acl not in stored]
        existing += old
        added += new
        if not args.json:
            _print_added_acls(resource, old, new, args.style)
        if new:
            create_acls(client, new)
    if args.json:
        _print_json(
            {"added": _sorted_acl_objects(added), "existing": _sorted_acl_objects(existing)}
        )
    elif args.style.lists_acls_after_changes:
        _print_current_acls(client, acls_by_resource, args)


def _print_current_acls(
    client: Client, acls_by_resource: AclsByResourceFilter, args: argparse.Namespace
) -> None:
    filters = list(acls_by_resource) if args.acls else listed_resource_filters(args)
    print(
        format_listing(
            _with_escaped_control_characters(_matching_acls_of_broker(client, filters)),
            args.style,
            filters,
        ),
        end="",
    )


def _print_added_acls(
    resource: AclFilter, existing: Sequence[Acl], added: Sequence[Acl], style: AclToolOutput
) -> None:
    for acl in existing:
        print(f"Acl (pattern={format_pattern(acl)}, entry={format_entry(acl)}) already exists.")
    if added:
        print(f"Adding ACLs for resource `{format_pattern(resource, style)}`: ")
        entries = format_entries(added, as_objects=style.prints_added_entries_as_objects)
        print(f" {entries}{style.padding}\n")


def _remove_acls(
    client: Client, acls_by_resource: AclsByResourceFilter, args: argparse.Namespace
) -> None:
    removed: list[Acl] = []
    for resource, acls in acls_by_resource.items():
        if args.force or _confirm_removal(resource, acls, sys.stderr if args.json else sys.stdout):
            filters = [acl.to_exact_filter() for acl in acls] or [resource]
            removed += delete_acls(client, filters)
    if args.json:
        _print_json({"removed": _sorted_acl_objects(dict.fromkeys(removed))})
    elif args.style.lists_acls_after_changes:
        _print_current_acls(client, acls_by_resource, args)


def _confirm_removal(resource: AclFilter, acls: Sequence[Acl], stream: TextIO) -> bool:
    """Ask on the terminal whether to remove; return whether the user agreed."""
    action = "delete all ACLs for"
    if acls:
        action = f"remove ACLs: \n {format_entries(acls)}\n from"
    question = (
        f"Are you sure you want to {action} resource filter `{format_pattern(resource)}`? (y/n)"
    )
    print(question, file=stream, flush=True)
    try:
        return input().strip().lower() == "y"
    except (EOFError, RuntimeError):  # standard input is at its end, or closed
        raise ClientError(
            "standard input is closed, so nobody can confirm; use --force to remove without asking"
        ) from None


def _sorted_acl_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    return acls_to_objects(_sorted_acls(acls))


def _sorted_acls(acls: Iterable[Acl]) -> list[Acl]:
    return sorted(acls, key=lambda acl: tuple(acls_to_objects([acl])[0].values()))


def _print_json(value: object) -> None:
    print(json_text(value))
