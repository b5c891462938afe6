"""The steps from one set of ACLs to another, as requests in a safe order.

First everything new is added, then everything old is removed. While both sets exist, every access
that both allow is allowed, and none that neither allows. Within the additions and the removals,
order matters: a DENY has to be there before the ALLOW that it limits; and with
`allow.everyone.if.no.acl.found`, the first ACL of a resource closes it for everybody, until those
that allow something are there. So ACLs on the same names go into one request, DENYs first.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kafka_shim.authorizer.decide import PROBED_NAME
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.checked_accesses import operations_checked_for_any_resource
from kafka_shim.policy.name_sets import NameSet, names_covered_by_acl
from kafka_shim.protocol.enums import Operation, Permission, ResourceType

REQUEST_STEPS_MAX = 10_000
"""Steps of a request; brokers refuse more changes in one."""

StepGroup = tuple[Step, ...]
"""Additions, or removals, that must not be separated: they concern the same names."""


def pack_requests(groups: Iterable[StepGroup], steps_max: int) -> list[StepGroup]:
    """Return groups by request; only groups with more than `steps_max` steps are split."""
    requests: list[list[Step]] = []
    for group in groups:
        fits = (
            requests
            and requests[-1][0].is_addition is group[0].is_addition
            and len(requests[-1]) + len(group) <= steps_max
        )
        if fits:
            requests[-1] += group
        else:
            requests += (list(group[at : at + steps_max]) for at in range(0, len(group), steps_max))
    return [tuple(steps) for steps in requests]


def planned_groups(
    old_acls: Iterable[Acl], new_acls: Iterable[Acl], release: str
) -> list[StepGroup]:
    """Return the steps in groups: additions before removals, and in a group DENYs around ALLOWs."""
    before, after = set(old_acls), set(new_acls)
    added, removed = after - before, before - after
    return [
        *_sorted_groups(added, release, is_addition=True),
        *_sorted_groups(removed, release, is_addition=False),
    ]


def _sorted_groups(acls: set[Acl], release: str, *, is_addition: bool) -> list[StepGroup]:
    groups = [
        tuple(sorted((Step(is_addition, acl) for acl in group), key=_step_sort_key))
        for group in _group_by_overlap(acls, release)
    ]
    return sorted(groups, key=lambda group: _step_sort_key(group[0]))


def _group_by_overlap(acls: Iterable[Acl], release: str) -> list[list[Acl]]:
    """Return the ACLs in groups: names of different groups have no name in common."""
    by_type: dict[ResourceType, dict[NameSet, list[Acl]]] = {}
    for acl in acls:
        names = names_covered_by_acl(acl)
        by_type.setdefault(acl.resource_type, {}).setdefault(names, []).append(acl)
    groups: list[list[Acl]] = []
    for resource_type, acls_by_names in by_type.items():
        together = _any_resource_names(resource_type, acls_by_names, release)
        joined = [acl for names in together for acl in acls_by_names[names]]
        for chain in _group_overlapping_names(acls_by_names):
            members = [acl for names in chain for acl in acls_by_names[names]]
            if together.isdisjoint(chain):
                groups.append(members)
            else:
                joined += (acl for acl in members if names_covered_by_acl(acl) not in together)
        groups += [joined] if joined else []
    return groups


def _group_overlapping_names(names: Iterable[NameSet]) -> Iterator[list[NameSet]]:
    """Yield lists of names: each list has one outermost name, and all that lie in it."""
    chain: list[NameSet] = []
    for each in sorted(names, key=lambda names: (names.text, not names.is_prefix)):
        if chain and not chain[0].includes_names(each):
            yield chain
            chain = []
        chain.append(each)
    if chain:
        yield chain


def _any_resource_names(
    resource_type: ResourceType, acls_by_names: dict[NameSet, list[Acl]], release: str
) -> set[NameSet]:
    """Return the names whose ACLs decide together whether an operation is allowed on any resource.

    That is so if one of the ACLs is a DENY, or if they concern the name that brokers try first.
    """
    operations = {
        operation
        for operation, kind in operations_checked_for_any_resource(release)
        if kind is resource_type
    }
    if not operations:
        return set()
    operations.add(Operation.ALL)
    deciding = {
        names: [acl for acl in acls if acl.operation in operations]
        for names, acls in acls_by_names.items()
    }
    denies = any(acl.permission is Permission.DENY for acls in deciding.values() for acl in acls)
    probed = {names for names in acls_by_names if names.contains_name(PROBED_NAME)}
    if not denies and not probed:
        return set()
    return {names for names, acls in deciding.items() if acls} | probed


def _step_sort_key(step: Step) -> tuple[object, ...]:
    acl = step.acl
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (step.safe_rank, acl.principal, *pattern, acl.host, acl.operation)


def inverse_requests(requests: Iterable[Sequence[Step]]) -> list[StepGroup]:
    """Return the requests that undo these, in reverse order."""
    return [
        tuple(
            msgspec.structs.replace(step, is_addition=not step.is_addition)
            for step in reversed(request)
        )
        for request in reversed(list(requests))
    ]
