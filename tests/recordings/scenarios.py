"""Scenarios by name."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

Scenario = Callable[[Any], None]
"""Sends requests through the play in its argument, which records the responses."""


def by_name(areas: Iterable[ModuleType]) -> dict[str, Scenario]:
    """Return the SCENARIOS of modules `<area>_scenarios`, each as `<area>-<function>`."""
    found: dict[str, Scenario] = {}
    for area in areas:
        subject = area.__name__.rpartition(".")[2].removesuffix("_scenarios")
        found |= {f"{subject}-{scenario.__name__}": scenario for scenario in area.SCENARIOS}
    return found
