"""Loggers of brokers and their levels (KIP-412), as the configuration has them that Kafka ships.

Since 4.0 they are those of real brokers (`broker_loggers.json`, by `python -m
tests.oracle.loggers`); before that, those that the configuration names.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

import msgspec

from kafka_shim.protocol.api_versions import RELEASES

if TYPE_CHECKING:
    from pathlib import Path

_CONFIGURED: Final = {
    "INFO": [
        "root",
        "kafka",
        "kafka.authorizer.logger",
        "kafka.controller",
        "kafka.log.LogCleaner",
        "org.apache.kafka",
        "state.change.logger",
    ],
    "WARN": ["kafka.network.RequestChannel$", "kafka.request.logger"],
}


def table_path() -> "Path":
    """Return the file of the loggers by release."""
    from pathlib import Path  # noqa: PLC0415 - a starting broker reads no file by its path

    return Path(__file__).with_name("broker_loggers.json")


@cache
def default_logger_levels(release: str) -> Mapping[str, str]:
    """Return the levels of a minor release's loggers, in the order of brokers."""
    from kafka_shim.shim.state.java_collections import in_hash_map_order  # noqa: PLC0415 - not at the start

    table = msgspec.json.decode(table_path().read_bytes())
    place = RELEASES.index(release)
    known = [table[name] for name in RELEASES[: place + 1] if name in table]
    levels = {
        name: level for level, names in (known or [_CONFIGURED])[-1].items() for name in names
    }
    return {name: levels[name] for name in in_hash_map_order(sorted(levels))}
