"""`kafka-shim policy compact`: fewer ACLs that decide the same."""

import argparse
import sys
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.cli.policy_options import (
    add_cluster_and_rule_arguments,
    policy_of_options,
    write_assumption_notes,
)
from kafka_shim.cli.usage import UsageError
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.least.compaction import compacted_acls
from kafka_shim.policy.plan_file import plan_object, write_plan
from kafka_shim.policy.planned_change import plan_change
from kafka_shim.policy.redundant_acls import find_superseding_acl
from kafka_shim.policy.relations import Relation, check_relation
from kafka_shim.protocol.enums import Permission
from kafka_shim.text.message_text import count_with_noun, escaped

DESCRIPTION = """\
Print fewer ACLs that decide every access like the given ACLs, as `policy equivalent` proves. None
of the printed ACLs can be left out.

  kafka-shim policy compact acls/ > compact.yaml
  kafka-shim policy compact --bootstrap-server 127.0.0.1:9092 --plan plan.json

Exit codes: 0 done, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument
    add(
        "files", nargs="*", metavar="FILE", help="File or folder with ACLs (default: the cluster's)"
    )
    add("--plan", type=Path, metavar="FILE", help="Save the plan that gets there, for `apply`")
    add(
        "--format",
        choices=[name for name in FORMATS if name not in ("audit-log", "zookeeper")],
        default="yaml",
        metavar="FORMAT",
        help="Format of the ACLs, as of `kafka-shim acls --format` (default: yaml)",
    )
    add_cluster_and_rule_arguments(parser)


def run(args: argparse.Namespace) -> int:
    given = policy_of_options(args)
    write_assumption_notes(given)
    authorizer, release = given.authorizer(), given.release
    acls = compacted_acls(authorizer, release)
    compacted = msgspec.structs.replace(given, acls=tuple(acls))
    result = check_relation(
        Relation.EQUIVALENT, authorizer, compacted.authorizer(), release, release
    )
    if not result.holds:  # a bug: never print ACLs that decide otherwise
        print("kafka-shim policy compact: the result is not equivalent", file=sys.stderr)
        return EXIT_FAILURE
    try:
        print(format_acls_losslessly(sorted(acls, key=str), args.format), end="")
    except AclTextError as error:
        raise UsageError(f"--format {args.format}: {error}") from error
    if args.plan:
        plan = plan_change(given, compacted, {}, None, lambda: None)
        write_plan(args.plan, plan_object(plan.saved, plan.interim_between_requests))
    count = count_with_noun(len(acls), "ACL")
    print(
        f"{count} instead of {len(set(given.acls))}; every decision stays;"
        " none of them can be left out",
        file=sys.stderr,
    )
    for line in _dropped_deny_lines(given.acls, acls, release):
        print(escaped(line), file=sys.stderr)
    return 0


def _dropped_deny_lines(
    given: Iterable[Acl], compacted: Collection[Acl], release: str
) -> Iterator[str]:
    """Yield the DENYs that hold nothing back today, but would hold back ALLOWs of tomorrow."""
    store = AclStore(compacted)
    dropped = [
        acl
        for acl in dict.fromkeys(given)
        if acl.permission is Permission.DENY
        and acl not in compacted
        and find_superseding_acl(acl, store, release) is None
    ]
    if dropped:
        yield (
            f"left out: {count_with_noun(len(dropped), 'DENY ACL')}, which would overrule ALLOW"
            " ACLs that somebody adds later:"
        )
    yield from (f"  {acl_line(acl)}" for acl in dropped)
