"""Resource patterns with the entries of their subjects, and an index of them by type and name."""

from collections.abc import Iterable, Iterator, ValuesView
from typing import TypeAlias

import msgspec

from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Actor
from kafka_shim.authorizer.networks import Network
from kafka_shim.protocol.enums import PatternType, ResourceType

GrantBits: TypeAlias = int
"""A set of operations: bit n allows the operation with code n, bit n + DENY_SHIFT denies it."""

DENY_SHIFT = 32


class PrincipalAndHost(msgspec.Struct, eq=False, gc=False):
    """A principal on a host, to which entries apply; a store has one object for each pair.

    `network` is set if the host is a network.
    """

    principal: str
    host: str
    network: Network | None = None

    def includes(self, actor: Actor) -> bool:
        """Return whether entries for this subject apply to the actor."""
        if self.principal not in (actor.principal, ANY_USER):
            return False
        if self.host in (WILDCARD, actor.host):
            return True
        return self.network is not None and self.network.covers(actor.host)


class Pattern(msgspec.Struct, eq=False, gc=False):
    """A resource pattern, with a grant for each subject.

    Nearly every pattern has one subject, which is
    stored inline: a dict would take four fifths of the pattern's memory, and a further lookup in
    every decision.
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    first_subject: PrincipalAndHost
    first_grant: GrantBits
    other_grants: dict[PrincipalAndHost, GrantBits] | None = None

    def grant_bits_of(self, subject: PrincipalAndHost) -> GrantBits:
        """Return the grant of a subject; 0 if there is none."""
        if subject is self.first_subject:
            return self.first_grant
        return self.other_grants.get(subject, 0) if self.other_grants is not None else 0

    def subject_grants(self) -> list[tuple[PrincipalAndHost, GrantBits]]:
        """Return all (subject, grant) pairs with a grant."""
        first = [(self.first_subject, self.first_grant)] if self.first_grant else []
        return first if self.other_grants is None else [*first, *self.other_grants.items()]

    def set_grant(self, subject: PrincipalAndHost, grant: GrantBits) -> None:
        """Set the grant of a subject; 0 removes it."""
        if subject is self.first_subject:
            self.first_grant = grant
        elif not self.first_grant and not (self.other_grants and subject in self.other_grants):
            self.first_subject, self.first_grant = subject, grant
        elif grant:
            self.other_grants = {} if self.other_grants is None else self.other_grants
            self.other_grants[subject] = grant
        elif self.other_grants is not None:
            del self.other_grants[subject]
            self.other_grants = self.other_grants or None

    @property
    def has_no_grants(self) -> bool:
        """Return whether no subject has a grant, so that the pattern can be removed."""
        return not self.first_grant and self.other_grants is None


_LITERAL = PatternType.LITERAL  # module constant: enum attribute lookup is slow
_BAND = 6
_NARROW_BANDS_END = 24
"""Bands are narrow where prefixes of teams and services tell themselves apart, then they double."""

_Branch = tuple[bool, tuple[tuple[int, str], ...]]
"""Whether longer bands have anything; and the lengths of this band with their last characters."""

_EMPTY: _Branch = (False, ())


class PrefixIndex:
    """Prefixed patterns, with a search for those that are a prefix of a name.

    Lookup is by hash. To know which lengths are worth a lookup, lengths are split into bands 0-5,
    6-11, 12-17, 18-23, 24-47, 48-95 ... and the band that begins at length n is looked up under
    the first n characters of the name (its head). Under a head is either the only pattern that
    begins so, or a branch: the lengths of its band, each with the characters at which such
    prefixes end (a `.` or `-` mostly), and whether longer bands have anything. With `team-7.`,
    `team-7.orders-` and `web-` stored there are the heads `` (length 4 ending in `-`; longer:
    yes), `team-7` (length 7 ending in `.`; longer: yes) and `team-7.order` (the only one is
    `team-7.orders-`):

        name `team-7.orders-eu`: `team-7` gives `team-7.`, `team-7.order` gives `team-7.orders-`
        name `team-77.orders`:   `team-7`, but no `.` ends length 7; `team-77.orde` is no head
        name `website`:          ``, but no `-` ends length 4; `websit` is no head: nothing

    So the cost grows with what is stored along one name, not with how much is stored elsewhere.
    Branches are hints: removing a pattern leaves them until half of them may be stale, then they
    are made anew.
    """

    __slots__ = ("_heads", "_interned", "_mapping_schema", "_removed", "is_used")

    def __init__(self) -> None:
        self.is_used = False  # without prefixes, `matching` is not called
        self._mapping_schema: dict[str, Pattern] = {}
        self._heads: dict[str, Pattern | _Branch] = {}
        self._interned: dict[_Branch, _Branch] = {}  # most branches are equal and can be shared
        self._removed = 0

    def __len__(self) -> int:
        return len(self._mapping_schema)

    def pattern_with_prefix(self, prefix: str) -> Pattern | None:
        """Return the pattern with exactly this prefix."""
        return self._mapping_schema.get(prefix)

    def all_patterns(self) -> ValuesView[Pattern]:
        return self._mapping_schema.values()

    def add_pattern(self, pattern: Pattern) -> None:
        """Add a pattern; its name must be new."""
        assert pattern.resource_name not in self._mapping_schema
        self._mapping_schema[pattern.resource_name] = pattern
        self._index_under_first_free_head(pattern)
        self.is_used = True

    def remove_pattern(self, pattern: Pattern) -> None:
        del self._mapping_schema[pattern.resource_name]
        for start, _ in _length_bands_up_to_name(pattern.resource_name):
            if self._heads.get(pattern.resource_name[:start]) is pattern:
                del self._heads[pattern.resource_name[:start]]
        self._removed += 1
        if self._removed > 1000 and self._removed > len(self._mapping_schema):
            self._heads.clear()
            self._interned.clear()
            self._removed = 0
            for left in self._mapping_schema.values():
                self._index_under_first_free_head(left)

    def patterns_matching_name(self, name: str) -> list[Pattern]:
        """Return the patterns whose name is a prefix of this one, or equal; the longest first."""
        patterns: list[Pattern] = []
        heads, size, start = self._heads, len(name), 0
        while start <= size:
            head = heads.get(name[:start])
            if head is None:
                break
            if isinstance(head, Pattern):
                if name.startswith(head.resource_name):
                    patterns.append(head)
                break
            goes_on, spans = head
            for length, ends in spans:
                if length > size:
                    break
                if name[length - 1 : length] in ends:
                    pattern = self._mapping_schema.get(name[:length])
                    if pattern is not None:
                        patterns.append(pattern)
            if not goes_on:
                break
            start = start + _BAND if start < _NARROW_BANDS_END else start * 2
        patterns.reverse()
        return patterns

    def _index_under_first_free_head(self, pattern: Pattern) -> None:
        """Store the pattern under its first free head; heads of other patterns become branches."""
        heads, name = self._heads, pattern.resource_name
        for start, end in _length_bands_up_to_name(name):
            head = heads.get(name[:start])
            if head is None:
                heads[name[:start]] = pattern
                return
            if isinstance(head, Pattern):
                if len(head.resource_name) >= end:
                    heads[head.resource_name[:end]] = head
                head = _branch_with_added_name(_EMPTY, head.resource_name, end)
            head = _branch_with_added_name(head, name, end)
            heads[name[:start]] = self._interned.setdefault(head, head)


def _branch_with_added_name(branch: _Branch, name: str, band_end: int) -> _Branch:
    """Return the branch with one more name, in a band of lengths below `end`."""
    goes_on, spans = branch
    if len(name) >= band_end:
        return True, spans
    lengths = dict(spans)
    ends = lengths.get(len(name), "")
    if name[-1:] not in ends or not name:
        lengths[len(name)] = ends + name[-1:]
    return goes_on, tuple(sorted(lengths.items()))


def _length_bands_up_to_name(name: str) -> Iterator[tuple[int, int]]:
    """Yield the bands (first length, one past the last) up to the one that contains the name."""
    start = 0
    while start <= len(name):
        end = start + _BAND if start < _NARROW_BANDS_END else start * 2
        yield start, end
        start = end


class ResourceTypeIndex:
    """The patterns of one resource type."""

    __slots__ = ("_by_subject", "_literal", "_prefixed")

    def __init__(self) -> None:
        self._literal: dict[str, Pattern] = {}
        self._prefixed: PrefixIndex = PrefixIndex()
        self._by_subject: dict[PrincipalAndHost, Pattern | dict[Pattern, None]] = {}

    def pattern_with_name(self, name: str, pattern_type: PatternType) -> Pattern | None:
        """Return the pattern with exactly this name and type."""
        if pattern_type is _LITERAL:
            return self._literal.get(name)
        return self._prefixed.pattern_with_prefix(name)

    def patterns_matching_name(self, name: str) -> list[Pattern]:
        """Return the patterns that apply to the name: literal, prefixes (longest first), `*`."""
        patterns = self._prefixed.patterns_matching_name(name) if self._prefixed.is_used else []
        literal = self._literal.get(name)
        if literal is not None:
            patterns.insert(0, literal)
        wildcard = self._literal.get(WILDCARD)
        if wildcard is not None and wildcard is not literal:
            patterns.append(wildcard)
        return patterns

    def all_patterns(self) -> Iterator[Pattern]:
        yield from self._literal.values()
        yield from self._prefixed.all_patterns()

    def add_pattern(self, pattern: Pattern) -> None:
        if pattern.pattern_type is _LITERAL:
            self._literal[pattern.resource_name] = pattern
        else:
            self._prefixed.add_pattern(pattern)

    def remove_pattern(self, pattern: Pattern) -> None:
        if pattern.pattern_type is _LITERAL:
            del self._literal[pattern.resource_name]
        else:
            self._prefixed.remove_pattern(pattern)

    def has_patterns_of_subject(self, subject: PrincipalAndHost) -> bool:
        return subject in self._by_subject

    def patterns_of_subject(self, subject: PrincipalAndHost) -> Iterable[Pattern]:
        """Return the patterns with entries of the subject."""
        patterns = self._by_subject.get(subject)
        if patterns is None:
            return ()
        return (patterns,) if isinstance(patterns, Pattern) else patterns

    def record_pattern_of_subject(self, subject: PrincipalAndHost, pattern: Pattern) -> None:
        """Record that the pattern now has entries of the subject."""
        patterns = self._by_subject.get(subject)
        if patterns is None:
            self._by_subject[subject] = pattern
        elif isinstance(patterns, Pattern):
            self._by_subject[subject] = {patterns: None, pattern: None}
        else:
            patterns[pattern] = None

    def forget_pattern_of_subject(self, subject: PrincipalAndHost, pattern: Pattern) -> None:
        """Record that the pattern no longer has entries of the subject."""
        patterns = self._by_subject[subject]
        if not isinstance(patterns, Pattern):
            del patterns[pattern]
        if isinstance(patterns, Pattern) or not patterns:
            del self._by_subject[subject]
