"""Verdicts about expectations as text, JSON, JUnit XML and GitHub annotations."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.model import ANY_USER, acls_to_objects
from kafka_shim.policy.descriptions import (
    decision_object,
    decision_rule_text,
    hosts_text,
    names_object,
    resources_text,
)
from kafka_shim.policy.expectation_check import CheckedAccess, Verdict
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.judged_expectations import JudgedExpectation, failed_expectations
from kafka_shim.policy.step_texts import step_command, step_object
from kafka_shim.text.junit_xml import JunitCase
from kafka_shim.text.line_findings import SarifResult, github_annotation as github

SHOWN_MAX = 5
"""Answers shown for an expectation that does not hold; JSON has all."""

RULES_MAX = 3
SARIF_RULES = {"expectation": "An expectation about the ACLs does not hold."}
_NO_CHANGE = "no ACL can change this"


def verdict_lines(judged: JudgedExpectation) -> Iterator[str]:
    verdict = judged.verdict
    state = "FAIL" if judged.is_failure else "EXCEPTED" if judged.has_valid_exception else "ok  "
    exception = f" ({judged.exception_text})" if judged.has_valid_exception else ""
    yield f"{state} {judged.place_text}: {verdict.expectation.description}{exception}"
    yield from (f"     {line}" for line in _failure_lines(judged))


def verdict_summary(judged: Sequence[JudgedExpectation]) -> str:
    """Return a line such as `2 of 3 expectations hold in Kafka 4.4`."""
    releases = dict.fromkeys(each.verdict.expectation.release for each in judged)
    excepted = sum(each.has_valid_exception for each in judged)
    held = len(judged) - len(failed_expectations(judged)) - excepted
    more = f", {excepted} excepted" if excepted else ""
    return f"{held} of {len(judged)} expectations hold in Kafka {', '.join(releases)}{more}"


def verdict_annotation(judged: JudgedExpectation) -> str:
    """Return the annotation that GitHub shows beside the line."""
    message = "\n".join((judged.verdict.expectation.description, *_failure_lines(judged)))
    return github("error", judged.located.path, judged.located.line, message)


def verdict_sarif_result(judged: JudgedExpectation) -> SarifResult:
    text = "\n".join((judged.verdict.expectation.description, *_failure_lines(judged)))
    return SarifResult("expectation", "error", judged.located.path, judged.located.line, text)


def junit_case(judged: JudgedExpectation) -> JunitCase:
    location, text = judged.located, judged.verdict.expectation.description
    case = JunitCase(classname=location.path, name=text, file=location.path, line=location.line)
    if not judged.is_failure:
        return case
    lines = list(_failure_lines(judged))
    return msgspec.structs.replace(case, failure=lines[0], output="\n".join(lines))


def verdict_object(judged: JudgedExpectation) -> dict[str, Any]:
    verdict = judged.verdict
    return {
        "file": judged.located.path,
        "line": judged.located.line,
        "expectation": verdict.expectation.description,
        "release": verdict.expectation.release,
        "held": verdict.holds,
        "failed": judged.is_failure,
        "exception": judged.exception_text or None,
        "responses": [
            _checked_access_object(access) for access in verdict.violating_or_confirming_accesses
        ],
        "acls": acls_to_objects(verdict.existing_forbidden_acls),
        "to_hold": list(map(step_object, verdict.steps)),
        "to_hold_without_deny": list(map(step_object, verdict.removals)),
        "also_changes": list(verdict.also_changes),
    }


def _failure_lines(judged: JudgedExpectation) -> Iterator[str]:
    if judged.has_expired_exception:
        yield f"the exception expired: {judged.exception_text}"
    yield from explanation_lines(judged.verdict)


def explanation_lines(verdict: Verdict) -> Iterator[str]:
    if verdict.holds:
        rules = dict.fromkeys(
            decision_rule_text(access.decision)
            for access in verdict.violating_or_confirming_accesses
        )
        shown = list(rules)[:RULES_MAX]
        yield from (f"because: {rule}" for rule in shown)
        if len(rules) > len(shown):
            yield f"and {len(rules) - len(shown)} more"
        return
    yield from (f"there is {acl_line(acl)}" for acl in verdict.existing_forbidden_acls[:SHOWN_MAX])
    yield from (
        _checked_access_text(response)
        for response in verdict.violating_or_confirming_accesses[:SHOWN_MAX]
    )
    unlisted_count = (
        max(len(verdict.existing_forbidden_acls), len(verdict.violating_or_confirming_accesses))
        - SHOWN_MAX
    )
    if unlisted_count > 0:
        yield f"and {unlisted_count} more"
    if not verdict.steps:
        yield _NO_CHANGE
        return
    if verdict.removals:
        yield "to make it hold, remove what allows it, with all other access that it gives:"
        yield from (f"  {step_command(step)}" for step in verdict.removals)
        yield "or deny exactly this:"
    else:
        yield "to make it hold:"
    yield from (f"  {step_command(step)}" for step in verdict.steps)
    yield from (f"  note: {text}" for text in verdict.also_changes)


def _checked_access_text(access: CheckedAccess) -> str:
    principal = "everyone else" if access.principal == ANY_USER else access.principal
    may = "may" if access.decision.allowed else "may not"
    kind = access.need.resource_type
    resource = resources_text(kind, None if access.need.any_name else access.names)
    row = f" ({access.clause.requirement_id})" if access.clause.requirement_id else ""
    return (
        f"{principal} {may} {camel_case(access.need.operation)} on {resource}"
        f"{hosts_text([access.host])}{row}: {decision_rule_text(access.decision)}"
    )


def _checked_access_object(access: CheckedAccess) -> dict[str, Any]:
    return {
        "principal": access.principal,
        "host": access.host,
        "operation": access.need.operation.name,
        "resource_type": access.need.resource_type.name,
        "names": None if access.names is None else names_object(access.names),
        "requirement": access.clause.requirement_id,
        **decision_object(access.decision),
    }
