"""`kafka-shim acls`: the flags and the output of kafka-acls, against any broker, in an instant."""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import TextIO

from authorizer.acl_text import format_list, to_objects
from authorizer.model import Acl, AclFilter
from shim.acl_client import create_acls, delete_acls, describe_acls
from shim.cli import EXIT_FAILURE
from shim.cli.acl_request import check, resources, targets
from shim.cli.acl_words import entries_text, entry_text, pattern_text
from shim.cli.connecting import add_connection_arguments, connected
from shim.cli.usage import UsageError
from shim.client import Client, ClientError

DESCRIPTION = """\
Lists, adds and removes ACLs, with the flags and the output of kafka-acls (4.3). Works against any
broker, real ones included; the protocol version is negotiated.

  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --list --topic orders
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:alice \\
      --operation Read --topic orders --resource-pattern-type prefixed
  kafka-shim acls --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:alice \\
      --consumer --topic orders --group billing

Exit codes: 0 done, 1 the broker refused or cannot be reached, 2 the options make no sense.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(usage_error=parser.error)
    add_connection_arguments(parser)
    parser.add_argument(
        "--bootstrap-controller",
        metavar="HOST:PORT,...",
        help="controllers to ask instead of brokers",
    )
    _add_actions(parser.add_argument_group("action, exactly one"))
    _add_resources(parser.add_argument_group("resources"))
    _add_entries(parser.add_argument_group("what is allowed or denied, and to whom"))
    parser.add_argument("--force", action="store_true", help="remove without asking")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    try:
        check(args)
        plan = {} if args.list else targets(args)
        if args.bootstrap_controller:
            args.bootstrap_server = args.bootstrap_controller
        if not args.bootstrap_server:
            args.usage_error("One of --bootstrap-server or --bootstrap-controller must be given")
        with connected(args) as client:
            if args.list:
                _list(client, args)
            elif args.add:
                _add(client, plan, as_json=args.json)
            else:
                _remove(client, plan, args)
    except UsageError as error:
        args.usage_error(str(error))
    except ClientError as error:
        print(f"Error while executing ACL command: {error}", file=sys.stderr)
        return EXIT_FAILURE
    return 0


def _list(client: Client, args: argparse.Namespace) -> None:
    filters = resources(args) or [AclFilter()]
    acls = list(dict.fromkeys(acl for one in filters for acl in describe_acls(client, one)))
    principals = [principal.strip() for principal in args.principal]
    if args.json:
        wanted = [acl for acl in acls if not principals or acl.principal in principals]
        _print_json(_objects(wanted))
        return
    if not principals:
        print(format_list(acls), end="")
    for principal in principals:
        print(f"ACLs for principal `{principal}`")
        print(format_list(acl for acl in acls if acl.principal == principal), end="")


def _add(client: Client, plan: dict[AclFilter, list[Acl]], *, as_json: bool) -> None:
    """Resource by resource, as AclCommand does: what is there already, then what is new."""
    added: list[Acl] = []
    existing: list[Acl] = []
    for resource, acls in plan.items():
        stored = set(describe_acls(client, resource))
        old = [acl for acl in acls if acl in stored]
        new = [acl for acl in acls if acl not in stored]
        existing += old
        added += new
        if not as_json:
            _print_additions(resource, old, new)
        if new:
            create_acls(client, new)
    if as_json:
        _print_json({"added": _objects(added), "existing": _objects(existing)})


def _print_additions(resource: AclFilter, old: Sequence[Acl], new: Sequence[Acl]) -> None:
    for acl in old:
        print(f"Acl (pattern={pattern_text(acl)}, entry={entry_text(acl)}) already exists.")
    if new:
        print(f"Adding ACLs for resource `{pattern_text(resource)}`: \n {entries_text(new)}\n")


def _remove(client: Client, plan: dict[AclFilter, list[Acl]], args: argparse.Namespace) -> None:
    removed: list[Acl] = []
    for resource, acls in plan.items():
        if args.force or _confirmed(resource, acls, sys.stderr if args.json else sys.stdout):
            filters = [_exactly(acl) for acl in acls] or [resource]
            removed += delete_acls(client, filters)
    if args.json:
        _print_json({"removed": _objects(dict.fromkeys(removed))})


def _confirmed(resource: AclFilter, acls: Sequence[Acl], stream: TextIO) -> bool:
    """Whether the user agrees, on the terminal."""
    what = "delete all ACLs for"
    if acls:
        what = f"remove ACLs: \n {entries_text(acls)}\n from"
    question = f"Are you sure you want to {what} resource filter `{pattern_text(resource)}`? (y/n)"
    print(question, file=stream, flush=True)
    try:
        return input().strip().lower() == "y"
    except EOFError:
        raise ClientError("there is nobody to answer; use --force to remove") from None


def _exactly(acl: Acl) -> AclFilter:
    """The filter for one entry; the pattern may still be ANY or MATCH."""
    return AclFilter(
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission,
    )


def _objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    return to_objects(sorted(acls, key=lambda acl: tuple(to_objects([acl])[0].values())))


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def _add_actions(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--list", action="store_true", help="print the ACLs of the resources")
    group.add_argument("--add", action="store_true", help="add ACLs to the resources")
    group.add_argument("--remove", action="store_true", help="remove ACLs from the resources")


def _add_resources(group: argparse._ArgumentGroup) -> None:
    for option, what in (
        ("--topic", "topic"),
        ("--group", "consumer group"),
        ("--transactional-id", "transactional id"),
        ("--delegation-token", "delegation token"),
        ("--user-principal", "user whose tokens may be created or described"),
    ):
        name = option.removeprefix("--").upper()
        group.add_argument(
            option, action="append", default=[], metavar=name, help=f"{what}, or * (repeatable)"
        )
    group.add_argument("--cluster", action="store_true", help="the cluster")
    group.add_argument(
        "--resource-pattern-type",
        default="literal",
        type=str.lower,
        choices=("literal", "prefixed", "any", "match"),
        help="how the names are meant; `any` and `match` only to list and remove"
        " (default: literal)",
    )


def _add_entries(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--operation",
        action="append",
        default=[],
        metavar="OPERATION",
        help="Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs,"
        " AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens, TwoPhaseCommit"
        " (repeatable; default: All)",
    )
    for option, metavar, what in (
        ("--allow-principal", "User:x", "who is allowed; User:* is everyone"),
        ("--deny-principal", "User:x", "who is denied, whatever else allows it"),
        ("--allow-host", "IP", "from where the allowed may come (default: anywhere)"),
        ("--deny-host", "IP", "from where the denied are denied (default: anywhere)"),
        ("--principal", "User:x", "with --list: only the ACLs of this principal"),
    ):
        group.add_argument(
            option, action="append", default=[], metavar=metavar, help=f"{what} (repeatable)"
        )
    group.add_argument(
        "--producer", action="store_true", help="Write, Describe and Create on topics"
    )
    group.add_argument(
        "--consumer", action="store_true", help="Read and Describe on topics, Read on groups"
    )
    group.add_argument(
        "--idempotent", action="store_true", help="with --producer: IdempotentWrite on the cluster"
    )
