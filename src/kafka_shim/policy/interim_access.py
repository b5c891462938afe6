"""What is lost or opened while a plan is carried out, between its first and its last step.

An access counts as lost if both sets allow it, and as opened if neither does. Named accesses can
only be lost if resources without ACLs are open to everyone; the right to do something on any
resource of a type also if DENYs change.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import ANY_USER, Acl, Actor
from kafka_shim.authorizer.remedy import Step
from kafka_shim.authorizer.store import AclStore, acls_of_grant
from kafka_shim.policy.access_changes import AccessChange, access_changes
from kafka_shim.policy.checked_accesses import (
    acl_hosts_for_principal,
    operations_checked_for_any_resource,
    possible_hosts,
    sample_host,
    sample_principal,
)
from kafka_shim.policy.decision_function import CombinedDecisions
from kafka_shim.policy.name_sets import (
    ALL_NAMES,
    NameSet,
    names_covered_by_acl,
    names_covered_by_pattern,
)
from kafka_shim.protocol.enums import Operation, Permission, ResourceType

EXACT_UNITS_MAX = 40
"""Units of a group whose interim states are all compared; of more, only the names are reported."""
EXACT_DECISIONS_MAX = 400_000
"""Decisions about any resource of a type; beyond, the right is reported as perhaps lost."""


class InterimChange(msgspec.Struct, frozen=True):
    """A change from the end of unit `first` to the end of unit `last`, both counted from 1.

    `change` is None if it was not computed what changes; then it is an access to `names`. If
    `only_if_allow_everyone` is not None, it happens only on brokers where
    allow.everyone.if.no.acl.found has this value.
    """

    first: int
    last: int
    resource_type: ResourceType
    names: NameSet | None
    change: AccessChange | None
    only_if_allow_everyone: bool | None = None


class _PlannedStates:
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
        self._indexes: dict[ResourceType, tuple[_AclsByPattern, _AclsByPattern]] = {}

    def acls_sharing_names(
        self, kind: ResourceType, names: Iterable[NameSet]
    ) -> tuple[set[Acl], set[Acl]]:
        """Return the ACLs of both sides that share a name with any of the sets."""
        if kind not in self._indexes:
            self._indexes[kind] = (
                _AclsByPattern(self.old.store, kind),
                _AclsByPattern(self.new.store, kind),
            )
        old, new = self._indexes[kind]
        return old.acls_sharing_names(names), new.acls_sharing_names(names)

    def authorizer_with(self, acls: Iterable[Acl]) -> StandardAuthorizer:
        return StandardAuthorizer(
            super_users=self.old.super_users,
            allow_everyone=self.old.allow_everyone,
            rules=self.old.rules,
            store=AclStore(acls),
        )


class _AclsByPattern:
    """The ACLs of a resource type by pattern, to find those that share names with others."""

    def __init__(self, store: AclStore, kind: ResourceType) -> None:
        self._store, self._kind = store, kind
        self._acls_by_resource_name: dict[str, list[Acl]] = {}
        for acl in store:
            if acl.resource_type is kind:
                self._acls_by_resource_name.setdefault(acl.resource_name, []).append(acl)
        self._sorted_resource_names = sorted(self._acls_by_resource_name)

    def acls_sharing_names(self, names: Iterable[NameSet]) -> set[Acl]:
        return {
            acl
            for each in names
            for resource_name in self._resource_names_sharing(each)
            for acl in self._acls_by_resource_name[resource_name]
        }

    def _resource_names_sharing(self, names: NameSet) -> Iterator[str]:
        for pattern in self._store.patterns_used_for_decision(
            self._kind, names.text, wildcard_covers_starred_names=True
        ):
            yield pattern.resource_name
        if names.is_prefix:
            position = bisect_left(self._sorted_resource_names, names.text)
            while position < len(self._sorted_resource_names):
                resource_name = self._sorted_resource_names[position]
                if not resource_name.startswith(names.text):
                    return
                yield resource_name
                position += 1


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
    interim = _PlannedStates(old, new, units, release, report_unit)
    changes = [*_changes_on_any_resource(interim)]
    if old.allow_everyone:
        changes += _open_mode_changes(interim)
    return sorted(changes, key=lambda change: (change.first, change.last))


def interim_changes_in_either_mode(
    old_by_mode: Mapping[bool, StandardAuthorizer],
    new_by_mode: Mapping[bool, StandardAuthorizer],
    units: Sequence[Sequence[Step]],
    release: str,
    report_unit: Callable[[], object] = int,
) -> list[InterimChange]:
    """Return the interim changes by the values of allow.everyone.if.no.acl.found that are possible.

    The old and the new authorizer are given for each possible value.
    """
    changes_by_mode = {
        mode: interim_changes(old, new_by_mode[mode], units, release, report_unit)
        for mode, old in old_by_mode.items()
    }
    in_all_modes = set.intersection(*map(set, changes_by_mode.values()))
    only_in_one = [
        msgspec.structs.replace(change, only_if_allow_everyone=mode)
        for mode, changes in changes_by_mode.items()
        for change in changes
        if change not in in_all_modes
    ]
    first = next(iter(changes_by_mode.values()))
    return sorted(
        [*(change for change in first if change in in_all_modes), *only_in_one],
        key=lambda change: (change.first, change.last),
    )


def _open_mode_changes(
    interim: _PlannedStates,
) -> Iterator[InterimChange]:
    for positions, steps in _find_overlapping_steps(interim):
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


def _find_overlapping_steps(
    interim: _PlannedStates,
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
        if group and not _is_step_within(each[1], group[0][1]):
            yield from _iter_split_group(group)
            group = []
        group.append(each)
    yield from _iter_split_group(group)


def _is_step_within(step: Step, outer: Step) -> bool:
    return (
        step.is_addition is outer.is_addition
        and step.acl.resource_type is outer.acl.resource_type
        and names_covered_by_acl(outer.acl).includes_names(names_covered_by_acl(step.acl))
    )


def _iter_split_group(
    group: list[tuple[int, Step]],
) -> Iterator[tuple[list[int], list[Step]]]:
    positions = sorted({position for position, _ in group})
    if len(positions) > 1:
        yield positions, [step for _, step in sorted(group, key=lambda each: each[0])]


def _is_covered(names: NameSet, kind: ResourceType, store: AclStore) -> bool:
    """Return whether every one of the names has an ACL in the store."""
    return any(
        names_covered_by_pattern(pattern.resource_name, pattern.pattern_type).includes_names(names)
        for pattern in store.patterns_used_for_decision(kind, names.text)
    )


def _exact_changes_on_names(
    interim: _PlannedStates,
    positions: Sequence[int],
    steps: Sequence[Step],
    names: set[NameSet],
) -> Iterator[InterimChange]:
    """Compare each state of the group with both sets, with only the ACLs on these names."""
    kind = steps[0].acl.resource_type
    sides = [interim.authorizer_with(acls) for acls in interim.acls_sharing_names(kind, names)]
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


def _changes_on_any_resource(interim: _PlannedStates) -> Iterator[InterimChange]:
    for operation, kind in operations_checked_for_any_resource(interim.release):
        can_open = _may_open_any_resource(interim, kind)
        if can_open is None:
            continue
        steps = [
            step
            for unit in interim.units
            for step in unit
            if step.acl.resource_type is kind
            and (step.acl.operation in (operation, Operation.ALL) or can_open)
        ]
        has_deny = any(step.acl.permission is Permission.DENY for step in steps)
        if steps and (has_deny or can_open):
            yield from _changes_of_operation_on_any_resource(
                interim, operation, kind, steps, can_open=can_open
            )


def _may_open_any_resource(interim: _PlannedStates, kind: ResourceType) -> bool | None:
    """Return whether the first ACL can close, or the last one open, the right for everyone.

    Return None if everyone has the right all the time, except those whom an ACL that lasts denies
    it. KRaft brokers look at the ACLs of PROBED_NAME, ZooKeeper brokers at DENYs on `*`.
    """
    if not interim.old.allow_everyone:
        return False
    if interim.old.rules.allow_everyone_by_resource_type:
        changes = any(
            step.acl.resource_type is kind
            and step.acl.permission is Permission.DENY
            and names_covered_by_acl(step.acl) == ALL_NAMES
            for unit in interim.units
            for step in unit
        )
        return True if changes else None
    old, new = (_acls_on_probed_name(side.store, kind) for side in (interim.old, interim.new))
    if not old and not new:
        return None
    return old.isdisjoint(new)


def _acls_on_probed_name(store: AclStore, kind: ResourceType) -> set[Acl]:
    return {
        acl
        for pattern in store.patterns_used_for_decision(kind, PROBED_NAME)
        for subject, grant in pattern.subject_grants()
        for acl in acls_of_grant(pattern, subject, grant)
    }


def _changes_of_operation_on_any_resource(
    interim: _PlannedStates,
    operation: Operation,
    kind: ResourceType,
    steps: Sequence[Step],
    *,
    can_open: bool,
) -> Iterator[InterimChange]:
    actors = _actors_to_check(interim, kind, steps, includes_all_principals=can_open)
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
                    _make_any_resource_change(
                        principal_and_host, operation, kind, gained=not expected[number]
                    ),
                )


def _actors_to_check(
    interim: _PlannedStates,
    kind: ResourceType,
    steps: Sequence[Step],
    *,
    includes_all_principals: bool,
) -> list[tuple[tuple[str, str], Actor]]:
    """Return each principal and host that a step may affect, with an actor that stands for it."""
    principals = {step.acl.principal for step in steps}
    if includes_all_principals or ANY_USER in principals:
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
            for host in acl_hosts_for_principal(side, kind, principal)
        }
        for host in possible_hosts(hosts, interim.old.rules):
            actor = Actor(sample_principal(principal), sample_host(host))
            actors.append(((principal, host), actor))
    return actors


def _make_any_resource_change(
    principal_and_host: tuple[str, str], operation: Operation, kind: ResourceType, *, gained: bool
) -> AccessChange:
    principal, host = principal_and_host
    return AccessChange(gained, principal, (), kind, None, (), (operation,), (host,), ())
