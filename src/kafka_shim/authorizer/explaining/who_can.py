"""List the principals that are allowed an action: those in ACLs, and everyone else.

The authorizer makes the decisions, so the result agrees with the broker. Candidates are the
principals and hosts in ACLs on the resource, and one of each that is in none.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

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
    acls_to_objects,
)
from kafka_shim.authorizer.networks import unmatchable_host_reason
from kafka_shim.protocol.enums import PatternType, Permission

NOBODY = "User:\0nobody in particular"
NOWHERE = "\0nowhere in particular"


class AllowedPrincipal(msgspec.Struct, frozen=True):
    """An allowed principal with its `hosts`; `*` means all except `except_hosts`.

    `User:*` stands for everyone who is not listed, here or among the denied ones. `acls` allow
    it, `exception_acls` cause the exceptions.
    """

    principal: str
    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    because: DecisionReason
    acls: tuple[Acl, ...]
    exception_acls: tuple[Acl, ...]

    def is_covered_by_everyone(self, everyone: "AllowedPrincipal | None") -> bool:
        """Return whether everyone is allowed in the same way, so that the entry is superfluous."""
        return everyone is not None and self == msgspec.structs.replace(
            everyone, principal=self.principal
        )


class DeniedPrincipal(msgspec.Struct, frozen=True):
    """A principal that some ACL allows, and another one denies everywhere."""

    principal: str
    denying_acls: tuple[Acl, ...]


class WhoCanResult(msgspec.Struct, frozen=True):
    """The allowed principals, and those that are denied although an ACL allows it."""

    allowed_principals: tuple[AllowedPrincipal, ...]
    denied_principals: tuple[DeniedPrincipal, ...]


def who_can(
    authorizer: StandardAuthorizer,
    action: Action,
) -> WhoCanResult:
    """Return everyone who may do the action, including super users."""
    matching = AclFilter(action.resource_type, action.resource_name, PatternType.MATCH)
    acls = list(authorizer.acls(matching))
    everyone = _allowed_principal(ANY_USER, _decisions_by_host(authorizer, action, ANY_USER, acls))
    principals = dict.fromkeys(sorted(authorizer.super_users))
    principals |= dict.fromkeys(sorted(acl.principal for acl in acls))
    allowed_principals: list[AllowedPrincipal] = []
    denied_principals: list[DeniedPrincipal] = []
    for principal in principals:
        if principal == ANY_USER:
            continue
        decisions = _decisions_by_host(authorizer, action, principal, acls)
        allowed = _allowed_principal(principal, decisions)
        if allowed is None:
            if _is_denied_despite_allow(authorizer, action, principal, acls):
                denied_principals.append(
                    DeniedPrincipal(principal, _denying_acls(decisions.values()))
                )
        elif not allowed.is_covered_by_everyone(everyone):
            allowed_principals.append(allowed)
    if everyone is not None:
        allowed_principals.append(everyone)
    elif _is_denied_despite_allow(authorizer, action, ANY_USER, acls):
        denied = _decisions_by_host(authorizer, action, ANY_USER, acls)
        denied_principals.append(DeniedPrincipal(ANY_USER, _denying_acls(denied.values())))
    return WhoCanResult(tuple(allowed_principals), tuple(denied_principals))


def _decisions_by_host(
    authorizer: StandardAuthorizer, action: Action, principal: str, acls: list[Acl]
) -> dict[str, Decision]:
    """Return the decision for each relevant host of the principal, and for `*`, all others."""
    networks = authorizer.rules.host_networks
    hosts = {
        acl.host
        for acl in acls
        if acl.principal in (principal, ANY_USER)
        and unmatchable_host_reason(acl.host, host_networks=networks) is None
    } - {WILDCARD}
    asking_principal = NOBODY if principal == ANY_USER else principal
    decisions = {WILDCARD: authorizer.authorize(Actor(asking_principal, NOWHERE), action)}
    for host in sorted(hosts):
        decisions[host] = authorizer.authorize(Actor(asking_principal, host), action)
    return decisions


def _allowed_principal(principal: str, decisions: dict[str, Decision]) -> AllowedPrincipal | None:
    allowed = [host for host, decision in decisions.items() if decision.allowed]
    if not allowed:
        return None
    everywhere = WILDCARD in allowed
    relevant = [decisions[WILDCARD]] if everywhere else [decisions[host] for host in allowed]
    return AllowedPrincipal(
        principal,
        (WILDCARD,) if everywhere else tuple(allowed),
        tuple(h for h in decisions if h not in allowed) if everywhere else (),
        relevant[0].reason,
        tuple(dict.fromkeys(d.acl for d in relevant if d.acl is not None)),
        _denying_acls(decisions.values()) if everywhere else (),
    )


def _denying_acls(decisions: Iterable[Decision]) -> tuple[Acl, ...]:
    return tuple(dict.fromkeys(d.acl for d in decisions if d.acl is not None and not d.allowed))


def _is_denied_despite_allow(
    authorizer: StandardAuthorizer, action: Action, principal: str, acls: list[Acl]
) -> bool:
    """Return whether the principal would be allowed without the DENY ACLs."""
    without_denials = StandardAuthorizer(rules=authorizer.rules)
    for acl in acls:
        if acl.permission is Permission.ALLOW:
            without_denials.store.add(acl)
    return (
        _allowed_principal(principal, _decisions_by_host(without_denials, action, principal, acls))
        is not None
    )


def find_unmatchable_acls(
    authorizer: StandardAuthorizer, action: Action
) -> Iterator[tuple[Acl, str]]:
    """Yield the ACLs on the resource whose host is no client's, each with the reason."""
    matching = AclFilter(action.resource_type, action.resource_name, PatternType.MATCH)
    for acl in authorizer.acls(matching):
        reason = unmatchable_host_reason(acl.host, host_networks=authorizer.rules.host_networks)
        if reason is not None:
            yield acl, reason


def who_can_json(action: Action, result: WhoCanResult) -> dict[str, Any]:
    """Return allowed principals, and denied ones with an ALLOW, as an object."""
    return {
        "operation": action.operation.name,
        "resource_type": action.resource_type.name,
        "resource_name": action.resource_name,
        "allowed": [_allowed_principal_json(allowed) for allowed in result.allowed_principals],
        "denied": [_denied_principal_json(denied) for denied in result.denied_principals],
    }


def _allowed_principal_json(allowed: AllowedPrincipal) -> dict[str, Any]:
    return {
        "principal": allowed.principal,
        "everyone": allowed.principal == ANY_USER,
        "hosts": allowed.hosts,
        "except_hosts": allowed.except_hosts,
        "because": allowed.because.name,
        "acls": acls_to_objects(allowed.acls),
        "denials": acls_to_objects(allowed.exception_acls),
    }


def _denied_principal_json(denied: DeniedPrincipal) -> dict[str, Any]:
    return {"principal": denied.principal, "acls": acls_to_objects(denied.denying_acls)}
