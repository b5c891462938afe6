"""Sets of resource names, and their division into regions, for exact statements about all names."""

import re
from collections.abc import Container, Iterable, Iterator, Sequence

import msgspec

from kafka_shim.authorizer.acl_rules import AclRules
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.protocol.enums import CLUSTER_NAME, PatternType, ResourceType

_CHARACTERS = "xyzabcdefghijklmnopqrstuvwXYZABCDEFGHIJKLMNOPQRSTUVW0123456789_"
"""Tried in this order to continue a prefix; all of them are legal in topic names."""
_GLOB_FILLERS = ("", "x", "-x-")
"""Texts that are tried in place of an asterisk."""


class NameSet(msgspec.Struct, frozen=True, gc=False):
    """One name, or all names that begin with `text` (with an empty text, all names).

    `glob`: of these, only names that match a form such as `team-*-events` (see `NameGlob`).
    """

    text: str
    is_prefix: bool = False
    glob: str = ""

    def contains_name(self, name: str) -> bool:
        """Return whether a name is in the set, regardless of `glob`."""
        return name.startswith(self.text) if self.is_prefix else name == self.text

    def includes_names(self, other: "NameSet") -> bool:
        """Return whether all names of the other set are in this one, regardless of `glob`."""
        if self.is_prefix:
            return other.text.startswith(self.text)
        return self == other


ALL_NAMES = NameSet("", is_prefix=True)
STARRED_NAMES = NameSet(WILDCARD, is_prefix=True)
"""Names that begin with an asterisk: most releases pass over literal `*` for them."""


class NameRegion(msgspec.Struct, frozen=True, gc=False):
    """Names that all patterns of a set treat alike: `names` without the regions inside it.

    `sample_name` is one of them. `parent_position` is that of the region around it, or -1.
    """

    names: NameSet
    sample_name: str
    parent_position: int


def names_covered_by_acl(acl: Acl) -> NameSet:
    """Return the names that an ACL covers; literal `*` covers all."""
    return names_covered_by_pattern(acl.resource_name, acl.pattern_type)


def names_covered_by_pattern(pattern_name: str, pattern_type: PatternType) -> NameSet:
    """Return the names that a resource pattern covers; literal `*` covers all."""
    if pattern_type is PatternType.PREFIXED:
        return NameSet(pattern_name, is_prefix=True)
    return ALL_NAMES if pattern_name == WILDCARD else NameSet(pattern_name)


def pattern_covering_names(names: NameSet) -> tuple[str, PatternType]:
    """Return the resource name and pattern type of an ACL for these names."""
    if names == ALL_NAMES:
        return WILDCARD, PatternType.LITERAL
    return names.text, PatternType.PREFIXED if names.is_prefix else PatternType.LITERAL


def divide_into_regions(
    resource_type: ResourceType, distinct_names: Iterable[NameSet], rules: AclRules, within: NameSet
) -> list[NameRegion]:
    """Divide `within` into regions that no pattern in `distinct_names` divides further.

    Outer regions come before the regions inside them. The cluster has one name.
    """
    if resource_type is ResourceType.CLUSTER:
        return [NameRegion(NameSet(CLUSTER_NAME), CLUSTER_NAME, -1)]
    if not within.is_prefix:
        return [NameRegion(within, within.text, -1)]
    dividing_names = (
        set(distinct_names)
        if within is ALL_NAMES
        else set(filter(within.includes_names, distinct_names))
    )
    if not rules.wildcard_covers_starred_names:
        dividing_names |= {
            names for names in (STARRED_NAMES, NameSet(WILDCARD)) if within.includes_names(names)
        }
    dividing_names.add(within)
    ordered = sorted(dividing_names, key=lambda names: (names.text, not names.is_prefix))
    parents = list(_iter_enclosing_prefixes(ordered))
    following: dict[int, set[str]] = {}
    for names, parent in zip(ordered, parents, strict=True):
        if parent >= 0:
            length = len(ordered[parent].text)
            following.setdefault(parent, set()).add(names.text[length : length + 1])
    return [
        NameRegion(names, _sample_name_of_region(names, following.get(at, set())), parent)
        for at, (names, parent) in enumerate(zip(ordered, parents, strict=True))
    ]


def merge_rules(first: AclRules, second: AclRules) -> AclRules:
    """Return rules that divide names and hosts at least as finely as both."""
    return msgspec.structs.replace(
        first,
        host_networks=first.host_networks or second.host_networks,
        wildcard_covers_starred_names=(
            first.wildcard_covers_starred_names and second.wildcard_covers_starred_names
        ),
        prefix_search_stops_early=(
            first.prefix_search_stops_early or second.prefix_search_stops_early
        ),
    )


def _iter_enclosing_prefixes(sorted_names: list[NameSet]) -> Iterator[int]:
    """Yield the position of the closest prefix around each, in lexical order."""
    enclosing: list[int] = []
    for at, names in enumerate(sorted_names):
        while enclosing and not sorted_names[enclosing[-1]].includes_names(names):
            enclosing.pop()
        yield enclosing[-1] if enclosing else -1
        if names.is_prefix:
            enclosing.append(at)


def _sample_name_of_region(names: NameSet, inner_first_characters: set[str]) -> str:
    """Return a name of the region; no inner region begins with it."""
    return names.text + unused_character(inner_first_characters) if names.is_prefix else names.text


def unused_character(used_characters: Container[str]) -> str:
    """Return a character that is not used, if possible one that topic names may contain."""
    unused = next((letter for letter in _CHARACTERS if letter not in used_characters), None)
    if unused is None:
        unused = next(
            letter for n in range(0x100, 0x10000) if (letter := chr(n)) not in used_characters
        )
    return unused


class NameGlob:
    """A form of names such as `team-*-events`; each asterisk stands for any text, also none."""

    def __init__(self, text: str) -> None:
        self._parts = text.split("*")
        self._whole = re.compile(".*".join(map(re.escape, self._parts)), re.DOTALL)

    def matches(self, name: str) -> bool:
        """Return whether a name has this form."""
        return self._whole.fullmatch(name) is not None

    def regions_resampled_to_match(self, regions: Sequence[NameRegion]) -> list[NameRegion]:
        """Return the regions with a name of this form, each with such a name as its sample."""
        inside: dict[int, list[NameSet]] = {}
        for region in regions:
            inside.setdefault(region.parent_position, []).append(region.names)
        matching_regions = []
        for at, region in enumerate(regions):
            name = self._matching_name_in_region(region.names, inside.get(at, ()))
            if name is not None:
                matching_regions.append(NameRegion(region.names, name, region.parent_position))
        return matching_regions

    def _matching_name_in_region(
        self, names: NameSet, inner_regions: Iterable[NameSet]
    ) -> str | None:
        """Return a name of this form that no inner region has; None if none is known."""
        if not names.is_prefix:
            return names.text if self.matches(names.text) else None
        inner_names = list(inner_regions)
        used_characters = {
            other.text[len(names.text) : len(names.text) + 1] for other in inner_names
        }
        fillers = (unused_character(used_characters), *_GLOB_FILLERS)
        for name in self._candidate_names(names.text, fillers):
            if (
                name
                and self.matches(name)
                and not any(other.contains_name(name) for other in inner_names)
            ):
                return name
        return None

    def _candidate_names(self, prefix: str, fillers: Iterable[str]) -> Iterator[str]:
        """Yield names that begin with the prefix and continue like the
        form, from any of its parts.
        """
        for first in reversed(range(len(self._parts))):
            head, *rest = self._parts[first:]
            for overlap in range(min(len(prefix), len(head)), -1, -1):
                if prefix.endswith(head[:overlap]):
                    for filler in fillers:
                        tail = filler.join([head[overlap:], *rest])
                        yield prefix + tail
                        yield prefix + filler + tail
