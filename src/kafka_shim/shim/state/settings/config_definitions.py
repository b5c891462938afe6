"""Which settings topics, brokers, groups and metrics subscriptions have in a release.

The table is `config_definitions.json`: for every setting the releases that changed it, each with
all that holds from there on, or null where it was dropped. `generate_definitions` makes it of what
the releases' own classes say. `internal` settings are accepted, but not shown.
"""

from functools import cache
from typing import Final

import msgspec

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE, SUPER_USERS
from kafka_shim.protocol.api_versions import RELEASES, release_index

CONFIG_TYPES: Final = {
    "boolean": 1,
    "string": 2,
    "int": 3,
    "short": 4,
    "long": 5,
    "double": 6,
    "list": 7,
    "class": 8,
    "password": 9,
}
"""Codes of the wire (KIP-569); 0 is a setting that Kafka does not know."""


_TABLE_NAMES: Final = {
    "also_allowed": "or",
    "allows_by_duration": "durations",
    "must_not_be_empty": "filled",
    "is_list_of_distinct": "distinct",
    "is_partition_replica_list": "replicas",
    "is_release": "release",
    "newest_release": "newest",
    "default_from_broker_config": "broker",
    "is_documented": "defined",
}
"""Names of fields that are shorter in the table."""


class ValueCheck(msgspec.Struct, frozen=True, rename=_TABLE_NAMES):
    """A check of a value beyond its type."""

    min: float | None = None
    max: float | None = None
    also_allowed: float | None = None  # outside of min and max
    one_of: tuple[str, ...] = ()
    each_of: tuple[str, ...] = ()  # of a list
    ignore_case: bool = False
    allows_by_duration: bool = False  # `by_duration:` and how long
    must_not_be_empty: bool = False
    is_list_of_distinct: bool = False  # none empty; repeated ones are dropped
    is_partition_replica_list: bool = False  # `*`, or `partition:broker` pairs
    is_release: bool = False  # 2.8, or an inner step of it: 2.8-IV1
    newest_release: str = ""  # the last one allowed, that of the broker itself


class ConfigDefinition(msgspec.Struct, frozen=True, rename=_TABLE_NAMES):
    """A setting in a release.

    Settings that are not documented exist only in running brokers.
    """

    type: str
    default: str | None = None
    check: ValueCheck = ValueCheck()
    default_from_broker_config: str | None = None
    dynamic: bool = False
    internal: bool = False
    is_documented: bool = True

    @property
    def type_code(self) -> int:
        return CONFIG_TYPES[self.type]

    @property
    def is_sensitive(self) -> bool:
        return self.type == "password"


_THROTTLED_RATES: Final = dict.fromkeys(
    (
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "follower.replication.throttled.rate",
    ),
    ConfigDefinition(
        "long", check=ValueCheck(min=0), dynamic=True, internal=True, is_documented=False
    ),
)
"""Settings of running brokers only, which the classes that define the others do not know."""


class ReleaseDefinitions(msgspec.Struct, frozen=True):
    """All settings of one release, by kind and name."""

    topic_configs: dict[str, ConfigDefinition]
    broker: dict[str, ConfigDefinition]
    group: dict[str, ConfigDefinition]
    client_metrics: dict[str, ConfigDefinition]


class _HistoryByKind(msgspec.Struct):
    topic: dict[str, dict[str, ConfigDefinition | None]]
    broker: dict[str, dict[str, ConfigDefinition | None]]
    group: dict[str, dict[str, ConfigDefinition | None]]
    client_metrics: dict[str, dict[str, ConfigDefinition | None]]


@cache
def definitions_of_release(release: str) -> ReleaseDefinitions:
    """Return the settings of a minor release such as `2.8`."""
    table = _read_definition_table()
    at = release_index(release)
    return ReleaseDefinitions(
        topic_configs=_definitions_as_of_release(at, table.topic),
        broker=_definitions_as_of_release(at, table.broker) | _THROTTLED_RATES,
        group=_definitions_as_of_release(at, table.group),
        client_metrics=_definitions_as_of_release(at, table.client_metrics),
    )


def broker_setting_names_of_all_releases() -> frozenset[str]:
    """Return the names of all settings that brokers of any release have or had."""
    return frozenset(_read_definition_table().broker.keys() | _THROTTLED_RATES.keys())


def known_setting_names() -> frozenset[str]:
    """Return the broker settings of all releases, and those of the authorizer."""
    return broker_setting_names_of_all_releases() | {SUPER_USERS, ALLOW_EVERYONE, "cluster.id"}


@cache
def _read_definition_table() -> _HistoryByKind:
    from pathlib import Path  # noqa: PLC0415 - a starting broker reads no file by its path

    raw = Path(__file__).with_name("config_definitions.json").read_bytes()
    return msgspec.json.decode(raw, type=_HistoryByKind)


def _definitions_as_of_release(
    release_index: int, settings: dict[str, dict[str, ConfigDefinition | None]]
) -> dict[str, ConfigDefinition]:
    places = {release: place for place, release in enumerate(RELEASES)}
    held = {}
    for name, history in settings.items():
        current = None
        for since, definition in history.items():
            if places[since] <= release_index:
                current = definition
        if current is not None and current.check.is_release:
            check = msgspec.structs.replace(current.check, newest_release=RELEASES[release_index])
            current = msgspec.structs.replace(current, check=check)
        if current is not None:
            held[name] = current
    return held
