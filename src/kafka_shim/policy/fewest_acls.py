"""The fewest ACLs on resources of a type that decide like given ones.

ACLs divide all accesses into cells: a principal, a host, a region of names and an operation. An
allowed cell needs an ALLOW, and no DENY may cover it. A denied cell that an ALLOW covers needs a
DENY. It suffices to choose ACLs for the principals, names and hosts of the given ACLs, and for what
encloses several of these: all others decide something about accesses that are decided like their
surroundings, so that the ACLs of the surroundings decide them, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from os.path import commonprefix

import msgspec

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Actor
from kafka_shim.authorizer.networks import covers_host, enclosing_networks
from kafka_shim.authorizer.operations import (
    operation_bit_field,
    operations_whose_allow_includes,
    operations_whose_deny_includes,
)
from kafka_shim.authorizer.pattern import DENY_SHIFT
from kafka_shim.policy.checked_accesses import (
    UNNAMED_PRINCIPAL,
    checked_operations_by_resource_type,
    sample_principal,
    wildcard_and_possible_hosts,
)
from kafka_shim.policy.minimum_cover import Choice, minimum_cover
from kafka_shim.policy.name_sets import (
    ALL_NAMES,
    NameRegion,
    NameSet,
    divide_into_regions,
    names_covered_by_acl,
    pattern_covering_names,
)
from kafka_shim.policy.witness import one_client_address_per_host
from kafka_shim.protocol.enums import Operation, Permission, ResourceType

CELLS_MAX = 200_000
"""A part of the problem with more cells is not searched."""


class FewestAcls(msgspec.Struct, frozen=True):
    """ACLs that allow and deny what is required; no set that does so is below `lower_bound`.

    `acls` is None if the problem is too large.
    """

    acls: frozenset[Acl] | None
    lower_bound: int


def fewest_acls_of_type(
    authorizer: StandardAuthorizer, kind: ResourceType, release: str, *, adds_denies: bool
) -> FewestAcls:
    """Return the fewest ACLs on resources of a type, with a lower bound of the number.

    Unless `adds_denies`, they deny nothing that no DENY of the authorizer denies. Two rules are
    left out: access by resource type, and that any ACL closes a resource to everyone. So the result
    may decide otherwise; but the bound holds.
    """
    space = _AccessSpace(authorizer, kind, release, adds_denies=adds_denies)
    parts = [space.fewest_acls_of(principals) for principals in space.independent_principals()]
    bound = sum(part.lower_bound for part in parts)
    if any(part.acls is None for part in parts):
        return FewestAcls(None, bound)
    return FewestAcls(frozenset().union(*(part.acls or () for part in parts)), bound)


class _Cell(msgspec.Struct, frozen=True):
    """The operations of a principal from a host on a region of names, as bit fields.

    `needed` must be allowed by ACLs of this principal, `required` must be denied, and only
    `deniable` can be.
    """

    number: int
    needed: int
    denied: int
    required: int
    deniable: int

    def requirements(self, operations: int) -> Iterator[int]:
        """Yield a number for each of the operations on this cell."""
        return (self.number << 5 | bit for bit in range(32) if operations >> bit & 1)


class _PrincipalCells:
    """The cells of a principal, by host and region of names."""

    def __init__(
        self, hosts: Sequence[str], regions: Sequence[NameRegion], rules: AclRules
    ) -> None:
        self.hosts, self.regions = hosts, regions
        self.cells: dict[tuple[str, int], _Cell] = {}
        self._starred_are_overlooked = not rules.wildcard_covers_starred_names
        self._positions = {region.names: at for at, region in enumerate(regions)}
        self._ends = list(range(1, len(regions) + 1))
        for at in range(len(regions) - 1, 0, -1):
            parent = regions[at].parent_position
            self._ends[parent] = max(self._ends[parent], self._ends[at])

    def covered_by(self, host: str, names: NameSet) -> list[_Cell]:
        """Return the cells that an ACL for this host and these names covers."""
        first = self._positions[names]
        return [
            self.cells[each, at]
            for each in self.hosts
            if covers_host(host, each, host_networks=True)
            for at in range(first, self._ends[first])
            if (each, at) in self.cells
            and not (names == ALL_NAMES and self._is_overlooked_by_wildcard(at))
        ]

    def _is_overlooked_by_wildcard(self, position: int) -> bool:
        names = self.regions[position].names
        is_starred = names.text.startswith(WILDCARD) and names != NameSet(WILDCARD)
        return self._starred_are_overlooked and is_starred


class _AccessSpace:
    """All accesses to resources of a type, divided into cells."""

    def __init__(
        self, authorizer: StandardAuthorizer, kind: ResourceType, release: str, *, adds_denies: bool
    ) -> None:
        self._authorizer, self._kind, self._adds_denies = authorizer, kind, adds_denies
        self._operations = checked_operations_by_resource_type(release).get(kind, ())
        self._checked = operation_bit_field(self._operations)
        self._acls_by_principal: dict[str, list[Acl]] = {ANY_USER: []}
        for acl in authorizer.store:
            if acl.resource_type is kind and acl.principal not in authorizer.super_users:
                self._acls_by_principal.setdefault(acl.principal, []).append(acl)
        self._divides_for_all_principals = adds_denies or authorizer.allow_everyone

    def independent_principals(self) -> list[list[str]]:
        """Return groups of principals; no ACL is of use to two groups."""
        principals = list(self._acls_by_principal)
        denies_everyone = any(
            acl.permission is Permission.DENY for acl in self._acls_by_principal[ANY_USER]
        )
        if self._divides_for_all_principals or denies_everyone:
            return [principals]
        return [[principal] for principal in principals]

    def fewest_acls_of(self, principals: Sequence[str], *, allows_only: bool = False) -> FewestAcls:
        """Return the fewest ACLs of a group. The bound of `allows_only` holds for a part of it."""
        spaces = {principal: self._hosts_and_regions(principal) for principal in principals}
        count = sum(len(each.hosts) * len(each.regions) for each in spaces.values())
        if count * len(self._operations) > CELLS_MAX:
            alone = [[each] for each in principals] if len(principals) > 1 else []
            bounds = (self.fewest_acls_of(each, allows_only=True).lower_bound for each in alone)
            return FewestAcls(None, sum(bounds))
        self._fill_cells(spaces)
        candidates = dict(self._allows(spaces))
        if allows_only:
            candidates = {acl: Choice(choice.meets) for acl, choice in candidates.items()}
        else:
            candidates.update(self._denies(spaces))
        ordered = sorted(candidates, key=self._preference)
        required = {
            requirement
            for each in spaces.values()
            for cell in each.cells.values()
            for requirement in cell.requirements(
                cell.needed | (0 if allows_only else cell.required)
            )
        }
        cover = minimum_cover(required, [candidates[acl] for acl in ordered])
        return FewestAcls(frozenset(ordered[at] for at in cover.chosen), cover.lower_bound)

    def _preference(self, acl: Acl) -> tuple[object, ...]:
        is_new = acl not in self._authorizer.store
        return is_new, acl.permission is Permission.DENY, acl.operation is Operation.ALL, str(acl)

    def _hosts_and_regions(self, principal: str) -> _PrincipalCells:
        rules = self._authorizer.rules
        acls = [acl for each in {principal, ANY_USER} for acl in self._acls_by_principal[each]]
        hosts = {acl.host for acl in acls}
        if self._divides_for_all_principals:
            acls = [acl for each in self._acls_by_principal.values() for acl in each]
            hosts = {acl.host for acl in acls}
        if rules.host_networks:
            hosts |= enclosing_networks(hosts)
        names = {names_covered_by_acl(acl) for acl in acls}
        if self._divides_for_all_principals:
            names |= _enclosing_prefixes(names)
        return _PrincipalCells(
            wildcard_and_possible_hosts(hosts, rules),
            divide_into_regions(self._kind, names, rules, ALL_NAMES),
            rules,
        )

    def _fill_cells(self, spaces: dict[str, _PrincipalCells]) -> None:
        number = 0
        for principal, space in spaces.items():
            for host in space.hosts:
                others = tuple(each for each in space.hosts if each not in (host, WILDCARD))
                for address in one_client_address_per_host((host,), others):
                    actor = Actor(sample_principal(principal), address)
                    for at, region in enumerate(space.regions):
                        space.cells[host, at] = self._cell(number, actor, region.sample_name)
                        number += 1
        if self._authorizer.allow_everyone:
            self._drop_needs_of_open_names(spaces)

    def _cell(self, number: int, actor: Actor, name: str) -> _Cell:
        allowed = self._allowed(actor, name)
        denied = self._checked & ~allowed
        everyone = 0
        if actor.principal != UNNAMED_PRINCIPAL:
            everyone = self._allowed(Actor(UNNAMED_PRINCIPAL, actor.host), name)
        return _Cell(
            number,
            needed=allowed & ~everyone,
            denied=denied,
            required=denied & everyone,
            deniable=denied if self._adds_denies else self._denied_by_acls(actor, name),
        )

    def _allowed(self, actor: Actor, name: str) -> int:
        bits = self._authorizer.allowed_operation_bits(actor, self._kind, name)
        return bits & self._checked

    def _denied_by_acls(self, actor: Actor, name: str) -> int:
        store = self._authorizer.store
        patterns = store.patterns_used_for_decision(
            self._kind, name, self._authorizer.rules.wildcard_covers_starred_names
        )
        subjects = store.subjects_including(actor)
        grant = 0
        for pattern in patterns:
            for subject in subjects:
                grant |= pattern.grant_bits_of(subject)
        denied = grant >> DENY_SHIFT
        return self._checked if denied >> Operation.ALL & 1 else denied & self._checked

    def _drop_needs_of_open_names(self, spaces: dict[str, _PrincipalCells]) -> None:
        """Drop what is needed where everything is allowed: it may have no ACLs at all."""
        closed = {
            at for space in spaces.values() for (_, at), cell in space.cells.items() if cell.denied
        }
        for space in spaces.values():
            for (host, at), cell in space.cells.items():
                if at not in closed:
                    space.cells[host, at] = msgspec.structs.replace(cell, needed=0)

    def _allows(self, spaces: dict[str, _PrincipalCells]) -> Iterator[tuple[Acl, Choice]]:
        """Yield the ALLOWs that are of use; what they allow too much can be denied."""
        included_by_operation = self._operations_included(operations_whose_allow_includes)
        for principal, space in spaces.items():
            for host, names in _hosts_and_names(space):
                cells = space.covered_by(host, names)
                for operation, included in included_by_operation:
                    meets = _requirements((cell, cell.needed & included) for cell in cells)
                    if meets and not any(cell.denied & included & ~cell.deniable for cell in cells):
                        raises = _requirements((cell, cell.denied & included) for cell in cells)
                        acl = self._acl(principal, host, names, operation, Permission.ALLOW)
                        yield acl, Choice(meets, raises)

    def _denies(self, spaces: dict[str, _PrincipalCells]) -> Iterator[tuple[Acl, Choice]]:
        """Yield the DENYs that are of use."""
        if not any(cell.deniable for each in spaces.values() for cell in each.cells.values()):
            return
        included_by_operation = self._operations_included(operations_whose_deny_includes)
        for principal, space in spaces.items():
            affected = spaces.values() if principal == ANY_USER else [space]
            for host, names in _hosts_and_names(space):
                cells = [cell for each in affected for cell in each.covered_by(host, names)]
                for operation, included in included_by_operation:
                    if cells and not any(included & ~cell.deniable for cell in cells):
                        acl = self._acl(principal, host, names, operation, Permission.DENY)
                        yield acl, Choice(_requirements((cell, included) for cell in cells))

    def _operations_included(
        self, including: Callable[[Operation], Set[Operation]]
    ) -> list[tuple[Operation, int]]:
        """Return the operations of ACLs, each with the bit field of those that it includes."""
        return [
            (each, operation_bit_field(op for op in self._operations if each in including(op)))
            for each in (*self._operations, Operation.ALL)
        ]

    def _acl(
        self,
        principal: str,
        host: str,
        names: NameSet,
        operation: Operation,
        permission: Permission,
    ) -> Acl:
        name, pattern_type = pattern_covering_names(names)
        return Acl(self._kind, name, pattern_type, principal, host, operation, permission)


def _hosts_and_names(space: _PrincipalCells) -> Iterator[tuple[str, NameSet]]:
    """Yield the hosts and names of possible ACLs; literal `*` is not the name of a resource."""
    for host in space.hosts:
        for region in space.regions:
            if region.names != NameSet(WILDCARD):
                yield host, region.names


def _requirements(cells: Iterable[tuple[_Cell, int]]) -> frozenset[int]:
    return frozenset(
        number
        for cell, operations in cells
        if operations
        for number in cell.requirements(operations)
    )


def _enclosing_prefixes(names: Iterable[NameSet]) -> set[NameSet]:
    """Return the longest prefix of each two neighbours, if it is not empty."""
    texts = pairwise(sorted({each.text for each in names}))
    prefixes = {commonprefix(pair) for pair in texts}  # noqa: RUF071 of texts, not of paths
    return {NameSet(prefix, is_prefix=True) for prefix in prefixes - {""}}
