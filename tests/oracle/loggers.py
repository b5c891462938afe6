"""Write the loggers that real brokers list: `python -m tests.oracle.loggers 4.4.0`.

The loggers of a broker depend on the classes that it has loaded. They are recorded from a node that
is broker and controller, with an authorizer and Kafka's default configuration, right after its
start and one DescribeConfigs. Supports 4.0 and later, which use Log4j 2. Needs Java 17 and Maven.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kafka_shim.schemas.releases import minor_release
from kafka_shim.shim.state.settings.broker_loggers import table_path
from tests.oracle.real_kafka import RealKafka, fetched
from tests.recordings.peers.peer import ask_root
from tests.recordings.peers.socket_peer import SocketPeer

WARNING = ("kafka.request.logger", "kafka.network.RequestChannel$")
INFORMING = (
    "kafka",
    "org.apache.kafka",
    "org.apache.kafka.controller",
    "org.apache.kafka.storage.internals.log.LogCleaner",
    "org.apache.kafka.storage.internals.log.LogCleaner$CleanerThread",
    "org.apache.kafka.storage.internals.log.Cleaner",
    "state.change.logger",
    "kafka.authorizer.logger",
)
"""Loggers in the configuration that Kafka ships, with their levels."""


def libs_of(release: str) -> Path:
    """Return the folder with a release's jars and Log4j."""
    wanted = [
        ("org.apache.kafka", "kafka_2.13", release),
        ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.5"),
    ]
    return fetched(f"{release}-logging", wanted)


def levels_of(release: str) -> dict[str, str]:
    """Return the level of each logger of a real broker."""
    kafka = RealKafka(release, libs=libs_of(release))
    path = kafka.folder / "log4j2.json"
    levels = dict.fromkeys(INFORMING, "INFO") | dict.fromkeys(WARNING, "WARN")
    loggers = [{"name": name, "level": level} for name, level in levels.items()]
    configured = {"loggers": {"logger": loggers, "root": {"level": "INFO"}}}
    path.write_text(json.dumps({"configuration": configured}))
    os.environ["JAVA_TOOL_OPTIONS"] = f"-Dlog4j2.configurationFile={path}"
    with kafka:
        peer = SocketPeer(release, kafka.plain, kafka.sasl)
        wanted = DescribeConfigsResource(
            resource_type=ConfigResourceType.BROKER_LOGGER, resource_name="1"
        )
        request = DescribeConfigsRequest(resources=[wanted])
        response: Any = ask_root(peer, ApiKey.DESCRIBE_CONFIGS, request)
        peer.close()
    return {config.name: config.value for config in response.results[0].configs}


def main(releases: list[str]) -> None:
    path = table_path()
    table: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    for release in releases:
        levels = levels_of(release)
        by_level: dict[str, list[str]] = {}
        for name in sorted(levels):
            by_level.setdefault(levels[name], []).append(name)
        table[minor_release(release)] = by_level
        sys.stdout.write(f"{release}: {len(levels)} loggers\n")
    path.write_text(json.dumps(dict(sorted(table.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
