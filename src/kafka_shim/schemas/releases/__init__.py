"""What Kafka releases define: their settings and features, as facts taken from their jars.

`settings.json` and `features.json` say for every name in which releases it changed, each time with
all that holds from there on, or null where it was dropped. `jars.json` pins the jars, and
`extract` reads them.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
SETTINGS = FOLDER / "settings.json"
FEATURES = FOLDER / "features.json"

Fact = dict[str, Any]
History = dict[str, Fact | None]
"""A fact by the minor release since which it holds."""
Facts = dict[str, dict[str, History]]
"""Histories by kind and name."""


def settings() -> Facts:
    """Return the settings of topics, brokers, groups and client metrics, in Java's words."""
    return _read(SETTINGS)


def features() -> Facts:
    """Return the features of brokers, in the order in which brokers list them."""
    return _read(FEATURES)


def _read(path: Path) -> Facts:
    facts: Facts = json.loads(path.read_text())
    return facts
