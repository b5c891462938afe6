"""Explain a decision, with the smallest change that would allow the access."""

import msgspec

from kafka_shim.authorizer.acl_rules import (
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Acl,
    AclFilter,
    Action,
    Actor,
    Decision,
    DecisionReason,
)
from kafka_shim.authorizer.networks import covers_host, unmatchable_host_reason
from kafka_shim.authorizer.remedy import (
    CheckedAction,
    RequiredAccess,
    Step,
    side_effects_of_steps,
    steps_to_allow,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import PatternType, Permission
from kafka_shim.text.message_text import count_with_noun


class InapplicableAcl(msgspec.Struct, frozen=True):
    """An ACL on the resource, for this principal, that does not apply; and why not."""

    acl: Acl
    reason: str


class Explanation(msgspec.Struct, frozen=True):
    """A decision with everything that bears on it.

    `inapplicable_acls` are those for the principal; ACLs on the resource for other principals are
    only counted. All `steps_to_allow` together would allow the action, and `steps_also_open` says
    what else.
    """

    actor: Actor
    action: Action
    decision: Decision
    other_applying_acls: tuple[Acl, ...]
    inapplicable_acls: tuple[InapplicableAcl, ...]
    other_principals_acl_count: int
    steps_to_allow: tuple[Step, ...]
    steps_also_open: tuple[str, ...] = ()


def explain_decision(
    authorizer: StandardAuthorizer, actor: Actor, action: Action, host_for_new_acls: str = WILDCARD
) -> Explanation:
    """Explain the decision about an action; proposed ACLs are for `host_for_new_acls`."""
    decision = authorizer.authorize(actor, action)
    name = action.resource_name
    on_resource = authorizer.acls(AclFilter(action.resource_type, name, PatternType.MATCH))
    applying: list[Acl] = []
    misses: list[InapplicableAcl] = []
    other_principals = 0
    access = RequiredAccess(actor, ((CheckedAction(action),),))
    for acl in sorted(on_resource, key=_acl_sort_key_by_precedence):
        if acl.principal not in (actor.principal, ANY_USER):
            other_principals += 1
            continue
        if _does_acl_apply(authorizer, actor, action, acl):
            applying.append(acl)
        else:
            misses.append(
                InapplicableAcl(acl, _inapplicability_reason(authorizer, actor, action, acl))
            )
    steps = () if decision.allowed else steps_to_allow(authorizer, (access,), host_for_new_acls)
    return Explanation(
        actor,
        action,
        decision,
        tuple(acl for acl in applying if acl != decision.acl),
        tuple(misses),
        other_principals,
        steps,
        side_effects_of_steps(authorizer, steps, (access,)),
    )


def _does_acl_apply(authorizer: StandardAuthorizer, actor: Actor, action: Action, acl: Acl) -> bool:
    """Return whether the ACL alone would decide, by the authorizer."""
    alone = StandardAuthorizer(rules=authorizer.rules, store=AclStore((acl,)))
    return alone.authorize(actor, action).reason is DecisionReason.ACL


def _inapplicability_reason(
    authorizer: StandardAuthorizer, actor: Actor, action: Action, acl: Acl
) -> str:
    """Return why an ACL with a matching pattern and principal does not apply."""
    host_networks = authorizer.rules.host_networks
    if not covers_host(acl.host, actor.host, host_networks=host_networks):
        unmatchable = unmatchable_host_reason(acl.host, host_networks=host_networks)
        return f"it is for host {acl.host}" + (f"; {unmatchable}" if unmatchable else "")
    requested_operation, acl_operation = action.operation, acl.operation
    if acl.permission is Permission.DENY and acl_operation not in operations_whose_deny_includes(
        requested_operation
    ):
        if acl_operation in operations_whose_allow_includes(requested_operation):
            return f"denying {acl_operation.name} does not deny {requested_operation.name}"
        return f"{acl_operation.name} does not include {requested_operation.name}"
    if acl_operation not in operations_whose_allow_includes(requested_operation):
        return f"{acl_operation.name} does not include {requested_operation.name}"
    return "Kafka's search passes over `*` when the name itself begins with an asterisk"


def decision_reason_text(explanation: Explanation) -> str:
    """Return the reason in words."""
    decision = explanation.decision
    match decision.reason:
        case DecisionReason.SUPER_USER:
            return f"{explanation.actor.principal} is a super user"
        case DecisionReason.ACL:
            return "an ACL allows it" if decision.allowed else "an ACL denies it; DENY always wins"
        case DecisionReason.DEFAULT_ALLOW:
            return "no ACL is on the resource, and allow.everyone.if.no.acl.found is set"
        case DecisionReason.NO_AUTHORIZER:
            return "there is no authorizer"
        case DecisionReason.DEFAULT_DENY:
            return f"no ACL allows it; {_no_acl_reason(explanation)}"


def _no_acl_reason(explanation: Explanation) -> str:
    count, other_principals = (
        len(explanation.inapplicable_acls),
        explanation.other_principals_acl_count,
    )
    if not count and not other_principals:
        return "the resource has no ACLs"
    if not count:
        return f"the resource has {count_with_noun(other_principals, 'ACL')}, for other principals"
    verb = "does" if count == 1 else "do"
    return f"{count_with_noun(count, 'ACL')} for the principal {verb} not apply"


def _acl_sort_key_by_precedence(acl: Acl) -> tuple[object, ...]:
    """Return a sort key: DENY first, then more specific patterns; longer prefixes are more
    specific.
    """
    wildcard = acl.resource_name == WILDCARD and acl.pattern_type is PatternType.LITERAL
    return (
        acl.permission,
        wildcard,
        acl.pattern_type,
        -len(acl.resource_name),
        acl.principal,
        acl.host,
        acl.operation,
    )
