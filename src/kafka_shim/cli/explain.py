"""`kafka-shim explain`: which rule decides, and what would allow it."""

import argparse
from collections.abc import Callable, Iterator

import msgspec

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE
from kafka_shim.authorizer.client_needs import advice_text
from kafka_shim.authorizer.explaining.api_explanation import (
    Caller,
    RequirementDecision,
    explain_api_checks,
    side_effects_for_request,
    steps_to_allow_request,
)
from kafka_shim.authorizer.explaining.explanation import Explanation, explain_decision
from kafka_shim.authorizer.model import WILDCARD, Action, Actor
from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.explain_text import (
    explanation_lines,
    explanation_object,
    remedy_lines,
    remedy_step_objects,
    requirement_outcome_lines,
    requirement_outcome_object,
)
from kafka_shim.cli.policy_options import (
    add_policy_arguments,
    check_acl_source,
    policy_of_source,
)
from kafka_shim.cli.usage import (
    ResourceNamesByType,
    UsageError,
    add_resource_arguments,
    check_principal_option,
    parse_api_name,
    parse_client_host,
    parse_supported_operation,
    resource_names_by_type,
    resource_option_text,
    run_reporting_errors,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.api_versions import highest_unstable_versions, served_versions
from kafka_shim.protocol.enums import ApiKey, ResourceType
from kafka_shim.text.data_text import json_text
from kafka_shim.text.message_text import escaped

DEFAULT_HOST = "127.0.0.1"

DESCRIPTION = """\
Explain whether a principal is allowed to perform an operation. The output has the ACL that decides,
other ACLs that apply or nearly apply, and the kafka-acls command that would allow the operation.
The ACLs come from files and folders, or from a running broker, kafka-shim or real. Names are taken
literally: `policy test` asks about all names of a prefix.

  kafka-shim explain --bootstrap-server 127.0.0.1:9092 --principal User:carol \\
      --operation Write --resource topic:orders
  kafka-shim explain --acls acls.yaml --principal User:bob --api Fetch --resource topic:orders

With --api, all permission checks of this request type are explained, in the broker's order. Two
kinds of checks determine the exit code: all unconditional checks, and the first conditional check
for each resource type that --resource names.

Real brokers do not return their super users. Where the broker's settings could allow a denied
operation, the first line says so, as in `denied, unless User:carol is a super user`, and JSON has
their names in `assumed_settings`. Set them with --super-user and --allow-everyone-if-no-acl-found.
The rules are those of Kafka's own authorizer. If the broker has another authorizer.class.name, the
output names it, and the decision may be another one.

Exit codes: 0 allowed, 3 denied (with --expect: 0 as expected, 3 otherwise), 2 usage error, 1 the
broker failed. In scripts, write `--expect denied`. `! kafka-shim explain ...` would also succeed
after a usage error.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_policy_arguments(parser)
    add_resource_arguments(parser)
    group = parser.add_argument_group("Access to explain")
    group.add_argument(
        "--principal", required=True, metavar="User:x", help="Principal that asks for access"
    )
    group.add_argument(
        "--host", metavar="IP", help=f"Address of the client (default: {DEFAULT_HOST})"
    )
    question = group.add_mutually_exclusive_group(required=True)
    question.add_argument(
        "--operation", metavar="NAME", help="Operation: Read, Write, Describe, ..."
    )
    question.add_argument(
        "--api",
        metavar="NAME",
        help="Request type instead of one operation: Produce, Fetch, JoinGroup, ... or an API key",
    )
    group.add_argument(
        "--api-version",
        type=int,
        metavar="N",
        help="Version of --api (default: the highest of the release)",
    )
    parser.add_argument(
        "--expect",
        choices=("allowed", "denied"),
        default="allowed",
        help="Decision that gives exit code 0 (default: allowed)",
    )
    parser.add_argument("--json", action="store_true", help="Print JSON instead of text")


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _explain)


def _explain(args: argparse.Namespace) -> int:
    check_acl_source(args)
    check_principal_option("--principal", args.principal)
    names = resource_names_by_type(args)
    if args.api is not None:
        return _explain_request(args, parse_api_name(args.api), names)
    if not names:
        raise UsageError("no resource given: add --resource topic:NAME, --resource cluster, ...")
    actions = [
        Action(parse_supported_operation(args.operation, kind), kind, name)
        for kind, found in names.items()
        for name in found
    ]
    source = policy_of_source(args)
    caller = _caller_of_options(args, source)
    explained = [
        explain_decision(caller.authorizer, caller.actor, action, caller.host_for_new_acls)
        for action in actions
    ]
    allowed = all(explanation.decision.allowed for explanation in explained)
    if args.json:
        questions = [explanation_object(explanation, source.cluster) for explanation in explained]
        _print_json(
            {
                "allowed": allowed,
                "release": source.release,
                "assumed_settings": source.assumed_settings,
                "questions": questions,
            }
        )
    else:
        texts = [
            "\n".join(map(escaped, _explanation_lines(caller, source, explanation)))
            for explanation in explained
        ]
        print("\n\n".join(texts))
        _print_assumption_notes(source, allowed=allowed)
    return _exit_code_for_expectation(args, allowed=allowed)


def _explain_request(args: argparse.Namespace, api: ApiKey, names: ResourceNamesByType) -> int:
    source = policy_of_source(args)
    version = _version_to_explain(args.api_version, api, source.release)
    caller = _caller_of_options(args, source)
    outcomes = explain_api_checks(caller, api, version, source.release, names)
    _require_resource_names_of_api(api, outcomes)
    allowed = _is_request_allowed(outcomes)
    steps = () if allowed else steps_to_allow_request(caller, outcomes)
    opened = side_effects_for_request(caller, steps, outcomes)
    if args.json:
        _print_json(
            {
                "allowed": allowed,
                "release": source.release,
                "assumed_settings": source.assumed_settings,
                "api": api.wire_name,
                "api_version": version,
                "principal": caller.actor.principal,
                "host": caller.actor.host,
                "requirements": [
                    requirement_outcome_object(outcome, source.cluster) for outcome in outcomes
                ],
                "to_allow": remedy_step_objects(steps, source.cluster),
                "also_opens": list(opened),
            }
        )
        return _exit_code_for_expectation(args, allowed=allowed)

    def is_allowed(other: Caller) -> bool:
        return _is_request_allowed(explain_api_checks(other, api, version, source.release, names))

    verdict = "allowed" if allowed else _denied_text(caller, source, is_allowed)
    by = f"{caller.actor.principal} from {caller.actor.host} (Kafka {source.release})"
    print(f"{verdict}: {api.wire_name} v{version} by {escaped(by)}")
    for outcome in outcomes:
        print("\n" + "\n".join(map(escaped, requirement_outcome_lines(outcome))))
    if not outcomes:
        print("no permission check: the API is open to everybody")
    if steps:
        print("\n" + "\n".join(map(escaped, remedy_lines(steps, source.cluster, opened))))
        if advice := advice_text(api, [step.acl for step in steps if step.is_addition], None):
            print(f"note: {advice}")
    _print_assumption_notes(source, allowed=allowed)
    return _exit_code_for_expectation(args, allowed=allowed)


def _is_request_allowed(outcomes: list[RequirementDecision]) -> bool:
    return all(
        outcome.allowed
        for outcome in outcomes
        if outcome.counts_for_result and outcome.name_outcomes
    )


def _explanation_lines(caller: Caller, source: Policy, explanation: Explanation) -> Iterator[str]:
    """Yield the lines of an explanation; a denial names settings that would allow the access."""
    if explanation.decision.allowed:
        return explanation_lines(explanation, source.cluster)

    def is_allowed(other: Caller) -> bool:
        return other.authorizer.authorize(explanation.actor, explanation.action).allowed

    denied_text = _denied_text(caller, source, is_allowed)
    return explanation_lines(explanation, source.cluster, denied_text)


def _denied_text(caller: Caller, source: Policy, is_allowed: Callable[[Caller], bool]) -> str:
    """Return `denied`, with the settings that the broker does not return and that would allow it.

    `is_allowed` tells this of another caller.
    """
    return source.denied_text(
        caller.actor.principal,
        allowed_in_open_mode=ALLOW_EVERYONE in source.assumed_settings
        and is_allowed(_caller_in_open_mode(caller, source)),
    )


def _caller_in_open_mode(caller: Caller, source: Policy) -> Caller:
    """Return the caller where resources without any ACL are open."""
    authorizer = source.with_mode(allow_everyone=True).authorizer()
    return msgspec.structs.replace(caller, authorizer=authorizer)


def _exit_code_for_expectation(args: argparse.Namespace, *, allowed: bool) -> int:
    return 0 if allowed == (args.expect == "allowed") else EXIT_MISMATCH


def _caller_of_options(args: argparse.Namespace, source: Policy) -> Caller:
    host = None if args.host is None else parse_client_host(args.host)
    actor = Actor(args.principal, host or DEFAULT_HOST)
    return Caller(source.authorizer(), actor, host or WILDCARD)


def _version_to_explain(requested: int | None, api: ApiKey, release: str) -> int:
    """Return the version to explain; the default is the highest that clients can use."""
    ranges = served_versions(release)
    low, high = ranges.get(api, (0, -1))
    top = max(high, highest_unstable_versions(release).get(api, -1))
    if top < 0:
        raise UsageError(f"brokers of Kafka {release} do not serve {api.wire_name} to clients")
    if requested is None:
        return high if high >= 0 else top
    if not low <= requested <= top:
        raise UsageError(
            f"--api-version {requested}: Kafka {release} serves {api.wire_name} {low} to {top}"
        )
    return requested


def _require_resource_names_of_api(api: ApiKey, outcomes: list[RequirementDecision]) -> None:
    """Raise UsageError without a check to explain, or if an unconditional check lacks its name."""
    checked = [
        outcome for outcome in outcomes if outcome.counts_for_result and outcome.name_outcomes
    ]
    incomplete = [
        outcome
        for outcome in outcomes
        if outcome.counts_for_result and outcome.missing_resource_types
    ]
    if incomplete or (outcomes and not checked and api not in _apis_without_checks()):
        missing = {
            kind: None
            for outcome in incomplete or outcomes
            for kind in outcome.missing_resource_types
        }
        options = [resource_option_text(kind) for kind in missing or (ResourceType.CLUSTER,)]
        raise UsageError(
            f"--api {api.wire_name} requires the name of a resource: add {' or '.join(options)}"
        )


def _apis_without_checks() -> frozenset[ApiKey]:
    from kafka_shim.authorizer.requirement import OPEN_TO_ALL

    return frozenset(OPEN_TO_ALL)


def _print_assumption_notes(source: Policy, *, allowed: bool) -> None:
    """Print the notes if the decision could be another one; both settings only allow more."""
    for note in source.authorizer_notes if allowed else source.assumption_notes:
        print(note)


def _print_json(value: object) -> None:
    print(json_text(value))
