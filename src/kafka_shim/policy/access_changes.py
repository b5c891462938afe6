"""The access that principals gain and lose between two sets of ACLs, for all possible names.

The authorizer makes the decisions. It decides each region of names (see `names`) into which the
patterns of both sets divide all names, for every principal and host in an ACL.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain

import msgspec

from kafka_shim.authorizer.acl_rules import operation_bit_field
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Action, Actor
from kafka_shim.authorizer.networks import smallest_enclosing_host
from kafka_shim.policy.checked_accesses import (
    acl_hosts_for_principal,
    acl_names_for_principal,
    checked_operations_by_resource_type,
    operations_checked_for_any_resource,
    possible_hosts,
    require_full_prefix_search,
    sample_host,
    sample_principal,
)
from kafka_shim.policy.decision_function import CombinedDecisions, DecisionFunction
from kafka_shim.policy.name_sets import (
    ALL_NAMES,
    NameRegion,
    NameSet,
    divide_into_regions,
    merge_rules,
)
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType

GainedAndLostBits = tuple[int, int]
"""Operations gained and lost, as bit fields by operation code."""
ChangedBitsByHost = Mapping[str, GainedAndLostBits]
"""What changes, by host; `*` is every other host."""


_ChangedAclsByPrincipal = dict[str, list[Acl]]
"""ACLs of one side only, by principal; all of them under the empty text."""


class AccessChange(msgspec.Struct, frozen=True, gc=False):
    """Operations that principals gain or lose, on `names` without `except_names`.

    The principal `User:*` stands for all that are not in `except_principals`, the host `*` for all
    that are not in `except_hosts`. `names` is None for access to at least one resource of the
    type, which idempotent producers need (KIP-679).
    """

    gained: bool
    principal: str
    except_principals: tuple[str, ...]
    resource_type: ResourceType
    names: NameSet | None
    except_names: tuple[NameSet, ...]
    operations: tuple[Operation, ...]
    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]

    def affects_access(self, actor: Actor, action: Action) -> bool:
        """Return whether the decision about an access to a named resource changes by this."""
        return (
            self.resource_type is action.resource_type
            and action.operation in self.operations
            and self.applies_to_actor(actor)
            and self.concerns_name(action.resource_name)
        )

    def concerns_name(self, name: str) -> bool:
        """Return whether the change is about the resource with this name."""
        return (
            self.names is not None
            and self.names.contains_name(name)
            and not any(names.contains_name(name) for names in self.except_names)
        )

    def applies_to_actor(self, actor: Actor) -> bool:
        if self.principal == ANY_USER:
            is_meant = actor.principal not in self.except_principals
        else:
            is_meant = actor.principal == self.principal
        places = (*self.hosts, *self.except_hosts)
        at = actor.host if actor.host in places else smallest_enclosing_host(actor.host, places)
        return is_meant and at in self.hosts


def access_changes(
    old: DecisionFunction,
    new: DecisionFunction,
    release: str,
    new_release: str | None = None,
    report_change_count: Callable[[int], object] = int,
) -> tuple[AccessChange, ...]:
    """Return all decisions that differ in `new`, as few changes as possible.

    Super users, settings and releases may differ, too. Raise InexactReleaseError for a release
    whose decisions cannot be computed for all names.
    """
    for side in (old, new):
        require_full_prefix_search(side)
    comparison = _DecisionComparison(old, new, release, new_release or release)
    changes: list[AccessChange] = []
    for resource_type in comparison.changed_resource_types():
        for change in comparison.changes_on_resource_type(resource_type):
            changes.append(change)
            report_change_count(len(changes))
    return tuple(sorted(changes, key=_change_sort_key))


class _DecisionComparison:
    """Two decision functions with their releases, and what differs between them.

    If their settings differ, every decision can differ, so all ACLs count as changed.
    """

    def __init__(
        self, old: DecisionFunction, new: DecisionFunction, release: str, new_release: str
    ) -> None:
        self._old, self._new = old, new
        self._releases = (release, new_release)
        self._finest_rules = merge_rules(old.rules, new.rules)
        self._super_users_of_both_sides = old.super_users & new.super_users
        self._differing_super_users = (old.super_users ^ new.super_users).union(
            *(
                side.differing_super_users
                for side in (old, new)
                if isinstance(side, CombinedDecisions)
            )
        )
        self._checked_bits = 0

    def changes_on_resource_type(self, resource_type: ResourceType) -> Iterator[AccessChange]:
        """Yield the changes on resources of a type: first for everyone else, then for others."""
        self._checked_bits = self._checked_operation_bits(resource_type)
        changed: _ChangedAclsByPrincipal = {"": self._relevant_acls(resource_type)}
        for acl in changed[""]:
            changed.setdefault(acl.principal, []).append(acl)
        touched = {*changed, *self._differing_super_users} - {""}
        everyone: list[AccessChange] = []
        if ANY_USER in touched or self._any_acl_may_affect_everyone:
            everyone = self._changes_for_principal(ANY_USER, resource_type, changed)
            touched |= self._principals_in_acls_of_type(resource_type)
        supers = self._super_users_of_both_sides
        changes_by_principal: dict[str, list[AccessChange]] = {}
        for principal in sorted(touched - {ANY_USER} - supers):
            changes = self._changes_for_principal(principal, resource_type, changed)
            if not _equal_changes_of_everyone(changes, everyone):
                changes_by_principal[principal] = changes
        excepted = tuple(sorted((*changes_by_principal, *supers)))
        for change in everyone:
            yield msgspec.structs.replace(change, except_principals=excepted)
        for changes in changes_by_principal.values():
            yield from changes

    def _changes_for_principal(
        self, principal: str, resource_type: ResourceType, changed: _ChangedAclsByPrincipal
    ) -> list[AccessChange]:
        names: set[NameSet] = set()
        hosts_in_acls: set[str] = set()
        for side in (self._old, self._new):
            names |= acl_names_for_principal(side, resource_type, principal)
            hosts_in_acls |= acl_hosts_for_principal(side, resource_type, principal)
        hosts = possible_hosts(hosts_in_acls, self._finest_rules)
        divided = divide_into_regions(resource_type, names, self._finest_rules, ALL_NAMES)
        scope = _ChangedNameIndex(
            chain.from_iterable(
                changed.get(who, ())
                for who in (("",) if self._any_acl_may_affect_everyone else {principal, ANY_USER})
            ),
            covers_all_names=resource_type is ResourceType.CLUSTER
            or self._settings_differ
            or principal in self._differing_super_users,
        )
        deltas = [
            self._changed_bits_by_host(principal, hosts, resource_type, region.sample_name)
            if scope.is_affected(region.names)
            else {}
            for region in divided
        ]
        changes = list(_changes_by_region(principal, resource_type, divided, deltas))
        return [*changes, *self._changes_on_any_resource(principal, hosts, resource_type)]

    def _changed_bits_by_host(
        self, principal: str, hosts: Sequence[str], resource_type: ResourceType, name: str
    ) -> ChangedBitsByHost:
        delta: dict[str, GainedAndLostBits] = {}
        checked, has_changes = self._checked_bits, False
        for host in hosts:
            actor = Actor(sample_principal(principal), sample_host(host))
            before = self._old.allowed_operation_bits(actor, resource_type, name) & checked
            after = self._new.allowed_operation_bits(actor, resource_type, name) & checked
            delta[host] = after & ~before, before & ~after
            has_changes = has_changes or before != after
        return delta if has_changes else {}

    def _changes_on_any_resource(
        self, principal: str, hosts: Sequence[str], resource_type: ResourceType
    ) -> Iterator[AccessChange]:
        for operation, kind in self._operations_on_any_resource:
            if kind is not resource_type:
                continue
            delta: dict[str, GainedAndLostBits] = {}
            for host in hosts:
                access = (
                    Actor(sample_principal(principal), sample_host(host)),
                    operation,
                    kind,
                )
                was = self._old.authorize_by_resource_type(*access).allowed
                changes = was is not self._new.authorize_by_resource_type(*access).allowed
                delta[host] = (
                    (changes and not was) << operation,
                    (changes and was) << operation,
                )
            yield from _group_by_hosts(principal, resource_type, None, (), delta)

    @cached_property
    def _settings_differ(self) -> bool:
        """Return whether something besides ACLs and super users differs that decisions need."""
        first, second = (
            (
                side.allow_everyone,
                side.rules.host_networks,
                side.rules.wildcard_covers_starred_names,
                side.rules.allow_everyone_by_resource_type,
            )
            for side in (self._old, self._new)
        )
        return first != second or type(self._old) is not type(self._new)

    @property
    def _any_acl_may_affect_everyone(self) -> bool:
        """Return whether ACLs of one principal can open or close a resource for all others."""
        return self._old.allow_everyone or self._new.allow_everyone or self._settings_differ

    @property
    def _operations_on_any_resource(self) -> Sequence[tuple[Operation, ResourceType]]:
        """Return the operations that brokers of either release check by resource type."""
        return sorted(
            {
                pair
                for release in self._releases
                for pair in operations_checked_for_any_resource(release)
            }
        )

    def _checked_operation_bits(self, resource_type: ResourceType) -> int:
        """Return the bit field of operations that brokers of either release check on a type."""
        return operation_bit_field(
            {
                operation
                for release in self._releases
                for operation in checked_operations_by_resource_type(release).get(resource_type, ())
            }
        )

    def changed_resource_types(self) -> Sequence[ResourceType]:
        if self._settings_differ or self._differing_super_users:
            return sorted(
                {
                    kind
                    for release in self._releases
                    for kind in checked_operations_by_resource_type(release)
                }
            )
        return sorted(self._relevant_acls_by_type)

    def _relevant_acls(self, resource_type: ResourceType) -> list[Acl]:
        return self._relevant_acls_by_type.get(resource_type, [])

    def _principals_in_acls_of_type(self, resource_type: ResourceType) -> set[str]:
        return {
            subject.principal
            for side in (self._old, self._new)
            for pattern in side.store.patterns_of_type(resource_type)
            for subject, _ in pattern.subject_grants()
        }

    @cached_property
    def _relevant_acls_by_type(self) -> dict[ResourceType, list[Acl]]:
        old, new = self._old.store, self._new.store
        removed_or_all_old = old if self._settings_differ else old.acls_missing_in(new)
        acls_by_type: dict[ResourceType, list[Acl]] = {}
        for acl in chain(removed_or_all_old, new.acls_missing_in(old)):
            acls_by_type.setdefault(acl.resource_type, []).append(acl)
        return acls_by_type


class _ChangedNameIndex:
    """The names in changed ACLs."""

    def __init__(self, changed_acls: Iterable[Acl], *, covers_all_names: bool) -> None:
        names_by_pattern_type: dict[PatternType, set[str]] = defaultdict(set)
        for acl in changed_acls:
            names_by_pattern_type[acl.pattern_type].add(acl.resource_name)
        self._literals = names_by_pattern_type[PatternType.LITERAL]
        self._prefixes = names_by_pattern_type[PatternType.PREFIXED]
        self._covers_all_names = covers_all_names or WILDCARD in self._literals
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def is_affected(self, names: NameSet) -> bool:
        """Return whether a changed ACL is about a region, which is
        completely in a pattern or not.
        """
        if self._covers_all_names or (not names.is_prefix and names.text in self._literals):
            return True
        return any(
            names.text[:length] in self._prefixes
            for length in self._lengths
            if length <= len(names.text)
        )


def _changes_by_region(
    principal: str,
    resource_type: ResourceType,
    divided: Sequence[NameRegion],
    deltas: Sequence[ChangedBitsByHost],
) -> Iterator[AccessChange]:
    """Return changes by region; regions that change like the region around them are left out."""
    standing = [-1] * len(divided)  # the region whose change applies here
    inside: dict[int, list[NameSet]] = {}
    for at, region in enumerate(divided):
        around = standing[region.parent_position] if region.parent_position >= 0 else -1
        if around >= 0 and deltas[around] == deltas[at]:
            standing[at] = around
            continue
        standing[at] = at
        if around >= 0:
            inside.setdefault(around, []).append(region.names)
    for at, region in enumerate(divided):
        if standing[at] == at and deltas[at]:
            excepted = tuple(inside.get(at, ()))
            yield from _group_by_hosts(principal, resource_type, region.names, excepted, deltas[at])


def _group_by_hosts(
    principal: str,
    resource_type: ResourceType,
    names: NameSet | None,
    except_names: tuple[NameSet, ...],
    delta: ChangedBitsByHost,
) -> Iterator[AccessChange]:
    """Return a delta as changes; hosts with the same change are combined."""
    for gained, bits, hosts, except_hosts in _iter_host_groups(delta):
        yield AccessChange(
            gained,
            principal,
            (),
            resource_type,
            names,
            except_names,
            _operations_of_bits(bits),
            hosts,
            except_hosts,
        )


def _iter_host_groups(
    delta: ChangedBitsByHost,
) -> Iterator[tuple[bool, int, tuple[str, ...], tuple[str, ...]]]:
    """Yield whether it is a gain, the bits of the operations, the hosts, and the hosts in their
    networks that are excepted.
    """
    if len(delta) == 1:  # every host, as nearly always
        for gained, mask in zip((True, False), delta[WILDCARD], strict=True):
            if mask:
                yield gained, mask, (WILDCARD,), ()
        return
    outer = {host: smallest_enclosing_host(host, delta) for host in delta if host != WILDCARD}
    for side, gained in enumerate((True, False)):
        if not any(each[side] for each in delta.values()):
            continue
        bits = {host: delta[host][side] for host in delta}
        inner = [host for host in outer if bits[host] != bits[outer[host]]]
        groups: dict[int, list[str]] = {}
        for host in delta:
            if bits[host] and (host == WILDCARD or host in inner):
                groups.setdefault(bits[host], []).append(host)
        for mask, hosts in groups.items():
            yield (
                gained,
                mask,
                tuple(hosts),
                tuple(host for host in inner if bits[outer[host]] == mask),
            )


@cache
def _operations_of_bits(bits: int) -> tuple[Operation, ...]:
    return tuple(operation for operation in Operation if bits >> operation & 1)


def _equal_changes_of_everyone(
    changes: Sequence[AccessChange], everyone: Sequence[AccessChange]
) -> bool:
    return len(changes) == len(everyone) and all(
        msgspec.structs.replace(change, principal=ANY_USER) == other
        for change, other in zip(changes, everyone, strict=True)
    )


def _change_sort_key(change: AccessChange) -> tuple[object, ...]:
    names = change.names or ALL_NAMES
    return (
        change.principal,
        change.resource_type,
        change.names is None,
        names.text,
        not names.is_prefix,
        change.hosts,
        change.gained,
    )
