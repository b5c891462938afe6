"""List who may do something: every principal in an ACL, and everyone else.

The authorizer makes the decisions, so the result agrees with the broker. Candidates are the
principals and hosts in ACLs on the resource, and one of each that is in none.
"""

from collections.abc import Iterable

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
)
from kafka_shim.protocol.enums import PatternType, Permission

NOBODY = "User:\0nobody in particular"
NOWHERE = "\0nowhere in particular"


class Right(msgspec.Struct, frozen=True):
    """An allowed principal with its `hosts`; `*` means all except `except_hosts`.

    `User:*` stands for everyone who is not listed, here or among the refusals. `acls` allow it,
    `denials` cause the exceptions.
    """

    principal: str
    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]
    because: DecisionReason
    acls: tuple[Acl, ...]
    denials: tuple[Acl, ...]

    def adds_nothing_to_everyone(self, everyone: "Right | None") -> bool:
        """Return whether everyone has the same right."""
        return everyone is not None and self == msgspec.structs.replace(
            everyone, principal=self.principal
        )


class Refusal(msgspec.Struct, frozen=True):
    """A principal that some ACL allows, and another one denies everywhere."""

    principal: str
    acls: tuple[Acl, ...]


class Response(msgspec.Struct, frozen=True):
    """The allowed principals, and those that are denied although an ACL allows it."""

    rights: tuple[Right, ...]
    refusals: tuple[Refusal, ...]


def who_can(authorizer: StandardAuthorizer, action: Action) -> Response:
    """Return everyone who may do the action, including super users."""
    matching = AclFilter(action.resource_type, action.resource_name, PatternType.MATCH)
    acls = list(authorizer.acls(matching))
    everyone = _right(ANY_USER, _decisions(authorizer, action, ANY_USER, acls))
    principals = dict.fromkeys(sorted(authorizer.super_users))
    principals |= dict.fromkeys(sorted(acl.principal for acl in acls))
    rights: list[Right] = []
    refusals: list[Refusal] = []
    for principal in principals:
        if principal == ANY_USER:
            continue
        decisions = _decisions(authorizer, action, principal, acls)
        right = _right(principal, decisions)
        if right is None:
            if _allowed_without_denies(authorizer, action, principal, acls):
                refusals.append(Refusal(principal, _denying(decisions.values())))
        elif not right.adds_nothing_to_everyone(everyone):
            rights.append(right)
    if everyone is not None:
        rights.append(everyone)
    elif _allowed_without_denies(authorizer, action, ANY_USER, acls):
        denied = _decisions(authorizer, action, ANY_USER, acls)
        refusals.append(Refusal(ANY_USER, _denying(denied.values())))
    return Response(tuple(rights), tuple(refusals))


def _decisions(
    authorizer: StandardAuthorizer, action: Action, principal: str, acls: list[Acl]
) -> dict[str, Decision]:
    """Return the decision for each relevant host of the principal, and for `*`, all others."""
    hosts = {acl.host for acl in acls if acl.principal in (principal, ANY_USER)} - {WILDCARD}
    asked = NOBODY if principal == ANY_USER else principal
    decisions = {WILDCARD: authorizer.authorize(Actor(asked, NOWHERE), action)}
    for host in sorted(hosts):
        decisions[host] = authorizer.authorize(Actor(asked, host), action)
    return decisions


def _right(principal: str, decisions: dict[str, Decision]) -> Right | None:
    allowed = [host for host, decision in decisions.items() if decision.allowed]
    if not allowed:
        return None
    everywhere = WILDCARD in allowed
    relevant = [decisions[WILDCARD]] if everywhere else [decisions[host] for host in allowed]
    return Right(
        principal,
        (WILDCARD,) if everywhere else tuple(allowed),
        tuple(h for h in decisions if h not in allowed) if everywhere else (),
        relevant[0].reason,
        tuple(dict.fromkeys(d.acl for d in relevant if d.acl is not None)),
        _denying(decisions.values()) if everywhere else (),
    )


def _denying(decisions: Iterable[Decision]) -> tuple[Acl, ...]:
    return tuple(dict.fromkeys(d.acl for d in decisions if d.acl is not None and not d.allowed))


def _allowed_without_denies(
    authorizer: StandardAuthorizer, action: Action, principal: str, acls: list[Acl]
) -> bool:
    """Return whether the principal would be allowed without the DENY ACLs."""
    without_denials = StandardAuthorizer(rules=authorizer.rules)
    for acl in acls:
        if acl.permission is Permission.ALLOW:
            without_denials.store.add(acl)
    return _right(principal, _decisions(without_denials, action, principal, acls)) is not None
