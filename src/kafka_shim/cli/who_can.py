"""`kafka-shim who-can`: list the principals that can do something, and the ACLs that allow it."""

import argparse
from collections.abc import Iterator

from kafka_shim.authorizer.acl_names import AclTextError, parse_resource
from kafka_shim.authorizer.authorizer import SUPER_USERS, StandardAuthorizer
from kafka_shim.authorizer.explaining.who_can import (
    AllowedPrincipal,
    WhoCanResult,
    find_unmatchable_acls,
    who_can,
    who_can_json,
)
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Action, DecisionReason
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.policy_options import (
    add_policy_arguments,
    check_acl_source,
    policy_of_source,
)
from kafka_shim.cli.usage import UsageError, parse_supported_operation, run_reporting_errors
from kafka_shim.policy.descriptions import action_text
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import sanitize_result_lines

DESCRIPTION = """\
List the principals that can perform an operation on a resource, each with its hosts and the ACL
that allows the operation. The list considers DENY ACLs. `everyone else` stands for all principals
that are not in the list. A real broker does not return its super users: name them with
--super-user. Otherwise, the output says that it assumes none.

  kafka-shim who-can Read topic:orders --bootstrap-server 127.0.0.1:9092
  kafka-shim who-can ClusterAction cluster --acls acls.yaml --json

Resources: topic:NAME, group:NAME, cluster, transactional-id:NAME, delegation-token:NAME,
user:Type:name. Names are taken literally; `policy matrix` has a column for each prefix.

Exit codes: 0 some principal is allowed, 3 none is, 2 usage error, 1 the broker failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "operation", metavar="OPERATION", help="Operation: Read, Write, Describe, ..."
    )
    parser.add_argument(
        "resource", metavar="RESOURCE", help="Resource: topic:NAME, group:NAME, cluster, ..."
    )
    add_policy_arguments(parser)
    parser.add_argument("--json", action="store_true", help="Print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _print_who_can)


def _print_who_can(args: argparse.Namespace) -> int:
    check_acl_source(args)
    try:
        resource_type, name = parse_resource(args.resource)
    except AclTextError as error:
        raise UsageError(str(error)) from error
    action = Action(parse_supported_operation(args.operation, resource_type), resource_type, name)
    source = policy_of_source(args)
    authorizer = source.authorizer()
    result = who_can(authorizer, action)
    if args.json:
        content = who_can_json(action, result) | {"assumed_settings": source.assumed_settings}
        print(json_text(content))
    else:
        has_unknown_super_users = SUPER_USERS in source.assumed_settings
        lines = [
            *_result_lines(action, result, has_unknown_super_users=has_unknown_super_users),
            *_ineffective_acl_lines(authorizer, action),
        ]
        print(sanitize_result_lines(lines))
        for note in source.assumption_notes:
            print(note)
    return 0 if result.allowed_principals else EXIT_MISMATCH


def _result_lines(
    action: Action, result: WhoCanResult, *, has_unknown_super_users: bool
) -> Iterator[str]:
    besides = ", besides super users" if has_unknown_super_users else ""
    if not result.allowed_principals:
        yield f"no principal is allowed {action_text(action)}{besides}"
    else:
        yield f"allowed {action_text(action)}{besides}:"
    for allowed in result.allowed_principals:
        yield f"  {_principal_text(allowed.principal)}, {_hosts_text(allowed)}"
        if allowed.because is not DecisionReason.ACL:
            yield f"    because: {allowed.because.value}"
        yield from (f"    {acl_line(acl)}" for acl in allowed.acls)
        yield from (f"    but not: {acl_line(acl)}" for acl in allowed.exception_acls)
    if result.denied_principals:
        unless = ", unless a super user" if has_unknown_super_users else ""
        yield f"denied{unless}, although an ACL allows it:"
    for denied in result.denied_principals:
        yield f"  {_principal_text(denied.principal)}"
        yield from (f"    {acl_line(acl)}" for acl in denied.denying_acls)


def _ineffective_acl_lines(authorizer: StandardAuthorizer, action: Action) -> Iterator[str]:
    for acl, reason in find_unmatchable_acls(authorizer, action):
        yield f"without effect: {acl_line(acl)}"
        yield f"    because: {reason}"


def _principal_text(principal: str) -> str:
    return f"everyone else ({ANY_USER})" if principal == ANY_USER else principal


def _hosts_text(allowed: AllowedPrincipal) -> str:
    if WILDCARD not in allowed.hosts:
        return f"from {', '.join(allowed.hosts)}"
    if allowed.except_hosts:
        return f"from everywhere but {', '.join(allowed.except_hosts)}"
    return "from everywhere"
