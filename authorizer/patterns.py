"""One resource pattern with what it grants to whom, and the patterns of one resource type."""

from collections.abc import Iterable, Iterator

import msgspec

from authorizer.model import WILDCARD
from authorizer.prefixes import PrefixIndex
from protocol.enums import PatternType, ResourceType


class Pattern(msgspec.Struct, eq=False, gc=False):
    """One resource pattern and what it grants to whom.

    A subject is a (principal, host) pair, by the number the store gave it. Nearly every pattern
    has one subject, which is kept inline (a dict would be four fifths of the pattern's memory).
    """

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    subject: int
    grant: int
    others: dict[int, int] | None = None

    def grant_of(self, subject: int) -> int:
        if subject == self.subject:
            return self.grant
        return self.others.get(subject, 0) if self.others is not None else 0

    def grants(self) -> Iterator[tuple[int, int]]:
        """All (subject, grant) pairs, the empty ones left out."""
        if self.grant:
            yield self.subject, self.grant
        if self.others is not None:
            yield from self.others.items()

    def put(self, subject: int, grant: int) -> None:
        if subject == self.subject:
            self.grant = grant
        elif not self.grant and not (self.others and subject in self.others):
            self.subject, self.grant = subject, grant
        elif grant:
            self.others = {} if self.others is None else self.others
            self.others[subject] = grant
        elif self.others is not None:
            del self.others[subject]
            self.others = self.others or None


class TypeIndex:
    """The patterns of one resource type."""

    __slots__ = ("by_subject", "literal", "prefixed")

    def __init__(self) -> None:
        self.literal: dict[str, Pattern] = {}
        self.prefixed: PrefixIndex[Pattern] = PrefixIndex()
        self.by_subject: dict[int, Pattern | dict[Pattern, None]] = {}

    def get(self, name: str, pattern_type: PatternType) -> Pattern | None:
        return (self.literal if pattern_type is PatternType.LITERAL else self.prefixed).get(name)

    def matching(self, name: str) -> list[Pattern]:
        """Patterns that apply to the name: literal, prefixes (longest first), `*`."""
        found = self.prefixed.matching(name) if self.prefixed else []
        literal = self.literal.get(name)
        if literal is not None:
            found.insert(0, literal)
        wildcard = self.literal.get(WILDCARD)
        if wildcard is not None and wildcard is not literal:
            found.append(wildcard)
        return found

    def patterns(self) -> Iterator[Pattern]:
        yield from self.literal.values()
        yield from self.prefixed.values()

    def of_subject(self, subject: int) -> Iterable[Pattern]:
        found = self.by_subject.get(subject)
        if found is None:
            return ()
        return (found,) if isinstance(found, Pattern) else found

    def link(self, subject: int, pattern: Pattern) -> None:
        found = self.by_subject.get(subject)
        if found is None:
            self.by_subject[subject] = pattern
        elif isinstance(found, Pattern):
            self.by_subject[subject] = {found: None, pattern: None}
        else:
            found[pattern] = None

    def unlink(self, subject: int, pattern: Pattern) -> None:
        found = self.by_subject[subject]
        if not isinstance(found, Pattern):
            del found[pattern]
        if isinstance(found, Pattern) or not found:
            del self.by_subject[subject]
