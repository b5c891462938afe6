"""The permission checks of an API for a caller, with their results.

These rows count for the verdict: those without a condition (unless a denial only leaves a field
out), and of those with one, the first for each resource type that was named. The others
are shown with their condition.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.explaining.explanation import Explanation, explain_decision
from kafka_shim.authorizer.model import WILDCARD, Action, Actor, Decision
from kafka_shim.authorizer.remedy import (
    CheckedAction,
    RequiredAccess,
    Step,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.authorizer.requirement import BoundRequirement, DenialEffect, NeedAlternative
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.protocol.enums import CLUSTER_NAME, ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

Names = Mapping[ResourceType, Sequence[str]]
"""The resources that the question is about, by type."""


class NeedDecision(msgspec.Struct, frozen=True):
    """The decision about one need; `explanation` is None if any name meets the need."""

    need: NeedAlternative
    decision: Decision
    explanation: Explanation | None


class NameDecision(msgspec.Struct, frozen=True):
    """A requirement for one name: its decisions, and the error if none of them allows it.

    `accesses` are what the actor needs for it, all of them.
    """

    name: str
    checked_needs: tuple[NeedDecision, ...]
    allowed: bool
    error: ErrorCode
    accesses: tuple[RequiredAccess, ...]


class RequirementDecision(msgspec.Struct, frozen=True):
    """A requirement with an outcome for each name.

    Without outcomes it was not checked, since none of `missing_resource_types` was named.
    """

    bound: BoundRequirement
    name_outcomes: tuple[NameDecision, ...]
    counts_for_result: bool
    effect: DenialEffect
    missing_resource_types: tuple[ResourceType, ...]

    @property
    def allowed(self) -> bool:
        return all(outcome.allowed for outcome in self.name_outcomes)


class Caller(msgspec.Struct, frozen=True):
    """The caller and the authorizer; proposed ACLs are for `host_for_new_acls`."""

    authorizer: StandardAuthorizer
    actor: Actor
    host_for_new_acls: str = WILDCARD


def explain_api_checks(
    caller: Caller, api: ApiKey, version: int, release: str, names: Names
) -> list[RequirementDecision]:
    """Return the rows that this version of the API checks in the release, each with its outcome."""
    outcomes: list[RequirementDecision] = []
    types_with_condition: set[ResourceType] = set()
    for bound in requirements_of_served_versions(release):
        if bound.requirement.api is not api or not bound.is_checked_in_version(version):
            continue
        types = {need.resource_type for need in bound.needs}
        effect = bound.effect_in_version(version)
        counts = not bound.requirement.when and effect is not DenialEffect.VALUE
        if bound.requirement.when and types & names.keys() and not types & types_with_condition:
            counts = True
            types_with_condition |= types
        nameable = _required_resource_types(bound)
        missing = () if any(kind in names for kind in nameable) else nameable
        if missing and ResourceType.CLUSTER in names and ResourceType.CLUSTER in types:
            missing = ()
        cases = () if missing else _outcomes_by_name(caller, bound, names)
        outcomes.append(RequirementDecision(bound, cases, counts, effect, missing))
    return outcomes


def steps_to_allow_request(
    caller: Caller, outcomes: Iterable[RequirementDecision]
) -> tuple[Step, ...]:
    """Return the smallest change of ACLs after which all rows that count allow the request."""
    return steps_to_allow(caller.authorizer, _decisive_accesses(outcomes), caller.host_for_new_acls)


def side_effects_for_request(
    caller: Caller, steps: Iterable[Step], outcomes: Iterable[RequirementDecision]
) -> tuple[str, ...]:
    """Return what these steps for the request open beyond its accesses."""
    return side_effects_of_steps(caller.authorizer, steps, _decisive_accesses(outcomes))


def _decisive_accesses(outcomes: Iterable[RequirementDecision]) -> list[RequiredAccess]:
    return [
        access
        for outcome in outcomes
        if outcome.counts_for_result
        for case in outcome.name_outcomes
        for access in case.accesses
    ]


def _required_resource_types(bound: BoundRequirement) -> tuple[ResourceType, ...]:
    """Return the types of which the request must name a resource for the requirement."""
    return tuple(
        dict.fromkeys(
            need.resource_type
            for need in bound.needs
            if need.resource_type is not ResourceType.CLUSTER and not need.any_name
        )
    )


def _outcomes_by_name(
    caller: Caller, bound: BoundRequirement, names: Names
) -> tuple[NameDecision, ...]:
    named = next(
        (kind for kind in _required_resource_types(bound) if kind in names),
        ResourceType.CLUSTER,
    )
    each = names[named] if named is not ResourceType.CLUSTER else (CLUSTER_NAME,)
    return tuple(
        _outcome_for_name(caller, bound, dict(names) | {named: (name,)}, name) for name in each
    )


def _outcome_for_name(
    caller: Caller, bound: BoundRequirement, names: Names, name: str
) -> NameDecision:
    """Check the needs from left to right until one is met, as a broker does."""
    decisions: list[NeedDecision] = []
    for need in bound.needs:
        decision = _decide_need(caller, need, names)
        if decision is not None:
            decisions.append(decision)
            if decision.decision.allowed:
                break
    allowed = any(decision.decision.allowed for decision in decisions)
    error = ErrorCode.NONE if allowed else bound.error
    accesses = [_required_access(caller, bound.needs, names)]
    if bound.hidden_as is not None and (bound.describe_first or not allowed):
        # releases that hide what the caller may not describe
        describe = NeedAlternative(Operation.DESCRIBE, bound.needs[0].resource_type)
        accesses += [_required_access(caller, (describe,), names)] if bound.describe_first else []
        decision = _decide_need(caller, describe, names)
        if decision is not None and not decision.decision.allowed:
            decisions.insert(0, decision)
            allowed, error = False, bound.hidden_as
    return NameDecision(name, tuple(decisions), allowed, error, tuple(accesses))


def _required_access(
    caller: Caller, needs: Iterable[NeedAlternative], names: Names
) -> RequiredAccess:
    checks = (_action_of_need(need, names) for need in needs)
    return RequiredAccess(caller.actor, tuple((check,) for check in checks if check is not None))


def _action_of_need(need: NeedAlternative, names: Names) -> CheckedAction | None:
    """Return the action that a need stands for; None if its resource is not named."""
    if need.any_name:
        action = Action(need.operation, need.resource_type, WILDCARD)
    elif need.resource_type is ResourceType.CLUSTER:
        action = Action(need.operation, need.resource_type, CLUSTER_NAME)
    elif names.get(need.resource_type):
        action = Action(need.operation, need.resource_type, names[need.resource_type][0])
    else:
        return None
    return CheckedAction(action, any_name=need.any_name)


def _decide_need(caller: Caller, need: NeedAlternative, names: Names) -> NeedDecision | None:
    """Return the decision about a need; None if its resource is not named."""
    check = _action_of_need(need, names)
    if check is None:
        return None
    if check.any_name:
        decision = caller.authorizer.authorize_by_resource_type(
            caller.actor, need.operation, need.resource_type
        )
        return NeedDecision(need, decision, None)
    explanation = explain_decision(
        caller.authorizer, caller.actor, check.action, caller.host_for_new_acls
    )
    return NeedDecision(need, explanation.decision, explanation)
