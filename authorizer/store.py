"""The ACLs of one cluster, indexed so that a decision costs the same with ten as with a million."""

from collections.abc import Iterable, Iterator

from authorizer.model import ANY_USER, WILDCARD, Acl, AclFilter, Actor
from authorizer.patterns import Pattern, TypeIndex
from protocol.enums import Operation, PatternType, Permission, ResourceType

DENY_SHIFT = 32
"""In a grant, bit n allows the operation with code n and bit n + DENY_SHIFT denies it."""

_OPERATIONS = tuple(Operation)


class AclStore:
    """A set of ACLs. `epoch` grows with every change, so that others can keep what they computed.

    Only concrete ACLs belong here (no ANY, MATCH or UNKNOWN in them): see `validate`.
    """

    def __init__(self, acls: Iterable[Acl] = ()) -> None:
        self.epoch = 0
        self._clear()
        for acl in acls:
            self.add(acl)

    def _clear(self) -> None:
        self._count = 0
        self._types: dict[ResourceType, TypeIndex] = {}
        self._subjects: dict[str, dict[str, int]] = {}
        self._names: dict[int, tuple[str, str]] = {}
        self._next_subject = 0
        self._grants: dict[int, int] = {}  # one int object for each different grant

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Acl]:
        for index in self._types.values():
            for pattern in index.patterns():
                yield from self._acls_of(pattern)

    def __contains__(self, acl: Acl) -> bool:
        pattern = self.pattern(acl.resource_type, acl.resource_name, acl.pattern_type)
        subject = self._subjects.get(acl.principal, {}).get(acl.host)
        if pattern is None or subject is None:
            return False
        return bool(pattern.grant_of(subject) & _bit(acl))

    def add(self, acl: Acl) -> bool:
        """Store an ACL; False if it is there already."""
        bit = _bit(acl)
        index = self._types.get(acl.resource_type)
        if index is None:
            index = self._types[acl.resource_type] = TypeIndex()
        subject = self._subject(acl.principal, acl.host)
        pattern = index.get(acl.resource_name, acl.pattern_type)
        before = pattern.grant_of(subject) if pattern is not None else 0
        if before & bit:
            return False
        grant = self._grants.setdefault(before | bit, before | bit)
        if pattern is None:
            pattern = Pattern(
                acl.resource_type, acl.resource_name, acl.pattern_type, subject, grant
            )
            if acl.pattern_type is PatternType.LITERAL:
                index.literal[acl.resource_name] = pattern
            else:
                index.prefixed.put(acl.resource_name, pattern)
        else:
            pattern.put(subject, grant)
        if not before:
            index.link(subject, pattern)
        self._count += 1
        self.epoch += 1
        return True

    def remove(self, acl: Acl) -> bool:
        """Forget an ACL; False if it was not there."""
        if acl not in self:
            return False
        index = self._types[acl.resource_type]
        pattern = index.get(acl.resource_name, acl.pattern_type)
        assert pattern is not None
        subject = self._subjects[acl.principal][acl.host]
        left = pattern.grant_of(subject) & ~_bit(acl)
        pattern.put(subject, self._grants.setdefault(left, left))
        if not left:
            index.unlink(subject, pattern)
            self._forget_subject_if_unused(subject)
            self._forget_pattern_if_empty(index, pattern)
        self._count -= 1
        self.epoch += 1
        return True

    def snapshot(self) -> tuple[Acl, ...]:
        """All ACLs, in the store's order."""
        return tuple(self)

    def restore(self, acls: Iterable[Acl]) -> None:
        """Replace all ACLs; the epoch goes on growing."""
        kept = tuple(acls)
        self._clear()
        self.epoch += 1
        for acl in kept:
            self.add(acl)

    def matching(self, acl_filter: AclFilter) -> Iterator[Acl]:
        """ACLs that the filter selects (the rules of DescribeAcls), in the store's order."""
        subjects = self._subjects_selected(acl_filter)
        bits = _bits_selected(acl_filter)
        if bits == 0 or (subjects is not None and not subjects):
            return
        for index in self._types_selected(acl_filter.resource_type):
            for pattern in _patterns_selected(index, acl_filter, subjects):
                grants = (
                    pattern.grants()
                    if subjects is None
                    else ((subject, pattern.grant_of(subject)) for subject in subjects)
                )
                for subject, grant in grants:
                    if grant & bits:
                        yield from self._acls(pattern, subject, grant & bits)

    def subjects_of(self, actor: Actor) -> tuple[int, ...]:
        """Give the subjects that include the actor: its principal or `User:*`, its host or `*`."""
        found = []
        for principal in (actor.principal, ANY_USER):
            hosts = self._subjects.get(principal)
            if hosts is not None:
                for host in (actor.host, WILDCARD):
                    subject = hosts.get(host)
                    if subject is not None:
                        found.append(subject)
        return tuple(found)

    def patterns_for(self, resource_type: ResourceType, name: str) -> list[Pattern]:
        """Patterns that apply to a resource: the literal, prefixes (longest first), `*`."""
        index = self._types.get(resource_type)
        return index.matching(name) if index is not None else []

    def patterns_of(self, resource_type: ResourceType, subject: int) -> Iterable[Pattern]:
        """Patterns of one type that grant or deny the subject anything."""
        index = self._types.get(resource_type)
        return index.of_subject(subject) if index is not None else ()

    def first_acl(self, pattern: Pattern, subjects: Iterable[int], bits: int) -> Acl | None:
        """Of the pattern's entries for these subjects and grant bits, the first in Kafka's order.

        `bits` are all allowing or all denying. StandardAuthorizer reads the entries of a pattern
        by operation code, then principal, then host.
        """
        entries = [
            ((grant & -grant).bit_length() - 1, self._names[subject])
            for subject in subjects
            if (grant := pattern.grant_of(subject) & bits)
        ]
        return _acl(pattern, min(entries)) if entries else None

    def last_acl(self, pattern: Pattern, subjects: Iterable[int], bits: int) -> Acl | None:
        """Of the same entries, the last in Kafka's order."""
        entries = [
            (grant.bit_length() - 1, self._names[subject])
            for subject in subjects
            if (grant := pattern.grant_of(subject) & bits)
        ]
        return _acl(pattern, max(entries)) if entries else None

    def pattern(
        self, resource_type: ResourceType, name: str, pattern_type: PatternType
    ) -> Pattern | None:
        index = self._types.get(resource_type)
        return index.get(name, pattern_type) if index is not None else None

    def _subject(self, principal: str, host: str) -> int:
        hosts = self._subjects.get(principal)
        if hosts is None:
            hosts = self._subjects[principal] = {}
        subject = hosts.get(host)
        if subject is None:
            subject = hosts[host] = self._next_subject
            self._names[subject] = (principal, host)
            self._next_subject += 1
        return subject

    def _forget_subject_if_unused(self, subject: int) -> None:
        if any(subject in index.by_subject for index in self._types.values()):
            return
        principal, host = self._names.pop(subject)
        del self._subjects[principal][host]
        if not self._subjects[principal]:
            del self._subjects[principal]

    def _forget_pattern_if_empty(self, index: TypeIndex, pattern: Pattern) -> None:
        if pattern.grant or pattern.others:
            return
        if pattern.pattern_type is PatternType.LITERAL:
            del index.literal[pattern.resource_name]
        else:
            index.prefixed.remove(pattern.resource_name)

    def _acls_of(self, pattern: Pattern) -> Iterator[Acl]:
        for subject, grant in pattern.grants():
            yield from self._acls(pattern, subject, grant)

    def _acls(self, pattern: Pattern, subject: int, grant: int) -> Iterator[Acl]:
        names = self._names[subject]
        while grant:
            low = grant & -grant
            yield _acl(pattern, (low.bit_length() - 1, names))
            grant ^= low

    def _subjects_selected(self, acl_filter: AclFilter) -> list[int] | None:
        """Subjects the filter names; None when it names neither a principal nor a host."""
        principal, host = acl_filter.principal, acl_filter.host
        if principal is None and host is None:
            return None
        if principal is None:
            every = self._subjects.values()
            return [hosts[host] for hosts in every if host in hosts]
        hosts = self._subjects.get(principal, {})
        if host is None:
            return list(hosts.values())
        return [hosts[host]] if host in hosts else []

    def _types_selected(self, resource_type: ResourceType) -> list[TypeIndex]:
        if resource_type is ResourceType.ANY:
            return list(self._types.values())
        index = self._types.get(resource_type)
        return [index] if index is not None else []


def _patterns_selected(
    index: TypeIndex, acl_filter: AclFilter, subjects: list[int] | None
) -> Iterable[Pattern]:
    name, pattern_type = acl_filter.resource_name, acl_filter.pattern_type
    if pattern_type is PatternType.UNKNOWN:
        return ()
    exact = pattern_type in (PatternType.LITERAL, PatternType.PREFIXED)
    if name is None:
        every: Iterable[Pattern]
        if subjects is None:
            every = index.patterns()
        else:
            every = {pattern: None for s in subjects for pattern in index.of_subject(s)}
        return (p for p in every if p.pattern_type is pattern_type) if exact else every
    if pattern_type is PatternType.MATCH:
        return index.matching(name)
    wanted = (pattern_type,) if exact else (PatternType.LITERAL, PatternType.PREFIXED)
    return [p for p in (index.get(name, t) for t in wanted) if p is not None]


def _acl(pattern: Pattern, entry: tuple[int, tuple[str, str]]) -> Acl:
    """Give the ACL that one grant bit of a (principal, host) stands for."""
    bit, (principal, host) = entry
    permission = Permission.ALLOW
    if bit >= DENY_SHIFT:
        permission, bit = Permission.DENY, bit - DENY_SHIFT
    return Acl(
        pattern.resource_type,
        pattern.resource_name,
        pattern.pattern_type,
        principal,
        host,
        _OPERATIONS[bit],
        permission,
    )


def _bit(acl: Acl) -> int:
    """Give the grant bit of an ACL; it has one only if it is concrete."""
    assert acl.operation > Operation.ANY, "an acl names one operation, or all"
    assert acl.permission in (Permission.ALLOW, Permission.DENY), "an acl allows or denies"
    assert acl.pattern_type in (PatternType.LITERAL, PatternType.PREFIXED), "an acl has one pattern"
    assert acl.resource_type > ResourceType.ANY, "an acl is about one resource type"
    return 1 << (acl.operation + (DENY_SHIFT if acl.permission is Permission.DENY else 0))


def _bits_selected(acl_filter: AclFilter) -> int:
    """Grant bits that the filter's operation and permission select; 0: none."""
    every = (1 << DENY_SHIFT) - 1
    if acl_filter.operation is Operation.UNKNOWN:
        return 0
    bits = every if acl_filter.operation is Operation.ANY else 1 << acl_filter.operation
    match acl_filter.permission:
        case Permission.ANY:
            return bits | bits << DENY_SHIFT
        case Permission.ALLOW:
            return bits
        case Permission.DENY:
            return bits << DENY_SHIFT
        case _:
            return 0
