"""What a change of ACLs would do, and in what two principals differ, before anything changes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kafka_shim.authorizer.access_plan import AlternativeActions
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl, Actor, Decision
from kafka_shim.authorizer.remedy import is_allowed, required_access_for_need
from kafka_shim.policy.access_changes import AccessChange
from kafka_shim.policy.checked_accesses import InexactReleaseError
from kafka_shim.policy.descriptions import (
    action_text,
    changed_access_text,
    decision_rule_text,
    principal_text,
)
from kafka_shim.policy.diff import (
    DescribedChange,
    described_changes,
    sort_described_changes,
)
from kafka_shim.policy.policy import Policy
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.shim.control.access_matrix import existing_resource_names
from kafka_shim.shim.control.control_error import (
    ControlError,
    authorizer_of,
    query_principal,
)
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.observing.request_remedy import checked_requirements
from kafka_shim.shim.state.cluster import Cluster

NAMES_MAX = 20
"""How many existing resources and observed accesses a preview names; it counts all of them."""

_NOBODY = "Nobody:nobody"

Row = dict[str, Any]


def preview_of_acl_change(
    cluster: Cluster, history: History, removed: Sequence[Acl], added: Sequence[Acl]
) -> Row:
    """Return who would gain and lose what, on which existing resources, and which of the kept
    accesses would be decided otherwise.

    Raise ControlError for an authorizer that is not StandardAuthorizer, and for a release for which
    nothing can be said about all names.
    """
    old = _policy_of_cluster(cluster)
    remaining = dict.fromkeys(old.acls)
    for acl in removed:
        remaining.pop(acl, None)
    new = msgspec.structs.replace(old, acls=tuple(remaining | dict.fromkeys(added)))
    observed = _changed_request_accesses(history, old.authorizer(), new.authorizer())
    return {
        "changes": [_change_row(cluster, each) for each in _noticeable_changes(old, new)],
        "observed": observed[:NAMES_MAX],
        "observed_count": len(observed),
        "requests": sum(1 for _ in history),
    }


def difference_of_principals(cluster: Cluster, query: Mapping[str, str]) -> Row:
    """Return what one principal may and the other may not, with the reasons of both."""
    first, second = (query_principal(query, name) for name in ("first", "second"))
    if first is None or second is None or ANY_USER in (first, second):
        raise ControlError(400, "expected first and second, such as User:alice and User:bob")
    policy = _policy_of_cluster(cluster)
    differences = _noticeable_changes(
        _single_principal_policy(policy, first, first),
        _single_principal_policy(policy, second, first),
    )
    return {
        "first": first,
        "second": second,
        "differences": [
            _difference_row(cluster, each, first, second)
            for each in differences
            if each.change.principal == first
        ],
    }


def _policy_of_cluster(cluster: Cluster) -> Policy:
    authorizer = authorizer_of(cluster)
    if not isinstance(authorizer, StandardAuthorizer):
        raise ControlError(409, "an authorizer of your own decides: nothing can be said in advance")
    return Policy(
        tuple(authorizer.store),
        release=cluster.policy.release,
        super_users=authorizer.super_users,
        allow_everyone=authorizer.allow_everyone,
    )


def _single_principal_policy(policy: Policy, principal: str, name: str) -> Policy:
    """Return the policy with the rights of one principal alone, under a name.

    ACLs of others stay, as nobody's, since allow.everyone.if.no.acl.found asks whether a resource
    has any.
    """
    names = {ANY_USER: ANY_USER, principal: name}
    acls = dict.fromkeys(
        msgspec.structs.replace(acl, principal=names.get(acl.principal, _NOBODY))
        for acl in policy.acls
    )
    supers = frozenset({name} if principal in policy.super_users else ())
    return msgspec.structs.replace(policy, acls=tuple(acls), super_users=supers)


def _noticeable_changes(old: Policy, new: Policy) -> list[DescribedChange]:
    """Return the changes that a client can notice: not those of hosts or names that none has."""
    try:
        changes = sort_described_changes(described_changes(old, new))
    except InexactReleaseError as error:
        raise ControlError(409, str(error)) from error
    return [each for each in changes if each.witness is not None]


def _change_row(cluster: Cluster, each: DescribedChange) -> Row:
    change = each.change
    return _changed_access_row(cluster, change) | {
        "gained": change.gained,
        "principal": principal_text(change.principal, change.except_principals),
        "example": each.example,
    }


def _changed_access_row(cluster: Cluster, change: AccessChange) -> Row:
    names = list(_affected_resource_names(cluster, change))
    return {
        "access": changed_access_text(change),
        "existing": names[:NAMES_MAX],
        "existing_count": len(names),
    }


def _difference_row(cluster: Cluster, each: DescribedChange, first: str, second: str) -> Row:
    """Return what only one of two principals may; both decide under the name of the first."""
    assert each.witness is not None, "a change that a client can notice"
    decisions = (each.witness.before, first), (each.witness.after, second)
    because = [
        decision_rule_text(_restore_acl_principal(*decision, name=first)) for decision in decisions
    ]
    return _changed_access_row(cluster, each.change) | {
        "only": second if each.change.gained else first,
        "because": because,
    }


def _restore_acl_principal(decision: Decision, principal: str, *, name: str) -> Decision:
    """Return the decision with the principal that its ACL has, instead of the name."""
    if decision.acl is None or decision.acl.principal != name:
        return decision
    acl = msgspec.structs.replace(decision.acl, principal=principal)
    return msgspec.structs.replace(decision, acl=acl)


def _affected_resource_names(cluster: Cluster, change: AccessChange) -> Iterator[str]:
    """Yield the existing resources that a change is about, by name."""
    if change.names is not None and change.resource_type is not ResourceType.CLUSTER:
        for name in sorted(existing_resource_names(cluster, change.resource_type)):
            if change.concerns_name(name):
                yield name


def _changed_request_accesses(
    history: History, before: StandardAuthorizer, after: StandardAuthorizer
) -> list[Row]:
    """Return what kept requests needed that is decided otherwise after a change, by requests."""
    counts: Counter[tuple[Actor, AlternativeActions]] = Counter()
    for entry in history:
        actor = Actor(entry.principal, entry.host)
        counts.update((actor, need) for need in dict.fromkeys(checked_requirements(entry.records)))
    rows = []
    for (actor, need), count in counts.most_common():
        access = required_access_for_need(actor, need)
        is_allowed_after = is_allowed(after, access)
        if is_allowed_after is not is_allowed(before, access):
            rows.append(
                {
                    "principal": actor.principal,
                    "host": actor.host,
                    "access": " or ".join(map(action_text, need.actions)),
                    "requests": count,
                    "allowed": is_allowed_after,
                }
            )
    return rows
