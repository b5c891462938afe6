"""docs/reference/settings.md, made from Kafka's definitions and the table of effects."""

import json
from pathlib import Path
from typing import Any, Final

import kafka_shim.shim.state.settings as settings_package
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.settings.setting_effects import setting_effect

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
and what the shim does with them.

The shim validates each setting of the chosen release as Kafka does, and returns it in
DescribeConfigs. The column *effect* has one of these:

- obeyed: the shim acts on the value, or topics and groups inherit it.
- no effect: the shim does not need the setting, as those of disks and replication. Only the
  validation of other settings depends on it. A note at startup lists these settings.
- refused: the setting names Java code that decides about clients, and the shim cannot run it. Only
  Kafka's own classes are valid. An empty value (`-c NAME=`) starts the broker without the code.

With the prefix `listener.name.NAME.`, the shim obeys `ssl.*`, `sasl.enabled.mechanisms`,
`sasl.oauthbearer.*`, `max.connections`, `max.connection.creation.rate`, and `sasl.jaas.config` of
PLAIN and SCRAM. As in Kafka, NAME is in lower case: a note names settings with capitals, which have
no effect. Another note names users in `sasl.jaas.config` without a listener or of SCRAM, which only
the shim reads. The column *default* has Kafka's default in the newest release with the setting,
and how the shim differs. An empty field means an empty default, or none.

The authorizer's settings `super.users` and `allow.everyone.if.no.acl.found` are not in the tables.
[Configuration](../guides/configuration.md) describes how to set settings.

An invalid value ends the start with exit code 2, and names the value and what is expected. A
setting that the chosen release does not have is ignored, and a note at startup names it. While the
broker runs, `kafka-configs` and AlterConfigs change the settings that Kafka can change then, with
an effect immediately. For the others, the error is INVALID_REQUEST (42).
"""


def settings_page() -> str:
    """Return the page: each setting with its effect, type, default and releases."""
    definitions = json.loads(_DEFINITIONS.read_text(encoding="utf-8"))
    lines = [_INTRODUCTION]
    for kind, title in _TITLES.items():
        lines += [f"## {title}", "", "| setting | effect | type | default | releases |"]
        lines.append("|---|---|---|---|---|")
        lines += [_row(name, releases) for name, releases in sorted(definitions[kind].items())]
        lines.append("")
    return "\n".join(lines)


def _row(name: str, definitions: dict[str, dict[str, Any] | None]) -> str:
    newest = [definition for definition in definitions.values() if definition][-1]
    default = newest.get("default")
    shown = f"`{default}`" if default not in (None, "") else ""
    if note := _NOTES_ON_DEFAULTS.get(name):
        shown = f"{shown}, {note}" if shown else note
    effect = setting_effect(name).value
    return f"| `{name}` | {effect} | {newest['type']} | {shown} | {_releases(definitions)} |"


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
