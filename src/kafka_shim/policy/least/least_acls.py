"""The fewest ACLs for the accesses of principals; commands, the inspector and the pipeline use it.

`least_acls` is for accesses that shall all be allowed. `least_grants` is for observed accesses with
hosts and denials: everything that was allowed stays allowed, and nothing that was denied becomes
allowed. ACLs of a principal do not affect others, so each principal is handled separately.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.authorizer.remedy import CheckedAction, RequiredAccess
from kafka_shim.policy.least.fewest_entries import OperationFromHost, fewest_entries
from kafka_shim.policy.least.name_prefixes import (
    Grant,
)
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType


class ObservedAccess(msgspec.Struct, frozen=True):
    """An access of requests, and whether it was allowed; `last_seen` orders contrary decisions.

    The first alternative is the one that a denial is about.
    """

    required: RequiredAccess
    is_allowed: bool = True
    request_count: int = 1
    last_seen: datetime | int = 0


class _ResourcePattern(NamedTuple):
    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType = PatternType.LITERAL


_Way = tuple[CheckedAction, ...]
"""Actions that together meet a requirement."""
_CellsByPattern = defaultdict[_ResourcePattern, dict[OperationFromHost, int]]
"""The requests for each operation from each host, by the resource pattern of the ACL."""


def least_acls(required: Iterable[RequiredAccess], prefixes: Sequence[str] = ()) -> list[Acl]:
    """Return the fewest and narrowest ACLs that allow these accesses, from all hosts.

    Names that begin with one of `prefixes` are granted by that prefix. Of alternatives, the
    narrowest one is granted, unless an ACL for another access meets one of them.
    """
    accesses = [ObservedAccess(access) for access in dict.fromkeys(required)]
    return [grant.acl for grant in least_grants(accesses, prefixes)]


def least_grants(accesses: Iterable[ObservedAccess], prefixes: Sequence[str] = ()) -> list[Grant]:
    """Return the fewest ACLs for observed accesses, by principal, each one's DENY ACLs last.

    If a decision changed over time, the latest counts.
    """
    by_principal: dict[str, list[ObservedAccess]] = defaultdict(list)
    for access in accesses:
        by_principal[access.required.actor.principal].append(access)
    return [
        grant
        for principal, of_principal in sorted(by_principal.items())
        for grant in _least_grants_of_principal(principal, _latest_accesses(of_principal), prefixes)
    ]


def _latest_accesses(
    accesses: Iterable[ObservedAccess],
) -> list[ObservedAccess]:
    """Return the accesses that were decided like the latest one with the same first alternative."""
    latest: dict[tuple[str, _Way], tuple[datetime | int, bool]] = {}
    keyed = []
    for access in accesses:
        key = access.required.actor.host, access.required.alternatives[0]
        decision = access.last_seen, access.is_allowed
        latest[key] = max(decision, latest.get(key, decision))
        keyed.append((key, access))
    return [access for key, access in keyed if latest[key][1] == access.is_allowed]


def _least_grants_of_principal(
    principal: str, accesses: list[ObservedAccess], prefixes: Sequence[str]
) -> list[Grant]:
    needed = _NeededOperations(prefixes)
    for access in _sort_by_flexibility(access for access in accesses if access.is_allowed):
        needed.add_access(access)
    denied = _named_denials(accesses)
    grants = [
        Grant(
            Acl(*pattern, principal, entry.host, entry.operation, entry.permission),
            entry.request_count,
        )
        for pattern, cells in sorted(needed.cells.items())
        for entry in fewest_entries(cells, _denied_cells(pattern, denied, cells))
    ]
    return sorted(grants, key=lambda grant: grant.acl.permission, reverse=True)


def choose_alternatives(
    accesses: Iterable[ObservedAccess], other_needs: Iterable[ObservedAccess]
) -> list[ObservedAccess]:
    """Return the accesses with one alternative each: that which their ACLs will allow.

    `other_needs` are the accesses of the same principals on the same resources and types, of which
    an ACL may meet an alternative anyway. With the result in place of `accesses`, `least_grants`
    can work on one resource at a time.
    """
    needed: dict[str, _NeededOperations] = defaultdict(lambda: _NeededOperations(()))
    for need in other_needs:
        needed[need.required.actor.principal].add_access(need)
    return [
        msgspec.structs.replace(access, required=RequiredAccess(access.required.actor, ((check,),)))
        for access in _sort_by_flexibility(accesses)
        for check in needed[access.required.actor.principal].add_access(access)
    ]


def _sort_by_flexibility(accesses: Iterable[ObservedAccess]) -> list[ObservedAccess]:
    """Sort accesses, since ACLs for those that can be met in one way may also meet others."""
    return sorted(
        accesses,
        key=lambda access: (
            any(check.any_name for way in access.required.alternatives for check in way),
            len(access.required.alternatives),
        ),
    )


class _NeededOperations:
    """The operations that a principal needs on each resource, by the pattern of their ACL."""

    def __init__(self, prefixes: Sequence[str]) -> None:
        self.cells: _CellsByPattern = defaultdict(dict)
        self._prefixes = prefixes
        self._anywhere: set[tuple[ResourceType, OperationFromHost]] = set()

    def add_access(self, access: ObservedAccess) -> list[CheckedAction]:
        """Add the narrowest way to meet an access, unless other needs meet it in any way.

        Return the actions for which the requests count.
        """
        host = access.required.actor.host
        ways = access.required.alternatives
        met = [way for way in ways if len(ways) > 1 and all(self._is_met(c, host) for c in way)]
        counted = []
        for check in min(met or reversed(ways), key=_width_sort_key):
            if met and check.any_name:
                continue
            action = check.action
            cell = self._meeting_cell(action, host) if met else (action.operation, host)
            cells = self.cells[self._pattern_of_action(action)]
            cells[cell] = cells.get(cell, 0) + access.request_count
            self._anywhere.add((action.resource_type, cell))
            counted.append(
                CheckedAction(Action(cell[0], action.resource_type, action.resource_name))
            )
        return counted

    def _is_met(self, check: CheckedAction, host: str) -> bool:
        action = check.action
        if check.any_name:  # KIP-679: implied operations do not count for a whole type
            return (action.resource_type, (action.operation, host)) in self._anywhere
        cells = self.cells.get(self._pattern_of_action(action), {})
        return self._meeting_cell(action, host) in cells

    def _meeting_cell(self, action: Action, host: str) -> OperationFromHost:
        """Return the cell that meets an action, preferably with the same operation."""
        cells = self.cells.get(self._pattern_of_action(action), {})
        including = sorted(operations_whose_allow_includes(action.operation))
        return next(
            ((each, host) for each in (action.operation, *including) if (each, host) in cells),
            (action.operation, host),
        )

    def _pattern_of_action(self, action: Action) -> _ResourcePattern:
        name = action.resource_name
        matches = [prefix for prefix in self._prefixes if name.startswith(prefix)]
        if matches and action.resource_type is not ResourceType.CLUSTER:
            return _ResourcePattern(
                action.resource_type, max(matches, key=len), PatternType.PREFIXED
            )
        return _ResourcePattern(action.resource_type, name)


def _width_sort_key(way: _Way) -> tuple[bool, bool]:
    """Return a sort key: named resources first, then the cluster, then any name of a type."""
    on_cluster = any(check.action.resource_type is ResourceType.CLUSTER for check in way)
    return any(check.any_name for check in way), on_cluster


def _named_denials(accesses: Iterable[ObservedAccess]) -> _CellsByPattern:
    """Return the accesses that were denied by name."""
    denied: _CellsByPattern = defaultdict(dict)
    for access in accesses:
        check = access.required.alternatives[0][0]
        if not (access.is_allowed or check.any_name):
            operation, resource_type, name = _sort_key_of_access(access)
            cells = denied[_ResourcePattern(resource_type, name)]
            cell = operation, access.required.actor.host
            cells[cell] = cells.get(cell, 0) + access.request_count
    return denied


def _denied_cells(
    pattern: _ResourcePattern, denied: _CellsByPattern, needed: Iterable[OperationFromHost]
) -> dict[OperationFromHost, int]:
    """Return what was denied on the names of a pattern and is not needed."""
    names: Iterator[_ResourcePattern] = iter((pattern,))
    if pattern.pattern_type is PatternType.PREFIXED:
        names = (
            other
            for other in denied
            if other.resource_type is pattern.resource_type
            and other.resource_name.startswith(pattern.resource_name)
        )
    return {
        cell: count
        for name in names
        for cell, count in denied.get(name, {}).items()
        if cell not in needed
    }


def _sort_key_of_access(
    access: ObservedAccess,
) -> tuple[Operation, ResourceType, str]:
    action = access.required.alternatives[0][0].action
    return action.operation, action.resource_type, action.resource_name
