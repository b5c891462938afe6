"""Applies changes from release to release, to get the facts of a release."""

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from kafka_shim.protocol.api_versions import parse_minor_release, parse_patch_numbers, release_index

Part = TypeVar("Part", bound=msgspec.Struct)


class Change:
    """A change in a release, with its reason (KIP, KAFKA-id, or the scenario that showed it).

    The release may be a patch, such as `3.9.2`. A minor release stands for its last patch.
    """

    __slots__ = ("facts", "release", "why")

    def __init__(self, release: str, why: str, **facts: Any) -> None:
        self.release = release
        self.why = why
        self.facts = facts


@cache
def release_sort_key(release: str) -> tuple[int, tuple[int, ...]]:
    """Return a sort key for releases with changes."""
    return release_index(parse_minor_release(release)), parse_patch_numbers(release) or ()


def apply_changes_up_to_release(
    oldest_facts: Part, changes: Sequence[Change], release: str
) -> Part:
    """Return the facts of a release such as `3.9.1`: the oldest ones, and all changes up to it."""
    at, patch = release_index(parse_minor_release(release)), parse_patch_numbers(release)
    facts = oldest_facts
    for change in changes:
        since, since_patch = release_sort_key(change.release)
        if since < at or (since == at and (patch is None or since_patch <= patch)):
            facts = msgspec.structs.replace(facts, **change.facts)
    return facts
