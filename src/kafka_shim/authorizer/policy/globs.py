"""Names with asterisks anywhere: one example for each region of the ACLs."""

import re
from collections.abc import Iterable, Iterator, Sequence

from kafka_shim.authorizer.policy.names import Names, Region, free_letter

_FILLERS = ("", "x", "-x-")


class Glob:
    """A form of names such as `team-*-events`; each asterisk stands for any text, also none."""

    def __init__(self, text: str) -> None:
        self._parts = text.split("*")
        self._whole = re.compile(".*".join(map(re.escape, self._parts)), re.DOTALL)

    @property
    def stem(self) -> str:
        """Return the prefix of all its names."""
        return self._parts[0]

    def matches(self, name: str) -> bool:
        return self._whole.fullmatch(name) is not None

    def examples(self, regions: Sequence[Region]) -> list[Region]:
        """Return the regions that contain such names, each with one of them as its sample."""
        inside: dict[int, list[Names]] = {}
        for region in regions:
            inside.setdefault(region.parent, []).append(region.names)
        found = []
        for at, region in enumerate(regions):
            name = self._example(region.names, inside.get(at, ()))
            if name is not None:
                found.append(Region(region.names, name, region.parent))
        return found

    def _example(self, names: Names, inner: Iterable[Names]) -> str | None:
        """Return a name in `names` but in none of `inner`; None if none was found."""
        if not names.is_prefix:
            return names.text if self.matches(names.text) else None
        others = list(inner)
        taken = {other.text[len(names.text) : len(names.text) + 1] for other in others}
        fillers = (free_letter(taken), *_FILLERS)
        for name in self._candidates(names.text, fillers):
            if name and self.matches(name) and not any(other.covers(name) for other in others):
                return name
        return None

    def _candidates(self, prefix: str, fillers: Iterable[str]) -> Iterator[str]:
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
