"""A chain of changes from release to release, and how it is folded into the facts of one."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from kafka_shim.protocol.api_versions import parse_release, patch_of, release_index

Part = TypeVar("Part", bound=msgspec.Struct)


class Change:
    """What one release altered, and why (KIP, KAFKA-id, or the scenario that showed it).

    A release may be a patch, `3.9.2`. A minor release is its last patch, and so is a later one.
    """

    __slots__ = ("facts", "release", "why")

    def __init__(self, release: str, why: str, **facts: Any) -> None:
        self.release = release
        self.why = why
        self.facts = facts


def place_of(release: str) -> tuple[int, tuple[int, ...]]:
    """Return a value that orders releases in which something changed."""
    return release_index(parse_release(release)), patch_of(release) or ()


def fold(oldest: Part, changes: Sequence[Change], release: str) -> Part:
    """The facts of a release, `3.9` or `3.9.1`: the oldest with every change up to it applied."""
    at, patch = release_index(parse_release(release)), patch_of(release)
    facts = oldest
    for change in changes:
        since, since_patch = place_of(change.release)
        if since < at or (since == at and (patch is None or since_patch <= patch)):
            facts = msgspec.structs.replace(facts, **change.facts)
    return facts
