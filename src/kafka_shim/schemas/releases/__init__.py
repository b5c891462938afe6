"""What Kafka releases define: their settings and features, as facts taken from their jars.

`settings.json` and `features.json` say for every name in which releases it changed, each time with
all that holds from there on, or null where it was dropped. `jars.json` pins the jars, and
`extract` reads them.
"""

import json
from collections.abc import Iterable, Mapping
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


Release = dict[str, dict[str, Fact]]
"""The facts of one release by kind and name."""


def minor_release(version: str) -> str:
    """Return the minor release of a version: 0.11 of 0.11.0.3."""
    return ".".join(version.split(".")[:2])


def group_facts(rows: Iterable[Fact]) -> Release:
    """Return the facts of a release from rows that say their kind and name."""
    facts: Release = {}
    for row in rows:
        fact = {key: value for key, value in row.items() if key not in ("kind", "name")}
        facts.setdefault(row["kind"], {})[row["name"]] = fact
    return facts


def merge_releases(releases: Mapping[str, Release]) -> Facts:
    """Return the history of releases, given from the oldest to the newest.

    Names have the order of the newest release that has them.
    """
    history: Facts = {}
    for release in reversed(list(releases.values())):
        for kind, facts in release.items():
            for name in facts:
                history.setdefault(kind, {}).setdefault(name, {})
    for version, release in releases.items():
        for kind, names in history.items():
            for name, changes in names.items():
                fact = release.get(kind, {}).get(name)
                before = list(changes.values())[-1] if changes else None
                if fact != before:
                    changes[minor_release(version)] = fact
    return history


def render_history(history: Facts) -> str:
    """Say a history as JSON with a line a name, or a line a change where there are several."""
    kinds = [f" {_json_text(kind)}: {_render_names(names)}" for kind, names in history.items()]
    return "{\n" + ",\n".join(kinds) + "\n}\n"


def _render_names(names: Mapping[str, Mapping[str, Fact | None]]) -> str:
    lines = []
    for name, changes in names.items():
        entries = [f"{_json_text(since)}: {_json_text(fact)}" for since, fact in changes.items()]
        text = entries[0] if len(entries) == 1 else "\n    " + ",\n    ".join(entries) + "\n  "
        lines.append(f"  {_json_text(name)}: {{{text}}}")
    return "{\n" + ",\n".join(lines) + "\n }"


def _json_text(value: object) -> str:
    return json.dumps(value)
