"""A chain of changes from release to release, and how it is folded into the facts of one."""

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from kafka_shim.protocol.api_versions import parse_release, release_index

Part = TypeVar("Part", bound=msgspec.Struct)


class Change:
    """What one release altered, and why (KIP, KAFKA-id, or the scenario that showed it)."""

    __slots__ = ("facts", "release", "why")

    def __init__(self, release: str, why: str, **facts: Any) -> None:
        self.release = release
        self.why = why
        self.facts = facts


def fold(oldest: Part, changes: Sequence[Change], release: str) -> Part:
    """The facts of a release: the oldest ones with every change up to it applied."""
    at = release_index(parse_release(release))
    facts = oldest
    for change in changes:
        if release_index(change.release) <= at:
            facts = msgspec.structs.replace(facts, **change.facts)
    return facts
