"""docs/reference/settings.md, made from Kafka's definitions and the source of the shim."""

import ast
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import kafka_shim.shim.state.settings as settings_package
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.state.settings.configs import FETCH_BYTES_MAX, SYNONYMS

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
_CHECKS: Final = ("broker_config_checks.py", "config_change.py", "configs.py")
"""Modules that name settings only to validate or to return them."""
_READ_ELSEWHERE: Final = frozenset({"listeners", "match", "metrics", FETCH_BYTES_MAX})
"""Settings that the shim reads, but without a dot in their name, or in one of `_CHECKS`."""
_TWO_LISTENERS: Final = "[two](../guides/configuration.md#default-permissions)"
_NOTES_ON_DEFAULTS: Final = {
    "authorizer.class.name": "in the shim Kafka's own authorizer",
    "broker.id": "in the shim `1`",
    "group.initial.rebalance.delay.ms": "in the shim `0`",
    "listeners": f"in the shim {_TWO_LISTENERS}",
    "log.cleaner.enable": "but the shim compacts only if you set `true`",
    "sasl.enabled.mechanisms": "in the shim `PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`",
}
"""The defaults of the shim: `static_settings`, and differences.md for `log.cleaner.enable`."""
_DEFINITIONS: Final = Path(settings_package.__file__).parent / "config_definitions.json"
_TITLES: Final = {
    "broker": "Brokers",
    "topic": "Topics",
    "group": "Groups",
    "client_metrics": "Client metrics",
}
_INTRODUCTION: Final = """\
# Broker settings

Kafka's settings of brokers, topics, groups and client metrics, with their releases and defaults,
and whether the shim reads them.

You can set every setting of the chosen release. The shim validates it as Kafka does, and returns it
in DescribeConfigs. A mark in the column *read* means that the shim acts on the value, or that
topics and groups inherit it. Other settings, such as those of disks and replication, have no
effect, except on the validation of settings that depend on them. The column *default* has Kafka's
default in the newest release with the setting, and how the shim differs. An empty field means an
empty default, or none.

The authorizer's settings `super.users` and `allow.everyone.if.no.acl.found` are not in the tables.
[Configuration](../guides/configuration.md) describes how to set settings.
"""


def settings_page() -> str:
    """Return the page: each setting with its type, default, releases and whether it is read."""
    definitions = json.loads(_DEFINITIONS.read_text(encoding="utf-8"))
    lines = [_INTRODUCTION]
    for kind, title in _TITLES.items():
        lines += [f"## {title}", "", "| setting | read | type | default | releases |"]
        lines.append("|---|---|---|---|---|")
        lines += [_row(name, releases) for name, releases in sorted(definitions[kind].items())]
        lines.append("")
    return "\n".join(lines)


def _row(name: str, definitions: dict[str, dict[str, Any] | None]) -> str:
    newest = [definition for definition in definitions.values() if definition][-1]
    mark = "✓" if {name, newest.get("broker")} & names_that_have_an_effect() else ""
    default = newest.get("default")
    shown = f"`{default}`" if default not in (None, "") else ""
    if note := _NOTES_ON_DEFAULTS.get(name):
        shown = f"{shown}, {note}" if shown else note
    return f"| `{name}` | {mark} | {newest['type']} | {shown} | {_releases(definitions)} |"


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


def _releases(definitions: dict[str, dict[str, Any] | None]) -> str:
    """Return the releases that have a setting: `0.11-2.8`, or `4.2, 4.4` with a gap."""
    ranges: list[list[str]] = []
    has_setting = False
    for release in RELEASES:
        began = has_setting
        has_setting = bool(definitions.get(release, has_setting))
        if has_setting and not began:
            ranges.append([release])
        elif has_setting:
            ranges[-1][1:] = [release]
    return ", ".join("-".join(each) for each in ranges)


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
