"""`kafka-shim policy equivalent`, `implies` and `disjoint`: statements over all accesses."""

import argparse
from typing import Any

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    SETTINGS_HELP,
    add_rule_arguments,
    policy_of_cluster,
    policy_of_files,
    require_known_mode,
    with_settings,
)
from kafka_shim.cli.usage import UsageError, release_argument
from kafka_shim.policy.descriptions import access_object, decision_object, witness_lines
from kafka_shim.policy.policy import Policy
from kafka_shim.policy.relations import STATEMENTS, Relation, RelationResult, check_relation
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import count_with_noun


def add_side_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of both clusters; `files` has the sets that no option names."""
    for name in ("a", "b"):
        group = parser.add_argument_group(f"Set {name.upper()}")
        group.add_argument(
            f"--{name}", metavar="HOST:PORT,...", help="Take the ACLs of this cluster"
        )
        group.add_argument(
            f"--{name}-command-config",
            metavar="FILE",
            help="Client properties (default: those of --command-config)",
        )
        group.add_argument(
            f"--{name}-version",
            type=release_argument,
            metavar="RELEASE",
            help="Kafka release whose rules decide (default: --kafka-version, else that of the"
            " cluster)",
        )
        group.add_argument(
            f"--{name}-set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"Set a broker's setting (repeatable); {SETTINGS_HELP}",
        )
    parser.add_argument(
        "--command-config", metavar="FILE", help="Client properties of both clusters"
    )


def sides_of_arguments(args: argparse.Namespace) -> tuple[Policy, Policy]:
    """Return both sides: a file, or the cluster of `--a` or `--b`, each with its own settings.

    A file has the release and the settings of the cluster on the other side, if there is one. Raise
    UsageError unless there are two sets of ACLs.
    """
    from_cluster = [name for name in ("a", "b") if vars(args)[name] is not None]
    if len(args.files) + len(from_cluster) != 2:
        raise UsageError("give two sets of ACLs: files A and B, or --a or --b instead of a file")
    own = vars(args)
    clusters = {name: _side_of_cluster(args, name) for name in "ab" if own[name] is not None}
    cluster = next(iter(clusters.values()), None)
    paths = iter(args.files)
    sides = [clusters.get(name) or _side_of_file(args, name, next(paths), cluster) for name in "ab"]
    first, second = (
        with_settings(side, own[f"{name}_set"], f"--{name}-set")
        for name, side in zip("ab", sides, strict=True)
    )
    return first, second


def _side_of_cluster(args: argparse.Namespace, name: str) -> Policy:
    own = vars(args)
    options = argparse.Namespace(**own)
    options.kafka_version = own[f"{name}_version"] or args.kafka_version
    options.bootstrap_server = own[name]
    options.command_config = own[f"{name}_command_config"] or args.command_config
    return policy_of_cluster(options, f"--{name}")


def _side_of_file(args: argparse.Namespace, name: str, path: str, cluster: Policy | None) -> Policy:
    options = argparse.Namespace(**vars(args))
    options.kafka_version = vars(args)[f"{name}_version"] or args.kafka_version
    return policy_of_files(options, [path], cluster)


_DESCRIPTION = """\
Prove that {statement}: for all principals, hosts, operations and
names. If this does not hold, print an access that contradicts it. A and B are files or
folders, or the clusters of --a and --b.

  kafka-shim policy {verb} old.yaml new.yaml
  kafka-shim policy {verb} --a old:9092 --b new:9092

Exit codes: 0 it holds, 3 it does not, 2 usage error, 1 a broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the relation in whose name the parser's program ends."""
    verb = parser.prog.rpartition(" ")[2]
    parser.description = _DESCRIPTION.format(statement=STATEMENTS[Relation(verb)], verb=verb)
    add = parser.add_argument
    add("files", nargs="*", metavar="FILE", help="A and B, unless --a or --b names a cluster")
    add("--json", action="store_true", help="Print JSON instead of text")
    add_side_arguments(parser)
    add_rule_arguments(parser.add_argument_group("Rules"))


def run(args: argparse.Namespace) -> int:
    relation = Relation(args.verb)
    first, second = sides_of_arguments(args)

    def check(first: Policy, second: Policy) -> RelationResult:
        sides = (first.authorizer(), second.authorizer())
        return check_relation(relation, *sides, first.release, second.release)

    result = check(first, second)
    require_known_mode(first, second, lambda *each: check(*each).holds)
    if args.json:
        print(json_text(_result_object(result, first, second)))
    else:
        _print_result(result, first, second)
    return 0 if result.holds else EXIT_MISMATCH


def _print_result(result: RelationResult, first: Policy, second: Policy) -> None:
    print(("holds: " if result.holds else "does not hold: ") + STATEMENTS[result.relation])
    print(f"A: {_describe_policy(first)}\nB: {_describe_policy(second)}")
    if result.counterexample is not None:
        print("counterexample:")
        print("\n".join(f"  {line}" for line in witness_lines(result.counterexample, "A", "B")))
    if result.impossible_differences:
        count = count_with_noun(result.impossible_differences, "difference")
        print(f"not counted: {count} about hosts or names that no client can have")


def _describe_policy(side: Policy) -> str:
    parts = [
        f"{side.source}: {count_with_noun(len(set(side.acls)), 'ACL')}",
        f"Kafka {side.release}",
    ]
    if side.super_users:
        parts.append(f"super users {', '.join(sorted(side.super_users))}")
    if side.allow_everyone:
        parts.append("resources without ACLs are open to everyone")
    return "; ".join((*parts, *side.assumption_notes))


def _result_object(result: RelationResult, first: Policy, second: Policy) -> dict[str, Any]:
    access = result.counterexample
    return {
        "relation": result.relation.value,
        "holds": result.holds,
        "a": _describe_policy(first),
        "b": _describe_policy(second),
        "counterexample": access
        and access_object(access)
        | {"a": decision_object(access.before), "b": decision_object(access.after)},
        "impossible_differences": result.impossible_differences,
    }
