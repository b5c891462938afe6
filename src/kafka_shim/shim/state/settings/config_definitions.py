"""Which settings topics, brokers, groups and metrics subscriptions have in a release.

The table is `config_definitions.json`: for every setting the releases that changed it, each with
all that holds from there on, or null where it was dropped. `generate_definitions` makes it of what
the releases' own classes say. `internal` settings are accepted, but not shown.
"""

from functools import cache
from pathlib import Path
from typing import Final

import msgspec

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


class Check(msgspec.Struct, frozen=True, rename={"other": "or"}):
    """A check of a value beyond its type."""

    min: float | None = None
    max: float | None = None
    other: float | None = None  # allowed although outside of min and max
    one_of: tuple[str, ...] = ()
    each_of: tuple[str, ...] = ()  # of a list
    ignore_case: bool = False
    durations: bool = False  # besides, `by_duration:` and how long
    filled: bool = False  # not empty
    distinct: bool = False  # a list without empty elements; what is in it twice counts once
    replicas: bool = False  # `*`, or `partition:broker` pairs
    release: bool = False  # a Kafka release, or one of its inner steps: 2.8, 2.8-IV1
    newest: str = ""  # the last of them, that of the broker itself


class Definition(msgspec.Struct, frozen=True):
    """A setting in a release; `broker` is the broker's setting that it defaults to.

    Settings that are not `defined` exist only in running brokers, and have no documentation.
    """

    type: str
    default: str | None = None
    check: Check = Check()
    broker: str | None = None
    dynamic: bool = False
    internal: bool = False
    defined: bool = True

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
    Definition("long", check=Check(min=0), dynamic=True, internal=True, defined=False),
)
"""Settings of running brokers only, which the classes that define the others do not know."""


class Definitions(msgspec.Struct, frozen=True):
    """All settings of one release, by kind and name."""

    topic: dict[str, Definition]
    broker: dict[str, Definition]
    group: dict[str, Definition]
    client_metrics: dict[str, Definition]


class _Table(msgspec.Struct):
    topic: dict[str, dict[str, Definition | None]]
    broker: dict[str, dict[str, Definition | None]]
    group: dict[str, dict[str, Definition | None]]
    client_metrics: dict[str, dict[str, Definition | None]]


@cache
def definitions(release: str) -> Definitions:
    """Return the settings of a minor release such as `2.8`."""
    table = _read()
    at = release_index(release)
    return Definitions(
        topic=_as_of(at, table.topic),
        broker=_as_of(at, table.broker) | _THROTTLED_RATES,
        group=_as_of(at, table.group),
        client_metrics=_as_of(at, table.client_metrics),
    )


@cache
def _read() -> _Table:
    raw = Path(__file__).with_name("config_definitions.json").read_bytes()
    return msgspec.json.decode(raw, type=_Table)


def _as_of(at: int, settings: dict[str, dict[str, Definition | None]]) -> dict[str, Definition]:
    places = {release: place for place, release in enumerate(RELEASES)}
    held = {}
    for name, history in settings.items():
        current = None
        for since, definition in history.items():
            if places[since] <= at:
                current = definition
        if current is not None and current.check.release:
            check = msgspec.structs.replace(current.check, newest=RELEASES[at])
            current = msgspec.structs.replace(current, check=check)
        if current is not None:
            held[name] = current
    return held
