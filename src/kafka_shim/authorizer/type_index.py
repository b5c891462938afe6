"""The patterns of one resource type, by name, by prefix and by subject."""

from collections.abc import Iterable, Iterator

from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.authorizer.pattern import Pattern, Subject
from kafka_shim.authorizer.prefixes import PrefixIndex
from kafka_shim.protocol.enums import PatternType

_LITERAL = PatternType.LITERAL  # module constant: enum attribute lookup is slow


class TypeIndex:
    """The patterns of one resource type."""

    __slots__ = ("_by_subject", "_literal", "_prefixed")

    def __init__(self) -> None:
        self._literal: dict[str, Pattern] = {}
        self._prefixed: PrefixIndex = PrefixIndex()
        self._by_subject: dict[Subject, Pattern | dict[Pattern, None]] = {}

    def get(self, name: str, pattern_type: PatternType) -> Pattern | None:
        return (self._literal if pattern_type is _LITERAL else self._prefixed).get(name)

    def matching(self, name: str) -> list[Pattern]:
        """Return the patterns that apply to the name: literal, prefixes (longest first), `*`."""
        found = self._prefixed.matching(name) if self._prefixed.is_used else []
        literal = self._literal.get(name)
        if literal is not None:
            found.insert(0, literal)
        wildcard = self._literal.get(WILDCARD)
        if wildcard is not None and wildcard is not literal:
            found.append(wildcard)
        return found

    def patterns(self) -> Iterator[Pattern]:
        yield from self._literal.values()
        yield from self._prefixed.values()

    def add(self, pattern: Pattern) -> None:
        if pattern.pattern_type is _LITERAL:
            self._literal[pattern.resource_name] = pattern
        else:
            self._prefixed.put(pattern)

    def remove(self, pattern: Pattern) -> None:
        if pattern.pattern_type is _LITERAL:
            del self._literal[pattern.resource_name]
        else:
            self._prefixed.remove(pattern)

    def has_subject(self, subject: Subject) -> bool:
        return subject in self._by_subject

    def of_subject(self, subject: Subject) -> Iterable[Pattern]:
        """Return the patterns with entries of the subject."""
        found = self._by_subject.get(subject)
        if found is None:
            return ()
        return (found,) if isinstance(found, Pattern) else found

    def link(self, subject: Subject, pattern: Pattern) -> None:
        """Record that the pattern now has entries of the subject."""
        found = self._by_subject.get(subject)
        if found is None:
            self._by_subject[subject] = pattern
        elif isinstance(found, Pattern):
            self._by_subject[subject] = {found: None, pattern: None}
        else:
            found[pattern] = None

    def unlink(self, subject: Subject, pattern: Pattern) -> None:
        """Record that the pattern no longer has entries of the subject."""
        found = self._by_subject[subject]
        if not isinstance(found, Pattern):
            del found[pattern]
        if isinstance(found, Pattern) or not found:
            del self._by_subject[subject]
