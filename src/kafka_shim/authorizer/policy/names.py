"""Sets of resource names that patterns divide, for exact statements about all names."""

from collections.abc import Container, Iterable, Iterator

import msgspec

from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.authorizer.rules import AclRules
from kafka_shim.protocol.enums import CLUSTER_NAME, PatternType, ResourceType

_FILLERS = "xyzabcdefghijklmnopqrstuvwXYZABCDEFGHIJKLMNOPQRSTUVW0123456789_"


class Names(msgspec.Struct, frozen=True, gc=False):
    """One name, or all names that begin with `text` (with an empty text, all names).

    `like`: of these, only names of a form such as `team-*-events` (see `globs`).
    """

    text: str
    is_prefix: bool = False
    like: str = ""

    def covers(self, name: str) -> bool:
        return name.startswith(self.text) if self.is_prefix else name == self.text

    def includes(self, other: "Names") -> bool:
        """Return whether all names of the other are in this one."""
        if self.is_prefix:
            return other.text.startswith(self.text)
        return self == other


ALL_NAMES = Names("", is_prefix=True)
STARRED = Names(WILDCARD, is_prefix=True)
"""Names that begin with an asterisk: most releases pass over literal `*` for them."""


class Region(msgspec.Struct, frozen=True):
    """Names that all patterns of a set treat alike: `names` without the regions inside it.

    `sample` is one of them. `parent` is the position of the region around it, or -1.
    """

    names: Names
    sample: str
    parent: int


def names_of(acl: Acl) -> Names:
    """Return the names of an ACL; literal `*` covers all."""
    return names_of_pattern(acl.resource_name, acl.pattern_type)


def names_of_pattern(name: str, pattern_type: PatternType) -> Names:
    if pattern_type is PatternType.PREFIXED:
        return Names(name, is_prefix=True)
    return ALL_NAMES if name == WILDCARD else Names(name)


def pattern_of(names: Names) -> tuple[str, PatternType]:
    """Return the resource name and pattern type of an ACL for these names."""
    if names == ALL_NAMES:
        return WILDCARD, PatternType.LITERAL
    return names.text, PatternType.PREFIXED if names.is_prefix else PatternType.LITERAL


def regions(
    resource_type: ResourceType, distinct_names: Iterable[Names], rules: AclRules, within: Names
) -> list[Region]:
    """Divide `within` into regions that no pattern in `distinct_names` divides further.

    Outer regions come before the regions inside them. The cluster has one name.
    """
    if resource_type is ResourceType.CLUSTER:
        return [Region(Names(CLUSTER_NAME), CLUSTER_NAME, -1)]
    if not within.is_prefix:
        return [Region(within, within.text, -1)]
    found = {names for names in distinct_names if within.includes(names)}
    if not rules.wildcard_covers_starred:
        found |= {names for names in (STARRED, Names(WILDCARD)) if within.includes(names)}
    found.add(within)
    ordered = sorted(found, key=lambda names: (names.text, not names.is_prefix))
    parents = list(_parents(ordered))
    following: dict[int, set[str]] = {}
    for names, parent in zip(ordered, parents, strict=True):
        if parent >= 0:
            length = len(ordered[parent].text)
            following.setdefault(parent, set()).add(names.text[length : length + 1])
    return [
        Region(names, _sample(names, following.get(at, set())), parent)
        for at, (names, parent) in enumerate(zip(ordered, parents, strict=True))
    ]


def _parents(ordered: list[Names]) -> Iterator[int]:
    """Yield the position of the closest prefix around each, in lexical order."""
    around: list[int] = []
    for at, names in enumerate(ordered):
        while around and not ordered[around[-1]].includes(names):
            around.pop()
        yield around[-1] if around else -1
        if names.is_prefix:
            around.append(at)


def _sample(names: Names, taken: set[str]) -> str:
    """Return a name of the region; `taken` are the characters that lead into inner regions."""
    return names.text + free_letter(taken) if names.is_prefix else names.text


def free_letter(taken: Container[str]) -> str:
    """Return a character that is not taken, if possible one that topic names may contain."""
    free = next((letter for letter in _FILLERS if letter not in taken), None)
    if free is None:
        free = next(letter for n in range(0x100, 0x10000) if (letter := chr(n)) not in taken)
    return free
