"""`kafka-shim policy matrix`: a table of principals, resources and allowed operations."""

import argparse
import sys
from collections.abc import Sequence

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation
from kafka_shim.cli.connection_options import connect_with_options
from kafka_shim.cli.policy_options import (
    add_cluster_arguments,
    add_rule_arguments,
    policy_of_options,
    write_assumption_notes,
)
from kafka_shim.cli.usage import (
    UsageError,
    add_resource_arguments,
    check_principal_option,
    resource_names_by_type,
)
from kafka_shim.client.client import topic_names
from kafka_shim.policy.acl_files import first_names_text
from kafka_shim.policy.expectation import parse_names
from kafka_shim.policy.matrix import (
    MatrixResource,
    MatrixRow,
    access_matrix,
    cell_objects,
    column_heading,
    csv_table,
    drop_empty_lines,
    html_table,
    listed_principals,
    resources_in_acls,
    text_table,
)
from kafka_shim.policy.name_sets import NameSet
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, ResourceType
from kafka_shim.text.data_text import json_text

DESCRIPTION = """\
Print a table with a row for each principal and a column for each resource pattern of the ACLs. A
cell lists the operations that are allowed on all names of the pattern, from every host. `everyone
else` stands for all principals that no ACL names. Principals and resources without any access are
left out, except those that an option names.

  kafka-shim policy matrix acls/ --html > acls.html
  kafka-shim policy matrix acls/ --operation Write --resource topic:orders --resource 'topic:team-*'
  kafka-shim policy matrix --bootstrap-server 127.0.0.1:9092 --topics-of-cluster --csv

Exit codes: 0 done, 2 usage error (an invalid option or file), 1 the broker failed.
"""
CELLS_MAX = 1_000_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument
    add(
        "files", nargs="*", metavar="FILE", help="File or folder with ACLs (default: the cluster's)"
    )
    add(
        "--operation",
        action="append",
        default=[],
        metavar="OPERATION",
        help="Show only this operation, such as Write (repeatable)",
    )
    add(
        "--principal",
        action="append",
        default=[],
        metavar="User:x",
        help="Show only this principal; User:* is everyone else (repeatable)",
    )
    forms = parser.add_mutually_exclusive_group()
    for form in ("csv", "html", "json"):
        forms.add_argument(
            f"--{form}", action="store_true", help=f"Print {form.upper()} instead of text"
        )
    add_resource_arguments(parser)
    add_cluster_arguments(parser)
    add(
        "--topics-of-cluster",
        action="store_true",
        help="Make the columns from the topics of the cluster instead of the patterns of the ACLs",
    )
    add_rule_arguments(parser.add_argument_group("Rules"))


def run(args: argparse.Namespace) -> int:
    policy, topics = _matrix_input(args)
    operations = _parse_operations_except_all(args.operation)
    for principal in args.principal:
        check_principal_option("--principal", principal)
    resources = [*topics, *_resources_of_options(args)] or resources_in_acls(policy.acls)
    principals = args.principal or listed_principals(policy.acls)
    if len(principals) * len(resources) > CELLS_MAX:
        raise UsageError(
            f"{len(principals)} principals and {len(resources)} resources are too many for a"
            " table; choose some with --principal, --resource ..."
        )
    rows = access_matrix(policy.authorizer(), policy.release, principals, resources, operations)
    shown = (resources, rows) if args.json else _drop_empty_lines(args, resources, rows)
    print(_format_matrix(args, *shown, policy), end="")
    return 0


def _drop_empty_lines(
    args: argparse.Namespace, resources: Sequence[MatrixResource], rows: Sequence[MatrixRow]
) -> tuple[Sequence[MatrixResource], Sequence[MatrixRow]]:
    """Leave out rows and columns without access that no option names; name them on stderr."""
    kept_resources, kept_rows = drop_empty_lines(
        resources,
        rows,
        keeps_all_rows=bool(args.principal),
        keeps_all_columns=bool(_resources_of_options(args)),
    )
    kept_principals = {row.principal for row in kept_rows}
    left_out = [row.principal for row in rows if row.principal not in kept_principals]
    known = set(kept_resources)
    left_out += [column_heading(resource) for resource in resources if resource not in known]
    if left_out:
        sys.stderr.write(f"note: without any access, not shown: {first_names_text(left_out)}\n")
    return kept_resources, kept_rows


def _matrix_input(
    args: argparse.Namespace,
) -> tuple[Policy, list[MatrixResource]]:
    """Return the ACLs with what else decides, and the cluster's topics if they are wanted."""
    if args.files and args.topics_of_cluster and not args.bootstrap_server:
        raise UsageError("--topics-of-cluster needs --bootstrap-server")
    policy = policy_of_options(args)
    if not args.topics_of_cluster:
        return policy, []
    with connect_with_options(args) as client:
        names = topic_names(client)
    return policy, [MatrixResource(ResourceType.TOPIC, NameSet(name)) for name in names]


def _parse_operations_except_all(words: Sequence[str]) -> list[Operation]:
    try:
        return [parse_operation(word) for word in words if parse_operation(word) != Operation.ALL]
    except AclTextError as error:
        raise UsageError(f"--operation: {error}") from error


def _resources_of_options(args: argparse.Namespace) -> list[MatrixResource]:
    """Return the resources named by options; `orders-*` is a prefix."""
    return [
        MatrixResource(kind, names)
        for kind, words in resource_names_by_type(args).items()
        for word in words
        for names in (
            [NameSet(CLUSTER_NAME)] if kind is ResourceType.CLUSTER else parse_names(word, "")
        )
    ]


def _format_matrix(
    args: argparse.Namespace,
    resources: Sequence[MatrixResource],
    rows: Sequence[MatrixRow],
    policy: Policy,
) -> str:
    """Return the output; a note on assumed settings is part of text and HTML."""
    notes = policy.assumption_notes
    if args.html:
        return html_table(resources, rows, notes)
    if not args.csv and not args.json:
        return "".join(f"{line}\n" for line in (*text_table(resources, rows), *notes))
    write_assumption_notes(policy)
    if args.csv:
        return csv_table(resources, rows)
    return json_text(cell_objects(resources, rows)) + "\n"
