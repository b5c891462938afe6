"""Shortens a scenario with a difference: fewer steps, ACLs and groups."""

import base64
import itertools
import re
from collections.abc import Callable
from typing import Final

import msgspec

from tests.recordings.conformance.scenario import Scenario, topic_id_of

TRIALS: Final = 120
"""The number of trials; each plays on a real broker, which takes about a second."""


def renamed(scenario: Scenario, prefix: str) -> Scenario:
    """Return the scenario with other names, since groups keep state when topics are deleted."""
    old = scenario.prefix
    text = msgspec.json.encode(scenario).decode()
    text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(old)}(?=[-.\"])", prefix, text)
    for name in scenario.topics:
        new = prefix + name.removeprefix(old)
        text = text.replace(_base64(name), _base64(new))
    return msgspec.json.decode(text.encode(), type=Scenario)


def _base64(name: str) -> str:
    return base64.b64encode(topic_id_of(name)).decode()


def shrink(scenario: Scenario, differs: Callable[[Scenario], bool]) -> Scenario:
    """Return the shortest scenario found that still differs; `differs` plays a candidate.

    Each candidate has new names.
    """
    fresh = itertools.count(1)

    def still(candidate: Scenario) -> bool:
        number = next(fresh)
        return number <= TRIALS and differs(renamed(candidate, f"{scenario.prefix}x{number}"))

    best = _fewer(scenario, "steps", still)
    best = _fewer(best, "acls", still)
    best = _fewer(best, "groups", still)
    return _fewer(best, "steps", still)


def _fewer(best: Scenario, field: str, still: Callable[[Scenario], bool]) -> Scenario:
    """Remove ever smaller parts of one list as long as the scenario still differs."""
    size = max(1, len(getattr(best, field)) // 2)
    while True:
        at = 0
        while at < len(getattr(best, field)):
            rows = getattr(best, field)
            shorter = msgspec.structs.replace(best, **{field: rows[:at] + rows[at + size :]})
            if shorter.steps and still(shorter):
                best = shorter
            else:
                at += size
        if size == 1:
            return best
        size //= 2
