"""The options of kafka-acls (4.3) that describe ACLs."""

import argparse
from typing import Any


class _StoreOnce(argparse.Action):
    """Store a value; kafka-acls refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not self.default:
            parser.error(f"{option_string} is given several times")
        setattr(namespace, self.dest, values)


def add_action_options(group: argparse._ArgumentGroup) -> None:
    """Add `--add`, `--remove` and `--list`."""
    group.add_argument("--list", action="store_true", help="Print the ACLs of the resources")
    group.add_argument("--add", action="store_true", help="Add ACLs to the resources")
    group.add_argument("--remove", action="store_true", help="Remove ACLs from the resources")


def add_resource_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that name resources, and the pattern type of the names."""
    for option, description in (
        ("--topic", "Topic name"),
        ("--group", "Group id"),
        ("--transactional-id", "Transactional id"),
        ("--delegation-token", "Delegation token id"),
        ("--user-principal", "User (Type:name) whose delegation tokens the ACL is about"),
    ):
        name = option.removeprefix("--").upper()
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar=name if name in ("TOPIC", "GROUP") else "NAME",
            help=f"{description}, or * for all (repeatable)",
        )
    group.add_argument(
        "--cluster",
        nargs="?",
        const=True,
        default=False,
        metavar="NAME",
        help="The cluster itself; a name is ignored",
    )
    group.add_argument(
        "--resource-pattern-type",
        action=_StoreOnce,
        default="literal",
        type=str.lower,
        choices=("literal", "prefixed", "any", "match"),
        help="Pattern type of the resource names; `any` and `match` only with --list and --remove"
        " (default: literal)",
    )


def add_grant_options(group: argparse._ArgumentGroup) -> None:
    """Add the options for operations, principals and hosts, and the shorthands for clients."""
    group.add_argument(
        "--operation",
        action="append",
        default=[],
        metavar="OPERATION",
        help="Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs,"
        " AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens, TwoPhaseCommit"
        " (repeatable; default: All)",
    )
    for option, metavar, description in (
        ("--allow-principal", "User:x", "Principal to allow; User:* is everyone"),
        ("--deny-principal", "User:x", "Principal to deny, even if another ACL allows it"),
        ("--allow-host", "IP", "Host that the allowed principals connect from; any by default"),
        ("--deny-host", "IP", "Host that the denied principals connect from; any by default"),
        ("--principal", "User:x", "With --list: print only the ACLs of this principal"),
    ):
        group.add_argument(
            option, action="append", default=[], metavar=metavar, help=f"{description} (repeatable)"
        )
    group.add_argument(
        "--producer", action="store_true", help="Shorthand for Write, Describe and Create on topics"
    )
    group.add_argument(
        "--consumer",
        action="store_true",
        help="Shorthand for Read and Describe on topics, and Read on groups",
    )
    group.add_argument(
        "--idempotent",
        action="store_true",
        help="With --producer: also IdempotentWrite on the cluster",
    )
