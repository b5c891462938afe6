"""The options of kafka-acls that say which ACLs are meant (4.3)."""

import argparse


def add_actions(group: argparse._ArgumentGroup) -> None:
    """`--add`, `--remove`, `--list`."""
    group.add_argument("--list", action="store_true", help="print the ACLs of the resources")
    group.add_argument("--add", action="store_true", help="add ACLs to the resources")
    group.add_argument("--remove", action="store_true", help="remove ACLs from the resources")


def add_resources(group: argparse._ArgumentGroup) -> None:
    """The options that name resources, and how their names are to be read."""
    for option, description in (
        ("--topic", "topic"),
        ("--group", "consumer group"),
        ("--transactional-id", "transactional id"),
        ("--delegation-token", "delegation token"),
        ("--user-principal", "user whose tokens may be created or described"),
    ):
        name = option.removeprefix("--").upper()
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar=name,
            help=f"{description}, or * (repeatable)",
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


def add_entries(group: argparse._ArgumentGroup) -> None:
    """The options that say who may do what, from where; and the shorthands for clients."""
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
        ("--allow-principal", "User:x", "who is allowed; User:* is everyone"),
        ("--deny-principal", "User:x", "who is denied, whatever else allows it"),
        ("--allow-host", "IP", "from where the allowed may come (default: anywhere)"),
        ("--deny-host", "IP", "from where the denied are denied (default: anywhere)"),
        ("--principal", "User:x", "with --list: only the ACLs of this principal"),
    ):
        group.add_argument(
            option, action="append", default=[], metavar=metavar, help=f"{description} (repeatable)"
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
