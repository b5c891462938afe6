"""The access that principals gain and lose between two sets of ACLs, for all possible names.

The authorizer makes the decisions. It decides each region of names (see `names`) into which the
patterns of both sets divide all names, for every principal and host in an ACL.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, Action, Actor
from kafka_shim.authorizer.networks import around
from kafka_shim.authorizer.policy.names import ALL_NAMES, Names, Region, names_of, regions
from kafka_shim.authorizer.policy.questions import (
    acls_about,
    asked_by_type,
    asked_operations,
    asker,
    check_exact,
    hosts_of,
    place,
)
from kafka_shim.protocol.enums import Operation, ResourceType

Bits = tuple[int, int]
"""Operations gained and lost, as bit fields by operation code."""
Delta = Mapping[str, Bits]
"""What changes, by host; `*` is every other host."""


_Changed = dict[str, list[Acl]]
"""ACLs of one side only, by principal; all of them under the empty text."""


class Change(msgspec.Struct, frozen=True):
    """Operations that principals gain or lose, on `names` without `except_names`.

    The principal `User:*` stands for all that are not in `except_principals`, the host `*` for all
    that are not in `except_hosts`. `names` is None for access to at least one resource of the
    type, which idempotent producers need (KIP-679).
    """

    gained: bool
    principal: str
    except_principals: tuple[str, ...]
    resource_type: ResourceType
    names: Names | None
    except_names: tuple[Names, ...]
    operations: tuple[Operation, ...]
    hosts: tuple[str, ...]
    except_hosts: tuple[str, ...]

    def covers(self, actor: Actor, action: Action) -> bool:
        """Return whether the decision about an access to a named resource changes by this."""
        return (
            self.names is not None
            and self.resource_type is action.resource_type
            and action.operation in self.operations
            and self.is_for(actor)
            and self.names.covers(action.resource_name)
            and not any(names.covers(action.resource_name) for names in self.except_names)
        )

    def is_for(self, actor: Actor) -> bool:
        if self.principal == ANY_USER:
            is_meant = actor.principal not in self.except_principals
        else:
            is_meant = actor.principal == self.principal
        places = (*self.hosts, *self.except_hosts)
        at = actor.host if actor.host in places else around(actor.host, places)
        return is_meant and at in self.hosts


def difference(
    old: StandardAuthorizer, new: StandardAuthorizer, release: str
) -> tuple[Change, ...]:
    """Return all decisions that differ in `new`, as few changes as possible.

    Both authorizers have the same super users, settings and rules, those of `release`. Raise
    OverlookingError for a release whose decisions cannot be computed for all names.
    """
    check_exact(new)
    changed = set(old.store).symmetric_difference(new.store)
    by_type: dict[ResourceType, list[Acl]] = {}
    for acl in changed:
        by_type.setdefault(acl.resource_type, []).append(acl)
    comparison = _Comparison(old, new, release)
    found = [
        change
        for resource_type in sorted(by_type)
        for change in comparison.of_type(resource_type, by_type[resource_type])
    ]
    return tuple(sorted(found, key=_order))


class _Comparison:
    def __init__(self, old: StandardAuthorizer, new: StandardAuthorizer, release: str) -> None:
        self._old, self._new = old, new
        self._operations = asked_operations(release)
        self._by_type = asked_by_type(release)

    def of_type(self, resource_type: ResourceType, acls: list[Acl]) -> Iterator[Change]:
        """Yield the changes on resources of a type: first for everyone else, then for others."""
        changed: _Changed = {"": acls}
        for acl in acls:
            changed.setdefault(acl.principal, []).append(acl)
        touched = set(changed) - {""}
        everyone: list[Change] = []
        if ANY_USER in touched or self._old.allow_everyone:
            everyone = self._changes(ANY_USER, resource_type, changed)
            touched |= {
                subject.principal
                for side in (self._old, self._new)
                for pattern in side.store.patterns(resource_type)
                for subject, _ in pattern.grants()
            }
        supers = self._new.super_users
        others: dict[str, list[Change]] = {}
        for principal in sorted(touched - {ANY_USER} - supers):
            changes = self._changes(principal, resource_type, changed)
            if [_as_everyone(change) for change in changes] != everyone:
                others[principal] = changes
        excepted = tuple(sorted((*others, *supers)))
        for change in everyone:
            yield msgspec.structs.replace(change, except_principals=excepted)
        for changes in others.values():
            yield from changes

    def _changes(
        self, principal: str, resource_type: ResourceType, changed: _Changed
    ) -> list[Change]:
        acls = {
            acl
            for side in (self._old, self._new)
            for acl in acls_about(side, resource_type, principal)
        }
        hosts = hosts_of(acls, principal, self._new.rules)
        meant = (principal, ANY_USER)
        anybody = self._old.allow_everyone
        touched = set(map(names_of, changed[""])) if anybody else set()
        touched |= {names_of(acl) for who in meant for acl in changed.get(who, ())}
        divided = regions(resource_type, set(map(names_of, acls)), self._new.rules, ALL_NAMES)
        scope = _Scope(touched, whole=resource_type is ResourceType.CLUSTER)
        deltas = [
            self._delta(principal, hosts, resource_type, region.sample)
            if scope.touches(region.names)
            else {}
            for region in divided
        ]
        found = list(_folded(principal, resource_type, divided, deltas))
        return [*found, *self._changes_by_type(principal, hosts, resource_type)]

    def _delta(
        self, principal: str, hosts: Sequence[str], resource_type: ResourceType, name: str
    ) -> Delta:
        delta: dict[str, Bits] = {}
        operations = self._operations.get(resource_type, ())
        for host in hosts:
            actor = Actor(asker(principal), place(host))
            gained = lost = 0
            for operation in operations:
                action = Action(operation, resource_type, name)
                was = self._old.decide(actor, action).allowed
                if was is not self._new.decide(actor, action).allowed:
                    gained, lost = gained | (not was) << operation, lost | was << operation
            delta[host] = gained, lost
        return delta if any(map(any, delta.values())) else {}

    def _changes_by_type(
        self, principal: str, hosts: Sequence[str], resource_type: ResourceType
    ) -> Iterator[Change]:
        for operation, kind in self._by_type:
            if kind is not resource_type:
                continue
            delta: dict[str, Bits] = {}
            for host in hosts:
                asked = (Actor(asker(principal), place(host)), operation, kind)
                was = self._old.authorize_by_resource_type(*asked).allowed
                changes = was is not self._new.authorize_by_resource_type(*asked).allowed
                delta[host] = (
                    (changes and not was) << operation,
                    (changes and was) << operation,
                )
            yield from _told(principal, resource_type, None, (), delta)


class _Scope:
    """The names in changed ACLs."""

    def __init__(self, touched: set[Names], *, whole: bool) -> None:
        self._whole = whole or ALL_NAMES in touched
        self._literals = {names.text for names in touched if not names.is_prefix}
        self._prefixes = {names.text for names in touched if names.is_prefix}
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def touches(self, names: Names) -> bool:
        """Return whether a changed ACL is about a region, which is
        completely in a pattern or not.
        """
        if self._whole or (not names.is_prefix and names.text in self._literals):
            return True
        return any(
            names.text[:length] in self._prefixes
            for length in self._lengths
            if length <= len(names.text)
        )


def _folded(
    principal: str,
    resource_type: ResourceType,
    divided: Sequence[Region],
    deltas: Sequence[Delta],
) -> Iterator[Change]:
    """Return changes by region; regions that change like the region around them are left out."""
    standing = [-1] * len(divided)  # the region whose change applies here
    inside: dict[int, list[Names]] = {}
    for at, region in enumerate(divided):
        around = standing[region.parent] if region.parent >= 0 else -1
        if around >= 0 and deltas[around] == deltas[at]:
            standing[at] = around
            continue
        standing[at] = at
        if around >= 0:
            inside.setdefault(around, []).append(region.names)
    for at, region in enumerate(divided):
        if standing[at] == at and deltas[at]:
            excepted = tuple(inside.get(at, ()))
            yield from _told(principal, resource_type, region.names, excepted, deltas[at])


def _told(
    principal: str,
    resource_type: ResourceType,
    names: Names | None,
    excepted: tuple[Names, ...],
    delta: Delta,
) -> Iterator[Change]:
    """Return a delta as changes; hosts with the same change are combined."""
    outer = {host: around(host, delta) for host in delta if host != WILDCARD}
    for side, gained in enumerate((True, False)):
        bits = {host: delta[host][side] for host in delta}
        inner = [host for host in outer if bits[host] != bits[outer[host]]]
        groups: dict[int, list[str]] = {}
        for host in delta:
            if bits[host] and (host == WILDCARD or host in inner):
                groups.setdefault(bits[host], []).append(host)
        for mask, hosts in groups.items():
            operations = tuple(operation for operation in Operation if mask >> operation & 1)
            yield Change(
                gained,
                principal,
                (),
                resource_type,
                names,
                excepted,
                operations,
                tuple(hosts),
                tuple(host for host in inner if bits[outer[host]] == mask),
            )


def _as_everyone(change: Change) -> Change:
    return msgspec.structs.replace(change, principal=ANY_USER)


def _order(change: Change) -> tuple[object, ...]:
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
