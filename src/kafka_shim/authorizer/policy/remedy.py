"""The smallest change of ACLs that allows or denies an access."""

from collections.abc import Iterator

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.implied import allowing, denying
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor
from kafka_shim.authorizer.policy.names import Names, names_of, pattern_of
from kafka_shim.authorizer.policy.questions import asker, place
from kafka_shim.authorizer.store import acl_of
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


class Step(msgspec.Struct, frozen=True):
    """A step: add this ACL, or remove it."""

    is_addition: bool
    acl: Acl


class Wish(msgspec.Struct, frozen=True):
    """An operation of a principal from a host, on all of `names`; `*`
    stands for all other hosts.
    """

    principal: str
    host: str
    operation: Operation
    resource_type: ResourceType
    names: Names

    def question(self, name: str) -> tuple[Actor, Action]:
        actor = Actor(asker(self.principal), place(self.host))
        return actor, Action(self.operation, self.resource_type, name)

    def entry(self, permission: Permission, host: str) -> Acl:
        """Return the narrowest ACL that covers it."""
        name, pattern_type = pattern_of(self.names)
        if self.resource_type is ResourceType.CLUSTER:
            name, pattern_type = self.names.text, PatternType.LITERAL
        return Acl(
            self.resource_type,
            name,
            pattern_type,
            self.principal,
            host,
            self.operation,
            permission,
        )


def to_allow(authorizer: StandardAuthorizer, wish: Wish, name: str, host: str) -> tuple[Step, ...]:
    """Return the steps that allow it: remove every DENY that applies to the name, add an ALLOW.

    `host` is that of a new ACL. A super user needs no steps.
    """
    if wish.principal in authorizer.super_users:
        return ()
    applying = list(_applying(authorizer, wish, name))
    steps = [
        Step(is_addition=False, acl=acl) for acl in applying if acl.permission is Permission.DENY
    ]
    if not any(acl.permission is Permission.ALLOW for acl in applying):
        steps.append(Step(is_addition=True, acl=wish.entry(Permission.ALLOW, host)))
    return tuple(steps)


def to_deny(authorizer: StandardAuthorizer, wish: Wish, name: str) -> tuple[Step, ...]:
    """Return the steps that deny it.

    An ALLOW that allows nothing else, or that is for all principals, is removed; otherwise a DENY
    for exactly this is added. A super user cannot be denied.
    """
    if wish.principal in authorizer.super_users:
        return ()
    applying = [
        acl for acl in _applying(authorizer, wish, name) if acl.permission is Permission.ALLOW
    ]
    if applying and (wish.principal == ANY_USER or all(_is_within(acl, wish) for acl in applying)):
        return tuple(Step(is_addition=False, acl=acl) for acl in applying)
    return (Step(is_addition=True, acl=wish.entry(Permission.DENY, wish.host)),)


def _applying(authorizer: StandardAuthorizer, wish: Wish, name: str) -> Iterator[Acl]:
    """Yield the ACLs that allow or deny it, the most specific pattern first."""
    actor, action = wish.question(name)
    store = authorizer.store
    bits = {
        Permission.ALLOW: allowing(action.operation),
        Permission.DENY: denying(action.operation),
    }
    starred = authorizer.rules.wildcard_covers_starred
    for pattern in store.patterns_deciding(action.resource_type, name, starred):
        for subject in store.subjects_of(actor):
            grant = pattern.grant_of(subject)
            while grant:
                acl = acl_of(pattern, subject, (grant & -grant).bit_length() - 1)
                grant &= grant - 1
                if acl.operation in bits[acl.permission]:
                    yield acl


def _is_within(acl: Acl, wish: Wish) -> bool:
    return (
        acl.principal == wish.principal
        and acl.operation is wish.operation
        and acl.host == wish.host
        and wish.names.includes(names_of(acl))
    )
