"""The smallest set of changes to the ACLs after which denied accesses are allowed.

Every page, log and command that says what would allow something uses `steps_to_allow`. It works on
a copy of the ACLs that bear on the accesses, decides with the authorizer itself after each step,
and finally drops every step without which everything is allowed, too. So the steps are whole, and
none of them is superfluous.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import msgspec

from kafka_shim.authorizer.access_plan import AnyOf
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.decide import PROBE
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Acl,
    AclFilter,
    Action,
    Actor,
    Decision,
    narrowest_allow,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

_EXACT_SEARCH_MAX = 8
"""Up to this many steps, every subset is tried; of more, steps are left out one by one."""
_INCLUDED = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
"""Operations that others include; an ACL for one of those makes one for these superfluous."""


class Step(msgspec.Struct, frozen=True):
    """One change: add exactly this ACL, or remove it."""

    is_addition: bool
    acl: Acl

    @property
    def verb(self) -> str:
        return "add" if self.is_addition else "remove"


class CheckedAction(msgspec.Struct, frozen=True):
    """An action that the broker checks.

    `any_name`: on any resource of the type (KIP-679). `new_acl` is the ACL that allows it if no
    other one does; None for the narrowest.
    """

    action: Action
    any_name: bool = False
    new_acl: Acl | None = None


class RequiredAccess(msgspec.Struct, frozen=True):
    """An access that an actor needs: all actions of any one alternative."""

    actor: Actor
    alternatives: tuple[tuple[CheckedAction, ...], ...]


def required_access(actor: Actor, need: AnyOf) -> RequiredAccess:
    """Return the access that meets a requirement of a request."""
    checks = zip(need.actions, need.any_name, strict=True)
    return RequiredAccess(actor, tuple((CheckedAction(*check),) for check in checks))


def steps_to_allow(
    authorizer: Authorizer, accesses: Iterable[RequiredAccess], host: str = WILDCARD
) -> tuple[Step, ...]:
    """Return the smallest set of steps after which all of the accesses are allowed.

    There are none if the ACLs allow them already, whatever else denied them, or if no ACL could
    allow them. Added ACLs are for `host`. Of several alternatives, the one with the fewest removals
    is taken, then one on named resources rather than on the cluster, then the one with the fewest
    additions, then the last one, which is the narrowest in the table of requirements.
    """
    ordered = sorted(dict.fromkeys(accesses), key=_flexibility)
    trial = _Trial(authorizer, ordered, host)
    steps: list[Step] = []
    while (unmet := next((each for each in ordered if not trial.meets(each)), None)) is not None:
        further = trial.steps_for(unmet)
        if not further:
            return ()
        trial.apply(further)
        steps += further
    trial.undo(steps)
    return tuple(_without_superfluous(trial, steps, ordered))


def is_allowed(authorizer: StandardAuthorizer, access: RequiredAccess) -> bool:
    """Return whether all actions of an alternative are allowed."""
    return any(
        all(_decision(authorizer, access.actor, check).allowed for check in alternative)
        for alternative in access.alternatives
    )


def _flexibility(access: RequiredAccess) -> tuple[int, bool]:
    """Return a sort key: accesses that can be met in one way only come first, since their ACLs may
    also meet others; of those, operations that no other one includes.
    """
    last = access.alternatives[-1]
    return len(access.alternatives), any(check.action.operation in _INCLUDED for check in last)


def _decision(authorizer: StandardAuthorizer, actor: Actor, check: CheckedAction) -> Decision:
    action = check.action
    if check.any_name:
        return authorizer.authorize_by_resource_type(actor, action.operation, action.resource_type)
    return authorizer.decide(actor, action)


class _Trial:
    """A copy of an authorizer with the ACLs that bear on some accesses, to try steps on."""

    def __init__(
        self, authorizer: Authorizer, accesses: Sequence[RequiredAccess], host: str
    ) -> None:
        settings = _settings(authorizer)
        self._authorizer = StandardAuthorizer(
            super_users=settings.super_users,
            allow_everyone=settings.allow_everyone,
            rules=settings.rules,
            store=AclStore(_bearing_acls(authorizer, accesses)),
        )
        self._host = host

    def meets(self, access: RequiredAccess) -> bool:
        return is_allowed(self._authorizer, access)

    def apply(self, steps: Iterable[Step]) -> None:
        store = self._authorizer.store
        for step in steps:
            (store.add if step.is_addition else store.remove)(step.acl)

    def undo(self, steps: Sequence[Step]) -> None:
        self.apply(Step(not step.is_addition, step.acl) for step in reversed(steps))

    def steps_for(self, access: RequiredAccess) -> list[Step]:
        """Return the steps that meet an unmet access, without applying them; none if none do."""
        named = [way for way in access.alternatives if not any(check.any_name for check in way)]
        ways = [self._steps_for_all(access.actor, way) for way in named or access.alternatives]
        return min((way for way in reversed(ways) if way), key=_cost, default=[])

    def _steps_for_all(self, actor: Actor, checks: Iterable[CheckedAction]) -> list[Step]:
        steps: list[Step] = []
        for check in checks:
            while not (decision := _decision(self._authorizer, actor, check)).allowed:
                if decision.acl is not None:
                    step = Step(is_addition=False, acl=decision.acl)
                else:
                    step = Step(is_addition=True, acl=self._new_acl(actor, check))
                if step in steps:  # no ACL allows it
                    self.undo(steps)
                    return []
                self.apply((step,))
                steps.append(step)
        self.undo(steps)
        return steps

    def _new_acl(self, actor: Actor, check: CheckedAction) -> Acl:
        if check.new_acl is not None:
            return check.new_acl
        return narrowest_allow(check.action, actor.principal, self._host)


def _settings(authorizer: Authorizer) -> StandardAuthorizer:
    """Return the authorizer, for its settings; for a user's own class, the defaults."""
    return authorizer if isinstance(authorizer, StandardAuthorizer) else StandardAuthorizer()


def _bearing_acls(authorizer: Authorizer, accesses: Iterable[RequiredAccess]) -> Iterator[Acl]:
    """Yield the ACLs on which the decisions depend, some of them repeatedly.

    Of other principals' ACLs on a resource, one is enough: it closes the resource where resources
    without ACLs are open to everyone.
    """
    settings = _settings(authorizer)
    accesses = tuple(accesses)
    for actor in dict.fromkeys(access.actor for access in accesses):
        principals = (actor.principal, ANY_USER)
        for check in _checks_of(accesses, actor):
            kind, name = check.action.resource_type, check.action.resource_name
            if settings.rules.search_stops_early:  # the search also depends on other names
                yield from authorizer.acls(AclFilter(kind))
                continue
            whole_type = AclFilter(kind)
            on_name = AclFilter(kind, name, PatternType.MATCH)
            for principal in principals:
                selected = whole_type if check.any_name else on_name
                yield from authorizer.acls(msgspec.structs.replace(selected, principal=principal))
            if settings.allow_everyone:
                others = authorizer.acls(_on_probe(kind) if check.any_name else on_name)
                yield from (acl for acl in others if acl.principal not in principals)


def _checks_of(accesses: Iterable[RequiredAccess], actor: Actor) -> dict[CheckedAction, None]:
    return dict.fromkeys(
        check
        for access in accesses
        if access.actor == actor
        for alternative in access.alternatives
        for check in alternative
    )


def _on_probe(kind: ResourceType) -> AclFilter:
    return AclFilter(kind, PROBE, PatternType.MATCH)


def _cost(steps: Sequence[Step]) -> tuple[int, int, int]:
    additions = [step for step in steps if step.is_addition]
    on_cluster = sum(step.acl.resource_type is ResourceType.CLUSTER for step in additions)
    return len(steps) - len(additions), on_cluster, len(additions)


def _without_superfluous(
    trial: _Trial, steps: Sequence[Step], accesses: Sequence[RequiredAccess]
) -> list[Step]:
    """Return a subset that suffices, and of which no proper subset does."""

    def suffices(subset: Sequence[Step]) -> bool:
        trial.apply(subset)
        met = all(trial.meets(access) for access in accesses)
        trial.undo(subset)
        return met

    rest = list(steps)
    if len(steps) <= _EXACT_SEARCH_MAX:
        sizes = range(1, len(steps))
        subsets = (subset for size in sizes for subset in combinations(steps, size))
        return list(next(filter(suffices, subsets), rest))
    for step in sorted(steps, key=lambda step: step.acl.operation not in _INCLUDED):
        fewer = [other for other in rest if other != step]
        if suffices(fewer):
            rest = fewer
    return rest
