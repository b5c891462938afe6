"""`kafka-shim policy least-acls`: the fewest ACLs for what a trace shows as allowed."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from kafka_shim.authorizer.acl_formats import FORMATS, format_acls_losslessly
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.least_acls import least_acls
from kafka_shim.authorizer.model import WILDCARD, Action, Actor
from kafka_shim.authorizer.policy.checked_accesses import operations_checked_for_any_resource
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess, is_allowed
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.cli import EXIT_FAILURE
from kafka_shim.shim.cli.policy.descriptions import count_with_noun
from kafka_shim.shim.cli.policy.used_access import count_allowed_accesses_in_trace
from kafka_shim.shim.cli.usage import UsageError, check_principal_option, parse_release_option

HELP = "print the fewest ACLs that allow what a recorded trace shows as allowed"
DESCRIPTION = """\
Print the fewest and narrowest ACLs, for all hosts, that allow every access that a trace shows as
allowed. A broker also records checks that only make a response longer, such as Describe on every
topic when all are listed: remove what the program does not need. `kafka-shim least-acls` runs a
program twice instead, and leaves such checks out.

  kafka-shim policy least-acls trace/ --principal User:app --format yaml

Exit codes: 0 done, 2 usage error.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("trace", type=Path, metavar="TRACE", help="folder that a broker recorded")
    add(
        "--principal",
        action="append",
        default=[],
        metavar="User:x",
        help="only ACLs of this principal (repeatable; default: all)",
    )
    add(
        "--prefix",
        action="append",
        default=[],
        metavar="TEXT",
        help="use a prefixed ACL for names that begin with TEXT (repeatable)",
    )
    add(
        "--format",
        choices=[name for name in FORMATS if name not in ("audit-log", "zookeeper")],
        default="commands",
        metavar="FORMAT",
        help="format of the ACLs, as of `kafka-shim acls --format` (default: commands)",
    )
    add(
        "--kafka-version",
        metavar="RELEASE",
        help="Kafka release whose rules decide (default: the newest)",
    )


def run(args: argparse.Namespace) -> int:
    for principal in args.principal:
        check_principal_option("--principal", principal)
    release = parse_release_option(args.kafka_version) or RELEASES[-1]
    required = _allowed_accesses_from_any_host(args.trace, args.principal, release)
    acls = least_acls(required, args.prefix)
    authorizer = StandardAuthorizer(rules=acl_rules_of_release(release), store=AclStore(acls))
    denied = [access for access in required if not is_allowed(authorizer, access)]
    if denied:  # a bug: never print ACLs that do not suffice
        print(f"kafka-shim policy least-acls: {denied[0]} would be denied", file=sys.stderr)
        return EXIT_FAILURE
    try:
        print(format_acls_losslessly(acls, args.format), end="")
    except AclTextError as error:
        raise UsageError(f"--format {args.format}: {error}") from error
    print(
        f"{count_with_noun(len(acls), 'ACL')}: all {len(required)} different accesses that the"
        f" trace shows as allowed are allowed by them (Kafka {release})",
        file=sys.stderr,
    )
    return 0


def _allowed_accesses_from_any_host(
    trace: Path, principals: Iterable[str], release: str
) -> list[RequiredAccess]:
    """Return the allowed accesses without hosts; `*` can stand for any resource (KIP-679)."""
    wanted = set(principals)
    for_any_resource = set(operations_checked_for_any_resource(release))
    accesses: dict[RequiredAccess, None] = {}
    for actor, action in count_allowed_accesses_in_trace(trace):
        if wanted and actor.principal not in wanted:
            continue
        any_name = (
            action.resource_name == WILDCARD
            and (action.operation, action.resource_type) in for_any_resource
        )
        check = CheckedAction(
            Action(action.operation, action.resource_type, action.resource_name), any_name
        )
        accesses[RequiredAccess(Actor(actor.principal, WILDCARD), ((check,),))] = None
    return list(accesses)
