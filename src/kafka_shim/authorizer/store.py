"""The ACLs of a cluster, indexed so that the time of a decision does not depend on their number."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Protocol

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl, AclFilter, Actor
from kafka_shim.authorizer.networks import parse_network
from kafka_shim.authorizer.patterns import (
    DENY_SHIFT,
    GrantBits,
    Pattern,
    PrincipalAndHost,
    ResourceTypeIndex,
)
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType

BEFORE_CHANGE_MAX = 20
CACHED_LOOKUPS_MAX = 1 << 17
"""Names, and actors, whose patterns and subjects are cached."""

_OPERATIONS_AND_PERMISSIONS_BY_BIT = [
    (operation, permission)
    for permission in (Permission.ALLOW, Permission.DENY)
    for operation in [*Operation, *[Operation.UNKNOWN] * (DENY_SHIFT - len(Operation))]
]
# module constants: enum attribute lookup is slow on CPython 3.11
_PREFIXED = PatternType.PREFIXED
_MATCH, _UNKNOWN_PATTERN = PatternType.MATCH, PatternType.UNKNOWN
_EXACT = (PatternType.LITERAL, PatternType.PREFIXED)
_ANY_TYPE = ResourceType.ANY
_ANY_OPERATION, _UNKNOWN_OPERATION = Operation.ANY, Operation.UNKNOWN
_ANY_PERMISSION, _ALLOW, _DENY = Permission.ANY, Permission.ALLOW, Permission.DENY
_EVERY_GRANT_BIT = (1 << 2 * DENY_SHIFT) - 1
_NOWHERE: dict[str, PrincipalAndHost] = {}


class AclObserver(Protocol):
    """Called after each added or removed ACL; `replace_all` reports only the ACLs that it adds."""

    def on_acl_added(self, acl: Acl, /) -> None: ...
    def on_acl_removed(self, acl: Acl, /) -> None: ...


class AclStore:
    """A set of ACLs; `epoch` increases with every change, so that others can cache results.

    With `caches_lookups`, patterns and subjects are cached until an ACL changes: for a large number
    of checks of the same names and actors.

    Only concrete ACLs are stored (without ANY, MATCH or UNKNOWN): see `acl_requests`. With
    `host_networks`, hosts such as `10.0.0.0/8` stand for all their addresses, as since 4.4.
    """

    def __init__(self, acls: Iterable[Acl] = (), *, caches_lookups: bool = False) -> None:
        self.epoch = 0
        self._cached_patterns: dict[tuple[ResourceType, str, bool], list[Pattern]] | None = None
        self._cached_subjects: dict[Actor, list[PrincipalAndHost]] | None = None
        self.host_networks = True
        self._observers: list[AclObserver] = []
        self._before_change: deque[Callable[[], object]] = deque(maxlen=BEFORE_CHANGE_MAX)
        self._clear_all_acls()
        for acl in acls:
            self.add(acl)
        if caches_lookups:
            self._cached_patterns, self._cached_subjects = {}, {}

    def _clear_all_acls(self) -> None:
        self._count = 0
        self._types = [ResourceTypeIndex() for _ in ResourceType]  # by code
        self._everywhere: dict[str, PrincipalAndHost] = {}  # principal -> the subject for any host
        self._somewhere: dict[str, dict[str, PrincipalAndHost]] = {}  # principal -> host -> subject
        self._in_networks: dict[
            str, dict[PrincipalAndHost, None]
        ] = {}  # principal -> subjects whose host is a network
        self._grants: dict[int, int] = {}  # one int object for each different grant

    def set_network_hosts(self, are_networks: bool) -> None:
        """Set whether hosts with a slash are networks, or only texts."""
        if are_networks is not self.host_networks:
            self.host_networks = are_networks
            if any("/" in host for hosts in self._somewhere.values() for host in hosts):
                self.replace_all(self.snapshot())

    def add_observer(self, observer: AclObserver) -> None:
        """Report every later change to the observer."""
        if observer not in self._observers:
            self._observers.append(observer)

    def call_before_next_change(self, callback: Callable[[], object]) -> None:
        """Call back before the ACLs change next; only the last BEFORE_CHANGE_MAX are called."""
        self._before_change.append(callback)

    def _call_before_change(self) -> None:
        callbacks = list(self._before_change)
        self._before_change.clear()
        for callback in callbacks:
            callback()

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Acl]:
        for index in self._types:
            for pattern in index.all_patterns():
                for subject, grant in pattern.subject_grants():
                    yield from acls_of_grant(pattern, subject, grant)

    def __contains__(self, acl: Acl) -> bool:
        pattern = self.find_pattern(acl.resource_type, acl.resource_name, acl.pattern_type)
        subject = self._find_subject(acl.principal, acl.host)
        if pattern is None or subject is None:
            return False
        return bool(pattern.grant_bits_of(subject) & grant_bit_of_acl(acl))

    def add(self, acl: Acl) -> bool:
        """Store an ACL; return False if it is already stored."""
        if self._before_change:
            self._call_before_change()
        bit = grant_bit_of_acl(acl)
        index = self._types[acl.resource_type]
        pattern = index.pattern_with_name(acl.resource_name, acl.pattern_type)
        principal, host = acl.principal, acl.host
        subject = self._find_subject(principal, host) or self._add_subject(principal, host)
        before = pattern.grant_bits_of(subject) if pattern is not None else 0
        if before & bit:
            return False
        grant = self._grants.setdefault(before | bit, before | bit)
        if pattern is None:
            pattern = Pattern(
                acl.resource_type, acl.resource_name, acl.pattern_type, subject, grant
            )
            index.add_pattern(pattern)
        else:
            pattern.set_grant(subject, grant)
        if not before:
            index.record_pattern_of_subject(subject, pattern)
        self._count += 1
        self._begin_next_epoch()
        for observer in self._observers:
            observer.on_acl_added(acl)
        return True

    def remove(self, acl: Acl) -> bool:
        """Remove an ACL; return False if it is not stored."""
        if self._before_change:
            self._call_before_change()
        pattern = self.find_pattern(acl.resource_type, acl.resource_name, acl.pattern_type)
        subject = self._find_subject(acl.principal, acl.host)
        if pattern is None or subject is None:
            return False
        bit, before = grant_bit_of_acl(acl), pattern.grant_bits_of(subject)
        if not before & bit:
            return False
        left = before & ~bit
        pattern.set_grant(subject, self._grants.setdefault(left, left))
        if not left:
            index = self._types[acl.resource_type]
            index.forget_pattern_of_subject(subject, pattern)
            if pattern.has_no_grants:
                index.remove_pattern(pattern)
            if not any(other.has_patterns_of_subject(subject) for other in self._types):
                self._remove_subject(subject)
        self._count -= 1
        self._begin_next_epoch()
        for observer in self._observers:
            observer.on_acl_removed(acl)
        return True

    def snapshot(self) -> tuple[Acl, ...]:
        """Return all ACLs, in the store's order."""
        return tuple(self)

    def replace_all(self, acls: Iterable[Acl]) -> None:
        """Replace all ACLs; the epoch continues to increase."""
        kept = tuple(acls)
        self._call_before_change()
        self._clear_all_acls()
        self._begin_next_epoch()
        for acl in kept:
            self.add(acl)

    def acls_matching(self, acl_filter: AclFilter) -> Iterator[Acl]:
        """Yield the ACLs that a filter selects (rules of DescribeAcls), in the store's order."""
        for pattern, grants in self.grants_matching(acl_filter):
            for subject, grant in grants:
                left = grant
                while left:  # as `acls_of_grant`, without an iterator for each
                    low = left & -left
                    yield acl_of_grant_bit(pattern, subject, low.bit_length() - 1)
                    left ^= low

    def grants_matching(
        self, acl_filter: AclFilter
    ) -> Iterator[tuple[Pattern, list[tuple[PrincipalAndHost, GrantBits]]]]:
        """Yield the ACLs of `acls_matching` by pattern, as bits for each subject."""
        subjects = self._subjects_selected_by_filter(acl_filter)
        bits = _grant_bits_selected_by_filter(acl_filter)
        if bits == 0 or (subjects is not None and not subjects):
            return
        selects_all = subjects is None and bits == _EVERY_GRANT_BIT
        for index in self._matching_indexes(acl_filter.resource_type):
            for pattern in _patterns_selected_by_filter(index, acl_filter, subjects):
                grants = (
                    pattern.subject_grants()
                    if subjects is None
                    else [(subject, pattern.grant_bits_of(subject)) for subject in subjects]
                )
                selected = (
                    grants
                    if selects_all
                    else [(subject, grant & bits) for subject, grant in grants if grant & bits]
                )
                if selected:
                    yield pattern, selected

    def subjects_including(self, actor: Actor) -> list[PrincipalAndHost]:
        """Return the subjects that include the actor: its principal or `User:*`, its host or `*`.

        The host may also be in a subject's network.
        """
        cached = self._cached_subjects
        if cached is not None and actor in cached:
            return cached[actor]
        everywhere, somewhere = self._everywhere, self._somewhere
        candidates = [everywhere.get(actor.principal), everywhere.get(ANY_USER)]
        if somewhere:
            candidates += (
                somewhere.get(actor.principal, _NOWHERE).get(actor.host),
                somewhere.get(ANY_USER, _NOWHERE).get(actor.host),
            )
        subjects = [subject for subject in candidates if subject is not None]
        if self._in_networks:
            subjects += self._subjects_whose_network_includes(actor)
        if cached is not None and len(cached) < CACHED_LOOKUPS_MAX:
            cached[actor] = subjects
        return subjects

    def subjects_covering(self, principal: str, host: str) -> Iterator[PrincipalAndHost]:
        """Yield the subjects whose ACLs apply to all that ACLs for the principal on this host, `*`
        or network apply to: first the principal, then `User:*`.
        """
        for each in dict.fromkeys((principal, ANY_USER)):
            for place in dict.fromkeys((host, WILDCARD)):
                subject = self._find_subject(each, place)
                if subject is not None:
                    yield subject
            for subject in self._in_networks.get(each, ()):
                if subject.host != host and subject.includes(Actor(each, host)):
                    yield subject

    def patterns_matching_name(self, resource_type: ResourceType, name: str) -> list[Pattern]:
        """Return the patterns that apply to a resource: the literal,
        prefixes (longest first), `*`.
        """
        return self._types[resource_type].patterns_matching_name(name)

    def patterns_used_for_decision(
        self, resource_type: ResourceType, name: str, wildcard_covers_starred_names: bool = False
    ) -> list[Pattern]:
        """Return the patterns that apply, without `*` where it is ignored (for `*eu`)."""
        if not self._count:
            return []
        cached = self._cached_patterns
        key = None if cached is None else (resource_type, name, wildcard_covers_starred_names)
        if cached is not None and key in cached:
            return cached[key]
        patterns = self._types[resource_type].patterns_matching_name(name)
        if name[:1] == WILDCARD and not wildcard_covers_starred_names:
            patterns = [
                p for p in patterns if p.resource_name == name or p.pattern_type is _PREFIXED
            ]
        if cached is not None and key is not None and len(cached) < CACHED_LOOKUPS_MAX:
            cached[key] = patterns
        return patterns

    def patterns_of_type(self, resource_type: ResourceType) -> Iterator[Pattern]:
        return self._types[resource_type].all_patterns()

    def patterns_of_subject(
        self, resource_type: ResourceType, subject: PrincipalAndHost
    ) -> Iterable[Pattern]:
        """Return the patterns of a type with entries of the subject."""
        return self._types[resource_type].patterns_of_subject(subject)

    def patterns_naming_principal(
        self, resource_type: ResourceType, principal: str
    ) -> Iterator[tuple[PrincipalAndHost, Iterable[Pattern]]]:
        """Yield the patterns of a type with entries of the principal, for each of its hosts."""
        index = self._types[resource_type]
        for subject in self._subjects_selected_by_filter(AclFilter(principal=principal)) or ():
            if index.has_patterns_of_subject(subject):
                yield subject, index.patterns_of_subject(subject)

    def acls_missing_in(self, other: "AclStore") -> Iterator[Acl]:
        """Yield the ACLs that another store does not have."""
        for index, other_index in zip(self._types, other._types, strict=True):
            for pattern in index.all_patterns():
                twin = other_index.pattern_with_name(pattern.resource_name, pattern.pattern_type)
                for subject, grant in pattern.subject_grants():
                    missing = grant
                    if twin is not None:
                        same = other._find_subject(subject.principal, subject.host)
                        missing &= ~(twin.grant_bits_of(same) if same is not None else 0)
                    while missing:  # as `acls_of_grant`, without an iterator for each
                        low = missing & -missing
                        yield acl_of_grant_bit(pattern, subject, low.bit_length() - 1)
                        missing ^= low

    def find_pattern(
        self, resource_type: ResourceType, name: str, pattern_type: PatternType
    ) -> Pattern | None:
        return self._types[resource_type].pattern_with_name(name, pattern_type)

    def _begin_next_epoch(self) -> None:
        self.epoch += 1
        if self._cached_patterns is not None and self._cached_subjects is not None:
            self._cached_patterns.clear()
            self._cached_subjects.clear()

    def _subjects_whose_network_includes(self, actor: Actor) -> Iterator[PrincipalAndHost]:
        for principal in (actor.principal, ANY_USER):
            for subject in self._in_networks.get(principal, ()):
                if subject.host != actor.host and subject.includes(actor):
                    yield subject

    def _find_subject(self, principal: str, host: str) -> PrincipalAndHost | None:
        if host == WILDCARD:
            return self._everywhere.get(principal)
        return self._somewhere.get(principal, _NOWHERE).get(host)

    def _add_subject(self, principal: str, host: str) -> PrincipalAndHost:
        network = parse_network(host) if self.host_networks else None
        subject = PrincipalAndHost(principal, host, network)
        if host == WILDCARD:
            self._everywhere[principal] = subject
        else:
            self._somewhere.setdefault(principal, {})[host] = subject
        if network is not None:
            self._in_networks.setdefault(principal, {})[subject] = None
        return subject

    def _remove_subject(self, subject: PrincipalAndHost) -> None:
        if subject.host == WILDCARD:
            del self._everywhere[subject.principal]
            return
        hosts = self._somewhere[subject.principal]
        del hosts[subject.host]
        if not hosts:
            del self._somewhere[subject.principal]
        if subject.network is not None:
            subjects = self._in_networks[subject.principal]
            del subjects[subject]
            if not subjects:
                del self._in_networks[subject.principal]

    def _subjects_selected_by_filter(self, acl_filter: AclFilter) -> list[PrincipalAndHost] | None:
        """Return the filter's subjects; None if it names neither a principal nor a host."""
        principal, host = acl_filter.principal, acl_filter.host
        if principal is None and host is None:
            return None
        if principal is not None and host is not None:
            subject = self._find_subject(principal, host)
            return [] if subject is None else [subject]
        if principal is not None:
            everywhere = self._everywhere.get(principal)
            subjects = list(self._somewhere.get(principal, _NOWHERE).values())
            return subjects if everywhere is None else [everywhere, *subjects]
        if host == WILDCARD:
            return list(self._everywhere.values())
        return [hosts[host] for hosts in self._somewhere.values() if host in hosts]

    def _matching_indexes(self, resource_type: ResourceType) -> list[ResourceTypeIndex]:
        return self._types if resource_type is _ANY_TYPE else [self._types[resource_type]]


def acl_of_grant_bit(pattern: Pattern, subject: PrincipalAndHost, bit: int) -> Acl:
    """Return the ACL of one grant bit of a subject."""
    operation, permission = _OPERATIONS_AND_PERMISSIONS_BY_BIT[bit]
    return Acl(
        pattern.resource_type,
        pattern.resource_name,
        pattern.pattern_type,
        subject.principal,
        subject.host,
        operation,
        permission,
    )


def acls_of_grant(pattern: Pattern, subject: PrincipalAndHost, grant: GrantBits) -> Iterator[Acl]:
    """Yield the ACLs of the bits of a grant."""
    while grant:
        low = grant & -grant
        yield acl_of_grant_bit(pattern, subject, low.bit_length() - 1)
        grant ^= low


@lru_cache(maxsize=1024)
def entries_of_grant(
    grant: GrantBits,
) -> tuple[tuple[Operation, Permission], ...]:
    """Return the operations of the bits of a grant, each with its permission."""
    return tuple(
        _OPERATIONS_AND_PERMISSIONS_BY_BIT[bit]
        for bit in range(grant.bit_length())
        if grant >> bit & 1
    )


def _patterns_selected_by_filter(
    index: ResourceTypeIndex,
    acl_filter: AclFilter,
    subjects_if_unnamed: list[PrincipalAndHost] | None,
) -> Iterable[Pattern]:
    name, pattern_type = acl_filter.resource_name, acl_filter.pattern_type
    if pattern_type is _UNKNOWN_PATTERN:
        return ()
    exact = pattern_type in _EXACT
    if name is None:
        every: Iterable[Pattern]
        if subjects_if_unnamed is None:
            every = index.all_patterns()
        else:
            every = {
                pattern: None
                for s in subjects_if_unnamed
                for pattern in index.patterns_of_subject(s)
            }
        return (p for p in every if p.pattern_type is pattern_type) if exact else every
    if pattern_type is _MATCH:
        return index.patterns_matching_name(name)
    pattern_types = (pattern_type,) if exact else _EXACT
    return [p for p in (index.pattern_with_name(name, t) for t in pattern_types) if p is not None]


def grant_bit_of_acl(acl: Acl) -> GrantBits:
    """Return the grant bit of an ACL, which must be concrete."""
    assert acl.operation > 1, "an ACL names one operation, or all"
    assert acl.permission > 1, "an ACL allows or denies"
    assert acl.pattern_type > 2, "an ACL has one pattern"
    assert acl.resource_type > 1, "an ACL is about one resource type"
    return 1 << (acl.operation + (0 if acl.permission == _ALLOW else DENY_SHIFT))


def _grant_bits_selected_by_filter(acl_filter: AclFilter) -> GrantBits:
    """Return the grant bits that the filter's operation and permission select; 0: none."""
    every = _EVERY_GRANT_BIT >> DENY_SHIFT
    operation, permission = acl_filter.operation, acl_filter.permission
    if operation is _UNKNOWN_OPERATION:
        return 0
    bits = every if operation is _ANY_OPERATION else 1 << operation
    if permission is _ANY_PERMISSION:
        return bits | bits << DENY_SHIFT
    if permission is _ALLOW:
        return bits
    return bits << DENY_SHIFT if permission is _DENY else 0
