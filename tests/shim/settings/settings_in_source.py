"""The settings of Kafka that the shim's code names, to compare them with the table of effects."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import kafka_shim.shim.state.settings as settings_package
from kafka_shim.protocol.releases.facts import REBALANCE_PROTOCOLS
from kafka_shim.shim.state.settings.configs import FETCH_BYTES_MAX, SYNONYMS

_DEFINITIONS: Final = Path(settings_package.__file__).parent / "config_definitions.json"
_SHIM: Final = Path(settings_package.__file__).parents[2]
_READERS: Final = (
    "handlers",
    "network",
    "observing",
    "sasl",
    "settings",
    "state",
    "storage",
    "tls",
)
"""The folders whose code acts on settings."""
_CHECKS: Final = (
    *("broker_config_checks.py", "config_change.py", "configs.py"),
    *("setting_effects.py", "generate_definitions.py"),
)
"""Modules that name settings only to validate, to list or to return them."""
_READ_ELSEWHERE: Final = frozenset(
    {
        "listeners",
        "log.dir",
        "log.dirs",
        "match",
        "metrics",
        "port",
        FETCH_BYTES_MAX,
        REBALANCE_PROTOCOLS,
    }
)
"""Settings that the shim reads, but without a dot in their name, in one of `_CHECKS`, or by the
name in the facts of releases.
"""


@cache
def names_that_have_an_effect() -> frozenset[str]:
    """Return the names in the source, and the defaults of settings of topics that are there."""
    definitions = json.loads(_DEFINITIONS.read_text(encoding="utf-8"))
    with_default = definitions["topic"] | definitions["group"]
    names = set(names_in_source())
    for name in names_in_source() & with_default.keys():
        newest = [definition for definition in with_default[name].values() if definition][-1]
        if default := newest.get("broker"):
            names |= {synonym for synonym, _ in SYNONYMS.get(default, ((default, 1),))}
    return frozenset(names)


@cache
def names_in_source() -> frozenset[str]:
    """Return the names of settings in the shim's code, also those after a prefix of the module."""
    names = set[str]()
    for path in _source_files():
        texts = {
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        prefixes = {text for text in texts if text.endswith(".") and " " not in text}
        names |= texts | {prefix + text for prefix in prefixes for text in texts}
    kinds = json.loads(_DEFINITIONS.read_text(encoding="utf-8")).values()
    defined = {name for kind in kinds for name in kind if "." in name}
    return frozenset(names & defined | _READ_ELSEWHERE)


def _source_files() -> Iterator[Path]:
    yield _SHIM / "config.py"
    for folder in _READERS:
        yield from (path for path in (_SHIM / folder).rglob("*.py") if path.name not in _CHECKS)
