"""The options of kafka-acls (4.3) that describe ACLs."""

import argparse


def add_action_options(group: argparse._ArgumentGroup) -> None:
    """Add `--add`, `--remove` and `--list`."""
    group.add_argument("--list", action="store_true", help="print the ACLs of the resources")
    group.add_argument("--add", action="store_true", help="add ACLs to the resources")
    group.add_argument("--remove", action="store_true", help="remove ACLs from the resources")


def add_resource_and_pattern_type_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that name resources, and the pattern type of the names."""
    for option, description in (
        ("--topic", "topic name"),
        ("--group", "group id"),
        ("--transactional-id", "transactional id"),
        ("--delegation-token", "delegation token id"),
        ("--user-principal", "user (Type:name) whose delegation tokens the ACL is about"),
    ):
        name = option.removeprefix("--").upper()
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar=name if name in ("TOPIC", "GROUP") else "NAME",
            help=f"{description}, or * for all (repeatable)",
        )
    group.add_argument("--cluster", action="store_true", help="the cluster itself")
    group.add_argument(
        "--resource-pattern-type",
        default="literal",
        type=str.lower,
        choices=("literal", "prefixed", "any", "match"),
        help="pattern type of the resource names; `any` and `match` only with --list and --remove"
        " (default: literal)",
    )


def add_operation_principal_and_shorthand_options(group: argparse._ArgumentGroup) -> None:
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
        ("--allow-principal", "User:x", "principal to allow; User:* is everyone"),
        ("--deny-principal", "User:x", "principal to deny, even if another ACL allows it"),
        ("--allow-host", "IP", "host that the allowed principals connect from; any by default"),
        ("--deny-host", "IP", "host that the denied principals connect from; any by default"),
        ("--principal", "User:x", "with --list: print only the ACLs of this principal"),
    ):
        group.add_argument(
            option, action="append", default=[], metavar=metavar, help=f"{description} (repeatable)"
        )
    group.add_argument(
        "--producer", action="store_true", help="shorthand for Write, Describe and Create on topics"
    )
    group.add_argument(
        "--consumer",
        action="store_true",
        help="shorthand for Read and Describe on topics, and Read on groups",
    )
    group.add_argument(
        "--idempotent",
        action="store_true",
        help="with --producer: also IdempotentWrite on the cluster",
    )
