"""Explanations as text and as JSON objects."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.explaining.api_explanation import (
    NameDecision,
    NeedDecision,
    RequirementDecision,
)
from kafka_shim.authorizer.explaining.explanation import Explanation, decision_reason_text
from kafka_shim.authorizer.model import acl_to_object, acls_to_objects
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.cli.usage import resource_option_text
from kafka_shim.policy.descriptions import action_text, decision_object
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.step_texts import step_command, step_object
from kafka_shim.protocol.error_codes import ErrorCode

_PLACE_OF_ERROR = {
    DenialEffect.TOP: "as its error code",
    DenialEffect.EACH: "for each denied element",
    DenialEffect.BOTH: "as its error code and for each denied element",
    DenialEffect.VALUE: "in a separate field",
}


def explanation_lines(
    explanation: Explanation, bootstrap_server: str | None, denied_text: str = "denied"
) -> Iterator[str]:
    """Yield the lines of `explain` for one access; `denied_text` is the verdict if it is denied."""
    actor, action = explanation.actor, explanation.action
    allowed = explanation.decision.allowed
    yield (
        f"{'allowed' if allowed else denied_text}: {action_text(action)}"
        f" by {actor.principal} from {actor.host}"
    )
    yield f"because {decision_reason_text(explanation)}{':' if explanation.decision.acl else ''}"
    if explanation.decision.acl is not None:
        yield f"  {acl_line(explanation.decision.acl)}"
    if explanation.other_applying_acls:
        yield "also applies:"
        yield from (f"  {acl_line(acl)}" for acl in explanation.other_applying_acls)
    if explanation.inapplicable_acls:
        yield "does not apply:"
        for miss in explanation.inapplicable_acls:
            yield f"  {acl_line(miss.acl)}"
            yield f"    {miss.reason}"
    yield from remedy_lines(
        explanation.steps_to_allow, bootstrap_server, explanation.steps_also_open
    )


def remedy_lines(
    steps: Sequence[Step], bootstrap_server: str | None, also_open: Iterable[str] = ()
) -> Iterator[str]:
    """Yield the lines about steps that together allow an access or a request, and what else."""
    if steps:
        yield "to allow it:" if len(steps) == 1 else "to allow it, all of:"
        yield from (f"  {step_command(step, bootstrap_server)}" for step in steps)
        yield from (f"  note: {text}" for text in also_open)


def requirement_outcome_lines(outcome: RequirementDecision) -> Iterator[str]:
    """Yield the lines for one requirement of an API, with its cases."""
    row = outcome.bound.requirement
    condition = f" (only if {row.when})" if row.when else ""
    if not outcome.name_outcomes:
        options = " or ".join(map(resource_option_text, outcome.missing_resource_types))
        yield f"{row.id}{condition}: not evaluated, because no name is given; add {options}"
        return
    aside = "" if outcome.counts_for_result else "; without effect on the exit code"
    yield f"{row.id}{condition}{aside}"
    for case in outcome.name_outcomes:
        yield from (f"  {line}" for line in _name_outcome_lines(case, outcome))


def _name_outcome_lines(case: NameDecision, outcome: RequirementDecision) -> Iterator[str]:
    for need_decision in case.checked_needs:
        outcome_text = "allowed" if need_decision.decision.allowed else "denied"
        yield f"{_need_text(need_decision)}: {outcome_text}"
        yield from (f"  {line}" for line in _reason_lines(need_decision))
    if case.allowed:
        return
    yield _denied_response_text(case.error, outcome.effect)
    if outcome.bound.requirement.note:
        yield f"note: {outcome.bound.requirement.note}"


def _reason_lines(need_decision: NeedDecision) -> Iterator[str]:
    if need_decision.explanation is not None:
        yield f"because {decision_reason_text(need_decision.explanation)}"
    elif need_decision.decision.allowed:
        yield "because " + need_decision.decision.reason.value
    else:
        yield "because no ACL allows it, or a DENY overrides each that does (KIP-679)"
    if need_decision.decision.acl is not None:
        yield f"  {acl_line(need_decision.decision.acl)}"


def _need_text(need_decision: NeedDecision) -> str:
    if need_decision.explanation is None:
        kind = need_decision.need.resource_type.name.lower().replace("_", " ")
        return f"{camel_case(need_decision.need.operation)} on any {kind}"
    return action_text(need_decision.explanation.action)


def _denied_response_text(error: ErrorCode, effect: DenialEffect) -> str:
    """Return what the response to a denied request contains."""
    if effect is DenialEffect.HIDE:
        return "the response leaves this name out, without an error"
    if effect is DenialEffect.EMPTY:
        return "the response is empty, without an error code"
    if effect is DenialEffect.STATUS:
        return "the response has no error; a status shows the denial"
    if error is ErrorCode.NONE:
        return "the response has no error; a separate field shows the denial"
    return f"the response has {error.name} ({error:d}) {_PLACE_OF_ERROR[effect]}"


def explanation_object(explanation: Explanation, bootstrap_server: str | None) -> dict[str, Any]:
    """Return an explanation as a JSON object."""
    actor, action, decision = explanation.actor, explanation.action, explanation.decision
    return {
        "principal": actor.principal,
        "host": actor.host,
        "operation": action.operation.name,
        "resource_type": action.resource_type.name,
        "resource_name": action.resource_name,
        "allowed": decision.allowed,
        "because": decision.reason.name,
        "reason": decision_reason_text(explanation),
        "acl": decision.acl and acl_to_object(decision.acl),
        "also_applies": acls_to_objects(explanation.other_applying_acls),
        "does_not_apply": [
            {"acl": acl_to_object(miss.acl), "why": miss.reason}
            for miss in explanation.inapplicable_acls
        ],
        "acls_of_other_principals": explanation.other_principals_acl_count,
        "to_allow": remedy_step_objects(explanation.steps_to_allow, bootstrap_server),
        "also_opens": list(explanation.steps_also_open),
    }


def remedy_step_objects(
    steps: Iterable[Step], bootstrap_server: str | None
) -> list[dict[str, Any]]:
    """Return the steps of a remedy as JSON objects."""
    return [
        {**step_object(step), "command": step_command(step, bootstrap_server)} for step in steps
    ]


def requirement_outcome_object(
    outcome: RequirementDecision, bootstrap_server: str | None
) -> dict[str, Any]:
    """Return one requirement of an API as a JSON object."""
    row = outcome.bound.requirement
    return {
        "id": row.id,
        "when": row.when or None,
        "counts": outcome.counts_for_result,
        "asked": bool(outcome.name_outcomes),
        "missing": [kind.name for kind in outcome.missing_resource_types],
        "allowed": outcome.allowed if outcome.name_outcomes else None,
        "effect": outcome.effect.name,
        "cases": [
            {
                "name": case.name,
                "allowed": case.allowed,
                "error": case.error.name,
                "error_code": int(case.error),
                "questions": [
                    _need_decision_object(need_decision, bootstrap_server)
                    for need_decision in case.checked_needs
                ],
            }
            for case in outcome.name_outcomes
        ],
    }


def _need_decision_object(
    need_decision: NeedDecision, bootstrap_server: str | None
) -> dict[str, Any]:
    if need_decision.explanation is not None:
        return explanation_object(need_decision.explanation, bootstrap_server)
    return {
        "operation": need_decision.need.operation.name,
        "resource_type": need_decision.need.resource_type.name,
        "resource_name": None,
        **decision_object(need_decision.decision),
    }
