"""`kafka-shim policy check`: gates for changes of ACLs, in the words of other access analyzers."""

import argparse
import json
from collections.abc import Iterator, Sequence

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import ANY_USER
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.authorizer_settings import (
    read_cluster_acls,
    release_of_options_or_cluster,
)
from kafka_shim.cli.policy.authorizer_options import (
    add_authorizer_arguments,
    add_cluster_arguments,
    set_default_bootstrap_server,
)
from kafka_shim.cli.policy.diff_formats import (
    DescribedChange,
    DiffRules,
    diff_lines,
    diff_object,
    rules_of_both_sides,
    unimplied_changes_most_used_first,
)
from kafka_shim.cli.policy.policy_side import (
    PolicySide,
    require_known_mode_if_it_matters,
    side_of_cluster,
    side_of_files,
)
from kafka_shim.cli.resource_arguments import parse_resource
from kafka_shim.cli.usage import UsageError, check_principal_option, parse_supported_operation
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.change_scope import ChangeScope
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.name_sets import ALL_NAMES, NameSet
from kafka_shim.policy.witness import witness_of_change
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.text.message_text import count_with_noun

GATES: dict[str, str] = {
    "no-new-access": "nobody gains access when NEW replaces OLD",
    "access-not-granted": "nobody, or no --principal, has the access of --only and --operation",
    "no-public-access": "no access is open to everyone (User:* from every host)",
}
HELP = "Fail if a change grants access that it must not grant"
DESCRIPTION = """\
Check one of these gates, over all names, hosts and principals:

  no-new-access       nobody gains access when NEW replaces OLD
  access-not-granted  NEW does not allow the access of --only, --principal and --operation
  no-public-access    NEW allows nothing to everyone (User:* from every host)

--only and --principal limit each gate. Super users are not reported.

  kafka-shim policy check no-new-access old.yaml new.yaml --only 'topic:payments*'
  kafka-shim policy check access-not-granted acls/ --only 'topic:payments*' --operation Write
  kafka-shim policy check no-public-access acls/

Exit codes: 0 the gate is passed, 3 it is not, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gate", choices=list(GATES), metavar="GATE", help=f"Gate: {', '.join(GATES)}")
    add("files", nargs="*", default=[], metavar="FILE", help="NEW; for no-new-access OLD and NEW")
    add(
        "--only",
        action="append",
        default=[],
        metavar="TYPE:NAME",
        help="Check only these resources, such as topic:orders, topic:payments* or cluster"
        " (repeatable)",
    )
    add(
        "--principal",
        action="append",
        default=[],
        metavar="User:x",
        help="Check only this principal (repeatable)",
    )
    add(
        "--operation",
        action="append",
        default=[],
        metavar="OPERATION",
        help="Check only this operation (repeatable)",
    )
    add("--json", action="store_true", help="Print JSON instead of text")
    add_cluster_arguments(parser)
    add_authorizer_arguments(parser)


def run(args: argparse.Namespace) -> int:
    scope = _scope_of_options(args)
    if args.gate == "access-not-granted" and not (args.only or args.principal):
        raise UsageError("access-not-granted needs --only or --principal: what must not be granted")
    old, new = _old_or_empty_and_new_side(args)
    try:
        granted = _granted_access(args, scope, old, new)
        require_known_mode_if_it_matters(
            old, new, lambda *sides: not _granted_access(args, scope, *sides)
        )
    except InexactReleaseError as error:
        raise UsageError(f"Kafka {new.release}: {error}") from error
    _print_result(args, granted, rules_of_both_sides(old, new))
    return EXIT_MISMATCH if granted else 0


def _granted_access(
    args: argparse.Namespace, scope: ChangeScope, old: PolicySide, new: PolicySide
) -> list[DescribedChange]:
    """Return the gains that the gate does not let pass, each with an example."""
    before, after = old.authorizer(), new.authorizer()
    gains = _gains(access_changes(before, after, new.release), _operations_of_options(args))
    return [
        DescribedChange(change, witness)
        for change in scope.limited_changes(gains)
        if (args.gate != "no-public-access" or _is_for_everyone_everywhere(change))
        and (witness := witness_of_change(change, before, after)) is not None
    ]


def _print_result(
    args: argparse.Namespace, granted: Sequence[DescribedChange], rules: DiffRules
) -> None:
    if args.json:
        content = {"gate": args.gate, "passed": not granted, **diff_object(granted, rules)}
        print(json.dumps(content, indent=2, ensure_ascii=False))
        return
    lines = diff_lines(granted, rules) if granted else rules.notes
    print("".join(f"{line}\n" for line in lines), end="")
    count = count_with_noun(len(unimplied_changes_most_used_first(granted)), "grant")
    word = f"failed, {count}" if granted else "passed"
    print(f"{args.gate}: {word} ({GATES[args.gate]})")


def _gains(
    changes: Sequence[AccessChange], operations: set[Operation] | None
) -> Iterator[AccessChange]:
    """Yield the gains, with only these operations."""
    for change in changes:
        selected = tuple(
            operation
            for operation in change.operations
            if operations is None or operation in operations
        )
        if change.gained and selected:
            yield msgspec.structs.replace(change, operations=selected)


def _is_for_everyone_everywhere(change: AccessChange) -> bool:
    return change.principal == ANY_USER and "*" in change.hosts


def _old_or_empty_and_new_side(args: argparse.Namespace) -> tuple[PolicySide, PolicySide]:
    """Return OLD and NEW; OLD has no ACLs if the gate is about NEW alone."""
    needs_old = args.gate == "no-new-access"
    if len(args.files) == 1 + needs_old and not args.bootstrap_server:
        release = release_of_options_or_cluster(args)
        *olds, new = [side_of_files(args, [path], release) for path in args.files]
    elif len(args.files) == needs_old and set_default_bootstrap_server(args):
        cluster = side_of_cluster(args, read_cluster_acls(args))
        olds, new = ([cluster], side_of_files(args, args.files, cluster.release, cluster))
        if not needs_old:
            olds, new = [], cluster
    else:
        raise UsageError(
            "give OLD and NEW, or NEW and --bootstrap-server"
            if needs_old
            else "give one file or folder, or --bootstrap-server"
        )
    if olds:
        return olds[0], new
    nothing = PolicySide("nothing", (), new.release, new.super_users)
    return nothing, new


def _scope_of_options(args: argparse.Namespace) -> ChangeScope:
    for principal in args.principal:
        check_principal_option("--principal", principal)
    return ChangeScope(
        tuple(map(_parse_type_with_names_unless_cluster, args.only)), tuple(args.principal)
    )


def _parse_type_with_names_unless_cluster(text: str) -> tuple[ResourceType, NameSet | None]:
    try:
        kind, name = parse_resource(text)
    except AclTextError as error:
        raise UsageError(f"--only: {error}") from error
    if kind is ResourceType.CLUSTER:
        return kind, None
    if name == "*":
        return kind, ALL_NAMES
    return kind, NameSet(name.removesuffix("*"), is_prefix=name.endswith("*"))


def _operations_of_options(args: argparse.Namespace) -> set[Operation] | None:
    if not args.operation:
        return None
    kinds = [_parse_type_with_names_unless_cluster(text)[0] for text in args.only] or [
        ResourceType.TOPIC
    ]
    return {parse_supported_operation(text, kind) for text in args.operation for kind in kinds}
