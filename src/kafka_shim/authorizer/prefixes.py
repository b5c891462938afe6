"""Finds the prefixed patterns that apply to a name, without trying every length."""

from collections.abc import Iterator, ValuesView

from kafka_shim.authorizer.pattern import Pattern

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

    __slots__ = ("_by_name", "_heads", "_interned", "_removed", "is_used")

    def __init__(self) -> None:
        self.is_used = False  # without prefixes, `matching` is not called
        self._by_name: dict[str, Pattern] = {}
        self._heads: dict[str, Pattern | _Branch] = {}
        self._interned: dict[_Branch, _Branch] = {}  # most branches are equal and can be shared
        self._removed = 0

    def __len__(self) -> int:
        return len(self._by_name)

    def get(self, name: str) -> Pattern | None:
        """Return the pattern with exactly this prefix."""
        return self._by_name.get(name)

    def values(self) -> ValuesView[Pattern]:
        return self._by_name.values()

    def put(self, pattern: Pattern) -> None:
        """Add a pattern; its name must be new."""
        assert pattern.resource_name not in self._by_name
        self._by_name[pattern.resource_name] = pattern
        self._note(pattern)
        self.is_used = True

    def remove(self, pattern: Pattern) -> None:
        del self._by_name[pattern.resource_name]
        for start, _ in _bands(pattern.resource_name):
            if self._heads.get(pattern.resource_name[:start]) is pattern:
                del self._heads[pattern.resource_name[:start]]
        self._removed += 1
        if self._removed > 1000 and self._removed > len(self._by_name):
            self._heads.clear()
            self._interned.clear()
            self._removed = 0
            for left in self._by_name.values():
                self._note(left)

    def matching(self, name: str) -> list[Pattern]:
        """Return the patterns whose name is a prefix of this one, or equal; the longest first."""
        found: list[Pattern] = []
        heads, size, start = self._heads, len(name), 0
        while start <= size:
            head = heads.get(name[:start])
            if head is None:
                break
            if isinstance(head, Pattern):
                if name.startswith(head.resource_name):
                    found.append(head)
                break
            goes_on, spans = head
            for length, ends in spans:
                if length > size:
                    break
                if name[length - 1 : length] in ends:
                    pattern = self._by_name.get(name[:length])
                    if pattern is not None:
                        found.append(pattern)
            if not goes_on:
                break
            start = start + _BAND if start < _NARROW_BANDS_END else start * 2
        found.reverse()
        return found

    def _note(self, pattern: Pattern) -> None:
        """Store the pattern under its first free head; heads of other patterns become branches."""
        heads, name = self._heads, pattern.resource_name
        for start, end in _bands(name):
            head = heads.get(name[:start])
            if head is None:
                heads[name[:start]] = pattern
                return
            if isinstance(head, Pattern):
                if len(head.resource_name) >= end:
                    heads[head.resource_name[:end]] = head
                head = _branch(_EMPTY, head.resource_name, end)
            head = _branch(head, name, end)
            heads[name[:start]] = self._interned.setdefault(head, head)


def _branch(branch: _Branch, name: str, end: int) -> _Branch:
    """Return the branch with one more name, in a band of lengths below `end`."""
    goes_on, spans = branch
    if len(name) >= end:
        return True, spans
    lengths = dict(spans)
    ends = lengths.get(len(name), "")
    if name[-1:] not in ends or not name:
        lengths[len(name)] = ends + name[-1:]
    return goes_on, tuple(sorted(lengths.items()))


def _bands(name: str) -> Iterator[tuple[int, int]]:
    """Yield the bands (first length, one past the last) up to the one that contains the name."""
    start = 0
    while start <= len(name):
        end = start + _BAND if start < _NARROW_BANDS_END else start * 2
        yield start, end
        start = end
