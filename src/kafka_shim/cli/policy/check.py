"""`kafka-shim policy check`: gates for changes of ACLs, in the words of other access analyzers."""

import argparse
from collections.abc import Sequence

from kafka_shim.authorizer.acl_names import AclTextError, parse_resource
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    add_cluster_and_rule_arguments,
    policy_of_cluster,
    policy_of_files,
    require_known_mode,
    set_default_bootstrap_server,
)
from kafka_shim.cli.usage import UsageError, check_principal_option, parse_supported_operation
from kafka_shim.policy.diff import (
    DescribedChange,
    DiffRules,
    compared_rules,
    diff_lines,
    diff_object,
    sort_described_changes,
)
from kafka_shim.policy.gates import (
    ACCESS_NOT_GRANTED,
    GATES,
    NO_NEW_ACCESS,
    ChangeScope,
    find_forbidden_gains,
)
from kafka_shim.policy.name_sets import ALL_NAMES, NameSet
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import count_with_noun

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
    parser.description = DESCRIPTION
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
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    scope = _scope_of_options(args)
    if args.gate == ACCESS_NOT_GRANTED and not (args.only or args.principal):
        raise UsageError("access-not-granted needs --only or --principal: what must not be granted")
    old, new = _compared_policies(args)

    def granted_access(old: Policy, new: Policy) -> list[DescribedChange]:
        return find_forbidden_gains(args.gate, old, new, scope, _operations_of_options(args))

    granted = granted_access(old, new)
    require_known_mode(old, new, lambda *both: not granted_access(*both))
    _print_result(args, granted, compared_rules(old, new))
    return EXIT_MISMATCH if granted else 0


def _print_result(
    args: argparse.Namespace, granted: Sequence[DescribedChange], rules: DiffRules
) -> None:
    if args.json:
        content = {"gate": args.gate, "passed": not granted, **diff_object(granted, rules)}
        print(json_text(content))
        return
    lines = diff_lines(granted, rules) if granted else rules.notes
    print("".join(f"{line}\n" for line in lines), end="")
    count = count_with_noun(len(sort_described_changes(granted)), "grant")
    word = f"failed, {count}" if granted else "passed"
    print(f"{args.gate}: {word} ({GATES[args.gate]})")


def _compared_policies(args: argparse.Namespace) -> tuple[Policy, Policy]:
    """Return OLD and NEW; OLD has no ACLs if the gate is about NEW alone."""
    needs_old = args.gate == NO_NEW_ACCESS
    if len(args.files) == 1 + needs_old and not args.bootstrap_server:
        *olds, new = [policy_of_files(args, [path]) for path in args.files]
    elif len(args.files) == needs_old and set_default_bootstrap_server(args):
        cluster = policy_of_cluster(args)
        olds = [cluster] if needs_old else []
        new = policy_of_files(args, args.files, cluster) if needs_old else cluster
    else:
        raise UsageError(
            "give OLD and NEW, or NEW and --bootstrap-server"
            if needs_old
            else "give one file or folder, or --bootstrap-server"
        )
    nothing = Policy(release=new.release, super_users=new.super_users)
    return (*olds, nothing)[0], new


def _scope_of_options(args: argparse.Namespace) -> ChangeScope:
    for principal in args.principal:
        check_principal_option("--principal", principal)
    return ChangeScope(tuple(map(_parse_resource_pattern, args.only)), tuple(args.principal))


def _parse_resource_pattern(text: str) -> tuple[ResourceType, NameSet | None]:
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
    kinds = [_parse_resource_pattern(text)[0] for text in args.only] or [ResourceType.TOPIC]
    return {parse_supported_operation(text, kind) for text in args.operation for kind in kinds}
