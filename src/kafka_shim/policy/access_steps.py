"""The changes of ACLs that make an expected access allowed, or denied."""

from collections.abc import Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import grant_bits
from kafka_shim.authorizer.model import ANY_USER, Acl, Action, Actor, DecisionReason
from kafka_shim.authorizer.patterns import GrantBits
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess, Step, steps_to_allow
from kafka_shim.authorizer.store import acls_of_grant
from kafka_shim.policy.checked_accesses import (
    sample_host,
    sample_principal,
)
from kafka_shim.policy.name_sets import (
    NameSet,
    names_covered_by_acl,
    pattern_covering_names,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType


class PolicyAccess(msgspec.Struct, frozen=True):
    """An operation of a principal on all of `names`; the host `*` stands for all other hosts."""

    principal: str
    host: str
    operation: Operation
    resource_type: ResourceType
    names: NameSet

    def sample_access(self, name: str) -> tuple[Actor, Action]:
        """Return an actor and an action that stand for the access to one of its names."""
        actor = Actor(sample_principal(self.principal), sample_host(self.host))
        return actor, Action(self.operation, self.resource_type, name)

    def narrowest_acl(self, permission: Permission, host: str) -> Acl:
        """Return the narrowest ACL that covers all names."""
        name, pattern_type = pattern_covering_names(self.names)
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


def steps_to_allow_access(
    authorizer: StandardAuthorizer, access: PolicyAccess, sample_name: str, host_of_added_acl: str
) -> tuple[Step, ...]:
    """Return the smallest set of steps that allow the access to one of its names.

    An added ACL covers all names, and is for `host`. A super user needs no steps.
    """
    actor, action = access.sample_access(sample_name)
    if access.principal in authorizer.super_users:
        return ()
    new_acl = access.narrowest_acl(Permission.ALLOW, host_of_added_acl)
    if _adding_suffices(authorizer, new_acl, actor, action):
        return (Step(is_addition=True, acl=new_acl),)
    required = RequiredAccess(actor, ((CheckedAction(action, acl_to_add=new_acl),),))
    return steps_to_allow(authorizer, (required,), host_of_added_acl)


def _adding_suffices(
    authorizer: StandardAuthorizer, acl: Acl, actor: Actor, action: Action
) -> bool:
    """Return whether nothing but this ACL is missing to an access: the usual case, and much faster
    to decide than to search for steps.
    """
    if authorizer.decide_uncached(actor, action).reason is not DecisionReason.DEFAULT_DENY:
        return False
    is_new = authorizer.store.add(acl)
    is_allowed = authorizer.decide_uncached(actor, action).allowed
    if is_new:
        authorizer.store.remove(acl)
    return is_new and is_allowed


def steps_to_deny_access(
    authorizer: StandardAuthorizer, access: PolicyAccess, allows: Sequence[Acl]
) -> tuple[Step, ...]:
    """Return the steps that deny the access, which `allows` allow.

    An ALLOW that allows nothing else, or that is for all principals, is removed; otherwise a DENY
    for exactly this is added. A super user cannot be denied.
    """
    if access.principal in authorizer.super_users:
        return ()
    if allows and (
        access.principal == ANY_USER or all(_acl_is_within_access(acl, access) for acl in allows)
    ):
        return tuple(Step(is_addition=False, acl=acl) for acl in allows)
    return (Step(is_addition=True, acl=access.narrowest_acl(Permission.DENY, access.host)),)


def acls_that_allow(
    authorizer: StandardAuthorizer, access: PolicyAccess, sample_name: str
) -> list[Acl]:
    """Return all ACLs that allow the access to one of its names, also broader ones."""
    allowing, _ = grant_bits(access.operation)
    return _find_applying_acls(authorizer, access, sample_name, allowing)


def acls_applying_to(
    authorizer: StandardAuthorizer, access: PolicyAccess, sample_name: str
) -> list[Acl]:
    """Return the ACLs that allow or deny it, the most specific pattern first."""
    allowing, denying = grant_bits(access.operation)
    return _find_applying_acls(authorizer, access, sample_name, allowing | denying)


def _find_applying_acls(
    authorizer: StandardAuthorizer, access: PolicyAccess, sample_name: str, bits: GrantBits
) -> list[Acl]:
    actor, action = access.sample_access(sample_name)
    store = authorizer.store
    starred = authorizer.rules.wildcard_covers_starred_names
    patterns = store.patterns_used_for_decision(action.resource_type, sample_name, starred)
    subjects = store.subjects_including(actor)
    return [
        acl
        for pattern in patterns
        for subject in subjects
        if (grant := pattern.grant_bits_of(subject) & bits)
        for acl in acls_of_grant(pattern, subject, grant)
    ]


def _acl_is_within_access(acl: Acl, access: PolicyAccess) -> bool:
    return (
        acl.principal == access.principal
        and acl.operation is access.operation
        and acl.host == access.host
        and access.names.includes_names(names_covered_by_acl(acl))
    )
