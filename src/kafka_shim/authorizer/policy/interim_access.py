"""What is lost or opened while a plan is carried out, between its first and its last step.

An access counts as lost if both sets allow it, and as opened if neither does. Named accesses can
only be lost if resources without ACLs are open to everyone; the right to do something on any
resource of a type also if DENYs change.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, Acl, Actor
from kafka_shim.authorizer.policy.access_changes import AccessChange, access_changes
from kafka_shim.authorizer.policy.checked_accesses import (
    host_or_unnamed_if_wildcard,
    hosts_in_acls_for_principal,
    operations_checked_for_any_resource,
    sample_principal,
    wildcard_and_possible_hosts,
)
from kafka_shim.authorizer.policy.decision_function import CombinedDecisions
from kafka_shim.authorizer.policy.name_sets import (
    NameSet,
    names_covered_by_acl,
    names_covered_by_pattern,
)
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, Permission, ResourceType

EXACT_UNITS_MAX = 40
"""Units of a group whose interim states are all compared; of more, only the names are reported."""
EXACT_DECISIONS_MAX = 400_000
"""Decisions about any resource of a type; beyond, the right is reported as perhaps lost."""


class InterimChange(msgspec.Struct, frozen=True):
    """A change from the end of unit `first` to the end of unit `last`, both counted from 1.

    `change` is None if it was not computed what changes; then it is an access to `names`.
    """

    first: int
    last: int
    resource_type: ResourceType
    names: NameSet | None
    change: AccessChange | None


class _AuthorizersAndPlannedUnits:
    """The states of a plan: the ACLs after each unit of steps."""

    def __init__(
        self,
        old: StandardAuthorizer,
        new: StandardAuthorizer,
        units: Sequence[Sequence[Step]],
        release: str,
        report_unit: Callable[[], object],
    ) -> None:
        self.old, self.new, self.units, self.release = old, new, units, release
        self.report_unit = report_unit

    def authorizer_with(self, acls: Iterable[Acl]) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=self.old.super_users,
            allow_everyone=self.old.allow_everyone,
            rules=self.old.rules,
            store=AclStore(acls),
        )


def interim_changes(
    old: StandardAuthorizer,
    new: StandardAuthorizer,
    units: Sequence[Sequence[Step]],
    release: str,
    report_unit: Callable[[], object] = int,
) -> list[InterimChange]:
    """Return what is lost or opened between units, each of which takes effect as a whole.

    `report_unit` is called after each check of a unit; there can be several of one unit.
    """
    interim = _AuthorizersAndPlannedUnits(old, new, units, release, report_unit)
    changes = [*_changes_on_any_resource(interim)]
    if old.allow_everyone:
        changes += _changes_on_names_without_lasting_acls(interim)
    return sorted(changes, key=lambda change: (change.first, change.last))


def _changes_on_names_without_lasting_acls(
    interim: _AuthorizersAndPlannedUnits,
) -> Iterator[InterimChange]:
    for positions, steps in _overlapping_steps_of_several_units(interim):
        kind = steps[0].acl.resource_type
        names = {names_covered_by_acl(step.acl) for step in steps}
        kept = interim.old.store if steps[0].is_addition else interim.new.store
        if all(_is_covered(each, kind, kept) for each in names):
            continue  # the resources have other ACLs all the time
        if len(positions) > EXACT_UNITS_MAX:
            outer = min(names, key=lambda each: (len(each.text), not each.is_prefix))
            yield InterimChange(positions[0] + 1, positions[-1], kind, outer, None)
            continue
        yield from _exact_changes_on_names(interim, positions, steps, names)


def _overlapping_steps_of_several_units(
    interim: _AuthorizersAndPlannedUnits,
) -> Iterator[tuple[list[int], list[Step]]]:
    """Yield steps on overlapping names that several units carry out, with the units' positions."""
    located = [(position, step) for position, unit in enumerate(interim.units) for step in unit]
    located.sort(
        key=lambda each: (
            not each[1].is_addition,
            each[1].acl.resource_type,
            names_covered_by_acl(each[1].acl).text,
            not names_covered_by_acl(each[1].acl).is_prefix,
        )
    )
    group: list[tuple[int, Step]] = []
    for each in located:
        if group and not _is_within(each[1], group[0][1]):
            yield from _positions_and_steps_if_in_several_units(group)
            group = []
        group.append(each)
    yield from _positions_and_steps_if_in_several_units(group)


def _is_within(step: Step, outer: Step) -> bool:
    return (
        step.is_addition is outer.is_addition
        and step.acl.resource_type is outer.acl.resource_type
        and names_covered_by_acl(outer.acl).includes_all_of_ignoring_glob(
            names_covered_by_acl(step.acl)
        )
    )


def _positions_and_steps_if_in_several_units(
    group: list[tuple[int, Step]],
) -> Iterator[tuple[list[int], list[Step]]]:
    positions = sorted({position for position, _ in group})
    if len(positions) > 1:
        yield positions, [step for _, step in sorted(group, key=lambda each: each[0])]


def _is_covered(names: NameSet, kind: ResourceType, store: AclStore) -> bool:
    """Return whether every one of the names has an ACL in the store."""
    return any(
        names_covered_by_pattern(
            pattern.resource_name, pattern.pattern_type
        ).includes_all_of_ignoring_glob(names)
        for pattern in store.patterns_used_for_decision(kind, names.text)
    )


def _exact_changes_on_names(
    interim: _AuthorizersAndPlannedUnits,
    positions: Sequence[int],
    steps: Sequence[Step],
    names: set[NameSet],
) -> Iterator[InterimChange]:
    """Compare each state of the group with both sets, with only the ACLs on these names."""
    kind = steps[0].acl.resource_type
    sides = [
        interim.authorizer_with(_acls_on_names(side.store, kind, names))
        for side in (interim.old, interim.new)
    ]
    both = CombinedDecisions(sides[0], sides[1], all)
    either = CombinedDecisions(sides[0], sides[1], any)
    present = {*sides[0].store}
    if not steps[0].is_addition:
        present |= {*sides[1].store}
    open_changes: dict[AccessChange, int] = {}
    for position in positions:
        for step in interim.units[position]:
            if step in steps:
                (present.add if step.is_addition else present.discard)(step.acl)
        state = interim.authorizer_with(present)
        losses = {
            change
            for change in access_changes(both, state, interim.release)
            if not change.gained and change.names is not None
        }
        gains = {
            change
            for change in access_changes(either, state, interim.release)
            if change.gained and change.names is not None
        }
        for change in [*open_changes]:
            if change not in losses | gains:
                yield InterimChange(open_changes.pop(change), position, kind, change.names, change)
        for change in losses | gains:
            open_changes.setdefault(change, position + 1)
        interim.report_unit()


def _acls_on_names(store: AclStore, kind: ResourceType, names: set[NameSet]) -> list[Acl]:
    """Return the ACLs of a type that share a name with any of the sets."""
    prefixes = tuple(each.text for each in names if each.is_prefix)
    literals = {each.text for each in names if not each.is_prefix}
    return [
        acl
        for acl in store
        if acl.resource_type is kind
        and (
            acl.resource_name.startswith(prefixes)
            or acl.resource_name in literals
            or any(names_covered_by_acl(acl).includes_all_of_ignoring_glob(each) for each in names)
        )
    ]


def _changes_on_any_resource(interim: _AuthorizersAndPlannedUnits) -> Iterator[InterimChange]:
    for operation, kind in operations_checked_for_any_resource(interim.release):
        steps = [
            step
            for unit in interim.units
            for step in unit
            if step.acl.resource_type is kind
            and (step.acl.operation in (operation, Operation.ALL) or interim.old.allow_everyone)
        ]
        has_deny = any(step.acl.permission is Permission.DENY for step in steps)
        if steps and (has_deny or interim.old.allow_everyone):
            yield from _changes_of_operation_on_any_resource(interim, operation, kind, steps)


def _changes_of_operation_on_any_resource(
    interim: _AuthorizersAndPlannedUnits,
    operation: Operation,
    kind: ResourceType,
    steps: Sequence[Step],
) -> Iterator[InterimChange]:
    actors = _actors_to_check(interim, kind, steps)
    units = [
        position
        for position, unit in enumerate(interim.units)
        if any(step.acl.resource_type is kind for step in unit)
    ]
    if len(units) * len(actors) > EXACT_DECISIONS_MAX:
        yield InterimChange(units[0] + 1, units[-1], kind, None, None)
        return
    state = interim.authorizer_with(interim.old.store)
    expected = []
    for _, actor in actors:
        sides = {
            side.authorize_by_resource_type(actor, operation, kind).allowed
            for side in (interim.old, interim.new)
        }
        expected.append(sides.pop() if len(sides) == 1 else None)
    changed_since: dict[int, int] = {}
    for position, unit in enumerate(interim.units):
        interim.report_unit()
        for step in unit:
            (state.store.add if step.is_addition else state.store.remove)(step.acl)
        for number, (principal_and_host, actor) in enumerate(actors):
            if expected[number] is None:
                continue
            allowed = state.authorize_by_resource_type(actor, operation, kind).allowed
            if allowed is not expected[number]:
                changed_since.setdefault(number, position + 1)
            elif number in changed_since:
                yield InterimChange(
                    changed_since.pop(number),
                    position,
                    kind,
                    None,
                    _change_on_any_resource(
                        principal_and_host, operation, kind, gained=not expected[number]
                    ),
                )


def _actors_to_check(
    interim: _AuthorizersAndPlannedUnits, kind: ResourceType, steps: Sequence[Step]
) -> list[tuple[tuple[str, str], Actor]]:
    """Return each principal and host that a step may affect, with an actor that stands for it."""
    principals = {step.acl.principal for step in steps}
    if interim.old.allow_everyone or ANY_USER in principals:
        principals |= {
            subject.principal
            for side in (interim.old, interim.new)
            for pattern in side.store.patterns_of_type(kind)
            for subject, _ in pattern.subject_grants()
        } | {ANY_USER}
    actors = []
    for principal in sorted(principals - interim.old.super_users):
        hosts = {
            host
            for side in (interim.old, interim.new)
            for host in hosts_in_acls_for_principal(side, kind, principal)
        }
        for host in wildcard_and_possible_hosts(hosts, interim.old.rules):
            actor = Actor(sample_principal(principal), host_or_unnamed_if_wildcard(host))
            actors.append(((principal, host), actor))
    return actors


def _change_on_any_resource(
    principal_and_host: tuple[str, str], operation: Operation, kind: ResourceType, *, gained: bool
) -> AccessChange:
    principal, host = principal_and_host
    return AccessChange(gained, principal, (), kind, None, (), (operation,), (host,), ())
