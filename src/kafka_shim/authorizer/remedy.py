"""The smallest set of changes to the ACLs after which denied accesses are allowed.

Every page, log and command that says what would allow something uses `steps_to_allow`. It works on
a copy of the ACLs that bear on the accesses, decides with the authorizer itself after each step,
and finally drops every step without which everything is allowed, too. So the steps are whole, and
none of them is superfluous. Brokers compute a remedy for each denied request, so after a step only
those accesses are decided again that the step can affect.

Steps are returned, printed and applied in a safe order, additions first. A resource from which the
only ACL is removed before another one is added is open to everyone in between if
`allow.everyone.if.no.acl.found` is set, and those who print steps do not always know whether it is.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain, combinations, islice
from typing import NamedTuple

import msgspec

from kafka_shim.authorizer.access_plan import AlternativeActions
from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.acl_rules import AclRules, operations_whose_allow_includes
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Acl,
    AclFilter,
    Action,
    Actor,
    Decision,
    narrowest_allow_acl,
)
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

_EXACT_SEARCH_MAX = 6
"""Of up to this many connected steps, every subset is tried; more are left out one by one."""


class StepsCost(NamedTuple):
    """What is compared of alternative steps, the most important first."""

    broad: int
    """Additions on the cluster, and removals of DENYs for more than one principal and resource."""
    removals: int
    additions: int


_LEAST_COST = StepsCost(broad=0, removals=0, additions=1)
"""The cost of one addition on a named resource."""
_IF_OPEN = "if allow.everyone.if.no.acl.found is true, which a trace shows only if a client used it"
UNKNOWN_AFTER_REMOVAL = (
    "whether other DENYs apply, whether an ALLOW does, and whether a last ACL goes, without which"
    " resources are open to everyone if allow.everyone.if.no.acl.found is true"
)
"""What those who do not know all ACLs and settings do not know about the removal of a DENY."""
_INCLUDED = (Operation.DESCRIBE, Operation.DESCRIBE_CONFIGS)
"""Operations that others include; an ACL for one of those makes one for these superfluous."""


class Step(msgspec.Struct, frozen=True):
    """One change: add exactly this ACL, or remove it."""

    is_addition: bool
    acl: Acl

    @property
    def verb(self) -> str:
        return "add" if self.is_addition else "remove"

    @property
    def safe_rank(self) -> tuple[bool, bool]:
        """The place in an order in which no step opens what the last one closes: additions before
        removals, and in both the DENY is there as long as the ALLOW that it limits.
        """
        is_allow = self.acl.permission is Permission.ALLOW
        return not self.is_addition, is_allow is self.is_addition


def in_safe_order(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return the steps in the order in which they are taken one by one."""
    return tuple(sorted(steps, key=lambda step: step.safe_rank))


class Remedy(msgspec.Struct, frozen=True):
    """ACLs to add and to remove together, in this order, so that a request succeeds.

    If it is not `complete`, the broker may check further names after the change, which depend on
    its state, or the request has more denials than it covers. `advice` is about what else
    the change opens, and what the client needs next; empty if nothing is known.
    """

    add: tuple[Acl, ...]
    remove: tuple[Acl, ...]
    complete: bool
    advice: str = ""

    @classmethod
    def from_steps(cls, steps: Sequence[Step], *, complete: bool) -> "Remedy":
        return cls(
            tuple(step.acl for step in steps if step.is_addition),
            tuple(step.acl for step in steps if not step.is_addition),
            complete,
        )


class CheckedAction(msgspec.Struct, frozen=True):
    """An action that the broker checks.

    `any_name`: on any resource of the type (KIP-679). `acl_to_add` is the ACL that allows it if no
    other one does; None for the narrowest.
    """

    action: Action
    any_name: bool = False
    acl_to_add: Acl | None = None


class RequiredAccess(msgspec.Struct, frozen=True):
    """An access that an actor needs: all actions of any one alternative."""

    actor: Actor
    alternatives: tuple[tuple[CheckedAction, ...], ...]


def required_access_for_need(actor: Actor, need: AlternativeActions) -> RequiredAccess:
    """Return the access that meets a requirement of a request."""
    checks = zip(need.actions, need.is_any_name, strict=True)
    return RequiredAccess(actor, tuple((CheckedAction(*check),) for check in checks))


def side_effects_of_steps(
    authorizer: Authorizer, steps: Iterable[Step], accesses: Iterable[RequiredAccess]
) -> tuple[str, ...]:
    """Return what the steps change beyond the accesses, a text for each ACL that is broader.

    Of a removed DENY, this is the part beyond the accesses that other ACLs may allow. Where
    resources without ACLs are open to everyone, a last ACL opens and a first one closes them.
    """
    steps = tuple(steps)
    checks = [check for each in accesses for way in each.alternatives for check in way]
    named_types = {check.action.resource_type for check in checks} - {ResourceType.CLUSTER}
    texts: dict[str, None] = {}
    for step in steps:
        name = camel_case(step.acl.operation)
        if step.is_addition is not (step.acl.permission is Permission.ALLOW):
            continue  # it allows nothing
        if step.is_addition:
            wider = [*_side_effects_of_allow(authorizer, step.acl, named_types)]
            head = f"the added ACL allows {name}"
        else:
            wider = [*_side_effects_of_removal(step.acl)]
            head = f"without the DENY of {name}, ALLOWs also apply"
        if wider:
            texts[f"{head} {' and '.join(wider)}"] = None
    if _standard_authorizer(authorizer).allow_everyone:
        texts |= dict.fromkeys(_closings(authorizer, steps))
        texts |= dict.fromkeys(_openings(authorizer, steps))
    return tuple(texts)


def opening_of_unknown_setting(authorizer: Authorizer, steps: Sequence[Step]) -> tuple[str, ...]:
    """Return what removals open if resources without ACLs are open to everyone, for those who do
    not know whether they are.
    """
    removals = [step for step in steps if not step.is_addition]
    if _standard_authorizer(authorizer).allow_everyone or not removals:
        return ()
    return tuple(f"{_IF_OPEN}, {text}" for text in dict.fromkeys(_openings(authorizer, steps)))


def _openings(authorizer: Authorizer, steps: Sequence[Step]) -> Iterator[str]:
    """Yield the patterns whose last ACL goes, if resources without ACLs are open to everyone."""
    removed = {step.acl for step in steps if not step.is_addition}
    kept = {_pattern(step.acl) for step in steps if step.is_addition}
    for acl in (step.acl for step in steps if not step.is_addition):
        before = set(acls_covering_pattern(authorizer, acl))
        if before and before <= removed and _pattern(acl) not in kept:
            yield f"without an ACL, {_pattern_text(acl)} are open to everyone"


def _closings(authorizer: Authorizer, steps: Sequence[Step]) -> Iterator[str]:
    """Yield the patterns that get their first ACL, if all others were open to everyone."""
    for acl in (step.acl for step in steps if step.is_addition):
        if not any(acls_covering_pattern(authorizer, acl)):
            yield f"the first ACL closes {_pattern_text(acl)} to everyone else"


def acls_covering_pattern(authorizer: Authorizer, acl: Acl) -> Iterator[Acl]:
    """Yield the ACLs that cover all resources of the pattern of an ACL, whatever they allow."""
    is_one_name = acl.pattern_type is PatternType.LITERAL and acl.resource_name != WILDCARD
    for each in authorizer.acls(AclFilter(acl.resource_type, acl.resource_name, PatternType.MATCH)):
        is_wildcard = each.pattern_type is PatternType.LITERAL and each.resource_name == WILDCARD
        is_prefix = each.pattern_type is PatternType.PREFIXED
        if is_one_name or is_wildcard or (is_prefix and acl.pattern_type is PatternType.PREFIXED):
            yield each


def _pattern(acl: Acl) -> tuple[ResourceType, PatternType, str]:
    return acl.resource_type, acl.pattern_type, acl.resource_name


def _pattern_text(acl: Acl) -> str:
    kind = _plural(acl.resource_type)
    if acl.resource_type is ResourceType.CLUSTER:
        return "operations on the cluster"
    if acl.pattern_type is PatternType.PREFIXED:
        return f"{kind} with the prefix `{acl.resource_name}` that have no other ACL"
    if acl.resource_name == WILDCARD:
        return f"{kind} that have no other ACL"
    return f"{kind} named `{acl.resource_name}`"


def _plural(kind: ResourceType) -> str:
    return f"{kind.name.lower().replace('_', ' ')}s"


def _side_effects_of_allow(
    authorizer: Authorizer, acl: Acl, named_types: Collection[ResourceType]
) -> Iterator[str]:
    """Yield what an added ACL allows beyond the access for which it is added."""
    if acl.resource_type is ResourceType.CLUSTER and named_types:
        yield f"on all {' and '.join(map(_plural, sorted(named_types)))}"
    if acl.resource_name == WILDCARD and acl.pattern_type is PatternType.LITERAL:
        yield f"on all {_plural(acl.resource_type)}"
    if acl.host == WILDCARD and _is_limited_to_hosts(authorizer, acl):
        yield "from every host, while other ACLs of the principal name hosts"


def _side_effects_of_removal(acl: Acl) -> Iterator[str]:
    """Yield what a removed DENY held back beyond the access for which it is removed."""
    if acl.principal == ANY_USER:
        yield "to other principals"
    if acl.pattern_type is PatternType.PREFIXED:
        yield f"to all names with the prefix `{acl.resource_name}`"
    elif acl.resource_name == WILDCARD:
        yield "to all names"
    if acl.operation is Operation.ALL:
        yield "to all operations"


def _is_limited_to_hosts(authorizer: Authorizer, acl: Acl) -> bool:
    """Return whether the principal has ALLOWs on this resource, all for other hosts than `*`."""
    selected = AclFilter(
        acl.resource_type, acl.resource_name, PatternType.MATCH, principal=acl.principal
    )
    allows = [each for each in authorizer.acls(selected) if each.permission is Permission.ALLOW]
    return bool(allows) and all(each.host != WILDCARD for each in allows)


def steps_to_allow(
    authorizer: Authorizer, accesses: Iterable[RequiredAccess], host_of_added_acls: str = WILDCARD
) -> tuple[Step, ...]:
    """Return the smallest set of steps after which all accesses are allowed, in a safe order.

    There are none if the ACLs allow them already, whatever else denied them, or if no ACL could
    allow them. Added ACLs are for `host`. Of several alternatives, the one with the fewest broad
    steps is taken: those on the cluster, and removals of DENYs that hold back more. Then the one
    with the fewest removals, then with the fewest additions, then the last one, which is the
    narrowest in the table of requirements.
    """
    trial = _StepTrial(
        authorizer,
        sorted(dict.fromkeys(accesses), key=_fewest_ways_first),
        host_of_added_acls,
    )
    steps = trial.apply_sufficient_steps()
    necessary = {
        step
        for group in _independent_step_groups(trial, steps)
        for step in _minimal_sufficient_steps(trial, group)
    }
    return in_safe_order(step for step in steps if step in necessary)


def is_allowed(authorizer: StandardAuthorizer, access: RequiredAccess) -> bool:
    """Return whether all actions of an alternative are allowed."""
    return any(
        all(
            _decide_checked_action(authorizer, access.actor, check).allowed for check in alternative
        )
        for alternative in access.alternatives
    )


def _fewest_ways_first(access: RequiredAccess) -> tuple[int, bool]:
    """Return a sort key: accesses that can be met in one way only come first, since their ACLs may
    also meet others; of those, operations that no other one includes.
    """
    last = access.alternatives[-1]
    return len(access.alternatives), any(check.action.operation in _INCLUDED for check in last)


def _decide_checked_action(
    authorizer: StandardAuthorizer, actor: Actor, check: CheckedAction
) -> Decision:
    action = check.action
    if check.any_name:
        return authorizer.authorize_by_resource_type(actor, action.operation, action.resource_type)
    return authorizer.decide_uncached(actor, action)


class _StepTrial:
    """A copy of an authorizer with the ACLs that bear on some accesses, to try steps on.

    It `is_monotone` if no addition of an ALLOW can deny an access. Additions can where a resource
    is open to everyone until it has an ACL, and where a further name ends the search for prefixes.
    """

    def __init__(
        self, authorizer: Authorizer, accesses: Sequence[RequiredAccess], host: str
    ) -> None:
        settings = _standard_authorizer(authorizer)
        self._authorizer = StandardAuthorizer(
            super_users=settings.super_users,
            allow_everyone=settings.allow_everyone,
            rules=settings.rules,
            store=AclStore(_acls_affecting_accesses(authorizer, accesses)),
        )
        self._host = host
        self._accesses = accesses
        self._search_stops_early = settings.rules.prefix_search_stops_early
        self.is_monotone = not (settings.allow_everyone or self._search_stops_early)
        self._positions: defaultdict[ResourceType, defaultdict[str | None, set[int]]] = defaultdict(
            lambda: defaultdict(set)
        )
        """Positions of the accesses by the name of a resource; None for any name."""
        for position, access in enumerate(accesses):
            for check in chain.from_iterable(access.alternatives):
                name = None if check.any_name else check.action.resource_name
                self._positions[check.action.resource_type][name].add(position)

    def positions_of_affected_accesses(self, steps: Iterable[Step]) -> set[int]:
        """Return the positions of the accesses that can be decided differently after the steps."""
        affected: set[int] = set()
        for step in steps:
            name, positions = step.acl.resource_name, self._positions[step.acl.resource_type]
            if self._search_stops_early or name == WILDCARD:
                affected.update(*positions.values())
            elif step.acl.pattern_type is PatternType.LITERAL:
                affected |= positions[name] | positions[None]
            else:
                for other, of_name in positions.items():
                    if other is None or other.startswith(name):
                        affected |= of_name
        return affected

    def are_all_allowed(self, positions: Iterable[int]) -> bool:
        return all(is_allowed(self._authorizer, self._accesses[at]) for at in positions)

    def suffices_without(self, steps: Sequence[Step]) -> bool:
        """Return whether all accesses are allowed if these of the applied steps are not taken."""
        self.undo_steps(steps)
        is_sufficient = self.are_all_allowed(self.positions_of_affected_accesses(steps))
        self.apply_steps(steps)
        return is_sufficient

    def apply_steps(self, steps: Iterable[Step]) -> None:
        store = self._authorizer.store
        for step in steps:
            (store.add if step.is_addition else store.remove)(step.acl)

    def undo_steps(self, steps: Sequence[Step]) -> None:
        store = self._authorizer.store
        for step in reversed(steps):
            (store.remove if step.is_addition else store.add)(step.acl)

    def apply_sufficient_steps(self) -> list[Step]:
        """Apply and return steps after which all accesses are allowed; none if no steps help."""
        steps: list[Step] = []
        unmet = {at for at in range(len(self._accesses)) if not self.are_all_allowed((at,))}
        while unmet:
            first = min(unmet)
            further = self._apply_cheapest_alternative(self._accesses[first])
            if not further:
                return []
            steps += further
            unmet.discard(first)
            affected = self.positions_of_affected_accesses(further)
            for at in affected & unmet if self.is_monotone else affected:
                (unmet.discard if self.are_all_allowed((at,)) else unmet.add)(at)
        return steps

    def _apply_cheapest_alternative(self, access: RequiredAccess) -> list[Step]:
        """Apply and return the steps that meet an unmet access; none if none do."""
        named = [way for way in access.alternatives if not any(check.any_name for check in way)]
        cheapest: list[Step] = []
        for way in reversed(named or access.alternatives):
            steps = self._apply_steps(access.actor, way)
            if steps and _cost_of_steps(steps) == _LEAST_COST:
                return steps
            self.undo_steps(steps)
            cheapest = min(
                (each for each in (cheapest, steps) if each), key=_cost_of_steps, default=[]
            )
        self.apply_steps(cheapest)
        return cheapest

    def _apply_steps(self, actor: Actor, checks: Iterable[CheckedAction]) -> list[Step]:
        """Apply and return the steps that allow all of these actions; none if none do."""
        steps: list[Step] = []
        for check in checks:
            while not (decision := _decide_checked_action(self._authorizer, actor, check)).allowed:
                if decision.acl is not None:
                    step = Step(is_addition=False, acl=decision.acl)
                else:
                    step = Step(is_addition=True, acl=self._acl_to_add_for_check(actor, check))
                if step in steps:  # no ACL allows it
                    self.undo_steps(steps)
                    return []
                self.apply_steps((step,))
                steps.append(step)
        return steps

    def _acl_to_add_for_check(self, actor: Actor, check: CheckedAction) -> Acl:
        if check.acl_to_add is not None:
            return check.acl_to_add
        return narrowest_allow_acl(check.action, actor.principal, self._host)


def _standard_authorizer(authorizer: Authorizer) -> StandardAuthorizer:
    """Return the authorizer, for its settings; for a user's own class, the defaults."""
    return authorizer if isinstance(authorizer, StandardAuthorizer) else StandardAuthorizer()


def _acls_affecting_accesses(
    authorizer: Authorizer, accesses: Iterable[RequiredAccess]
) -> Iterator[Acl]:
    """Yield the ACLs on which the decisions depend, some of them repeatedly.

    Of other principals' ACLs on a resource, one is enough: it closes the resource where resources
    without ACLs are open to everyone.
    """
    settings = _standard_authorizer(authorizer)
    for principal, selected in _affecting_acl_filters(accesses, settings.rules):
        own = (principal, ANY_USER)
        for each in own:
            yield from authorizer.acls(msgspec.structs.replace(selected, principal=each))
        if settings.allow_everyone:
            of_others = (acl for acl in authorizer.acls(selected) if acl.principal not in own)
            yield from islice(of_others, 1)


def _affecting_acl_filters(
    accesses: Iterable[RequiredAccess], rules: AclRules
) -> dict[tuple[str, AclFilter], None]:
    """Return the filters that select the ACLs, each with the principal of an access."""
    filters: dict[tuple[str, AclFilter], None] = {}
    for access in accesses:
        for check in chain.from_iterable(access.alternatives):
            action = check.action
            kind, name = action.resource_type, action.resource_name
            if check.any_name:
                selected = [AclFilter(kind, PROBED_NAME, PatternType.MATCH)]
                selected += [
                    AclFilter(kind, operation=each)
                    for each in operations_whose_allow_includes(action.operation)
                ]
            else:
                selected = [AclFilter(kind, name, PatternType.MATCH)]
            if rules.prefix_search_stops_early:  # the search also depends on other names
                selected = [AclFilter(kind)]
            filters.update(((access.actor.principal, each), None) for each in selected)
    return filters


def _cost_of_steps(steps: Sequence[Step]) -> StepsCost:
    additions = [step for step in steps if step.is_addition]
    broad = sum(
        step.acl.resource_type is ResourceType.CLUSTER
        or (not step.is_addition and any(_side_effects_of_removal(step.acl)))
        for step in steps
    )
    return StepsCost(broad, len(steps) - len(additions), len(additions))


def _independent_step_groups(trial: _StepTrial, steps: Sequence[Step]) -> list[list[Step]]:
    """Return the steps in groups that affect no common access."""
    groups: list[tuple[list[Step], set[int]]] = []
    for step in steps:
        affected = trial.positions_of_affected_accesses((step,))
        connected = [group for group in groups if not group[1].isdisjoint(affected)]
        if connected:
            groups = [group for group in groups if group[1].isdisjoint(affected)]
            affected = affected.union(*(of_group for _, of_group in connected))
        groups.append(([*chain.from_iterable(of for of, _ in connected), step], affected))
    return [group for group, _ in groups]


def _minimal_sufficient_steps(trial: _StepTrial, steps: Sequence[Step]) -> Sequence[Step]:
    """Return a subset of a group of applied steps that suffices, and of which no subset does."""
    if len(steps) == 1:
        return steps
    if trial.is_monotone:  # every sufficient subset has the steps that cannot be left out alone
        optional = [step for step in steps if trial.suffices_without((step,))]
        if trial.suffices_without(optional):
            return [step for step in steps if step not in optional]
    if len(steps) <= _EXACT_SEARCH_MAX:
        sizes = range(1, len(steps))
        for subset in chain.from_iterable(combinations(steps, size) for size in sizes):
            if trial.suffices_without([step for step in steps if step not in subset]):
                return subset
        return steps
    omitted: list[Step] = []
    for step in sorted(steps, key=lambda step: step.acl.operation not in _INCLUDED):
        if trial.suffices_without([*omitted, step]):
            omitted.append(step)
    return [step for step in steps if step not in omitted]
