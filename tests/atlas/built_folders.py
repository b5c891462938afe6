"""Folders with jars, Go programs and Node packages, which are fetched or built once."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from tests.atlas.kafka_tools import EARLIER, RELEASE
from tests.clients.toolchains import build, kept, need, node, spark_jars
from tests.oracle.real_kafka import fetched, jars

_CLIENTS = Path(__file__).parent / "clients"
_KAFKA = "org.apache.kafka"
SERVICES = "4.3.1"
"""The last release whose file connectors, MirrorMaker and Streams examples are published."""


def _connect_jars() -> Path:
    names = ("connect-runtime", "connect-file", "connect-mirror")
    return fetched(f"connect-{SERVICES}", [(_KAFKA, name, SERVICES) for name in names])


def _streams_jars() -> Path:
    return fetched(f"streams-{SERVICES}", [(_KAFKA, "kafka-streams-examples", SERVICES)])


def _go_programs() -> Path:
    need("Go", "go")
    code = _CLIENTS / "go"
    sources = sorted(path for path in code.rglob("*") if path.is_file())
    return kept(
        "atlas-go", sources, lambda folder: _build_go_programs(code, folder), "two versions"
    )


def _build_go_programs(code: Path, folder: str) -> None:
    """Build all programs, that of confluent-kafka-go also with the module's first version."""
    copy = Path(folder, "code")
    shutil.copytree(code, copy)
    main, earlier = copy / "confluent-v2" / "main.go", copy / "confluent-v1"
    earlier.mkdir()
    text = main.read_text().replace("confluent-kafka-go/v2/", "confluent-kafka-go/")
    (earlier / "main.go").write_text(text)
    build(["go", "build", "-o", folder, "./..."], copy)
    shutil.rmtree(copy)


SPRING_KAFKA, FLINK_CONNECTOR, DEBEZIUM = "4.1.2", "5.0.0-2.2", "3.5.0.Final"
_FLINK = "2.2.1"
_LOG = ("org.slf4j", "slf4j-nop", "2.0.17")


def _spring_jars() -> Path:
    wanted = [("org.springframework.kafka", "spring-kafka", SPRING_KAFKA), _LOG]
    return fetched(f"spring-kafka-{SPRING_KAFKA}", wanted)


def _flink_jars() -> Path:
    names = ("flink-clients", "flink-connector-base")
    wanted = [("org.apache.flink", name, _FLINK) for name in names]
    wanted += [("org.apache.flink", "flink-connector-kafka", FLINK_CONNECTOR)]
    return fetched(f"flink-{_FLINK}", [*wanted, ("org.slf4j", "slf4j-nop", "1.7.36")])


def _debezium_jars() -> Path:
    wanted = [(_KAFKA, "connect-runtime", SERVICES)]
    wanted += [("io.debezium", "debezium-connector-mariadb", DEBEZIUM)]
    return fetched(f"debezium-mariadb-{DEBEZIUM}", wanted)


DEBIAN_PACKAGES = (
    "collectd-core",
    "kcat",
    "libaio1",
    "libestr0",
    "libfastjson4",
    "libivykis0",
    "liblognorm5",
    "libnet1",
    "libpcre3",
    "librdkafka1",
    "liburing2",
    "libwrap0",
    "libyajl2",
    "mariadb-client-core",
    "mariadb-server-core",
    "rsyslog",
    "rsyslog-kafka",
    "syslog-ng-core",
    "syslog-ng-mod-rdkafka",
)
"""Packages with programs, and the libraries that they need; they are unpacked, not installed."""


def _debian_programs() -> Path:
    need("Debian", "apt-get", "dpkg")

    def make(folder: str) -> None:
        build(["apt-get", "download", *DEBIAN_PACKAGES], Path(folder))
        for package in sorted(Path(folder).glob("*.deb")):
            build(["dpkg", "-x", str(package), folder])
            package.unlink()

    return kept("atlas-debian", [], make, *DEBIAN_PACKAGES)


def _python_packages(*packages: str) -> Path:
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target"]
    return kept("atlas-python", [], lambda folder: build([*install, folder, *packages]), *packages)


def _node_programs() -> Path:
    sources = [_CLIENTS / "node" / name for name in ("package.json", "kafkajs.js")]
    return Path(node(sources, "kafkajs.js")[-1]).parent


FOLDERS: dict[str, Callable[[], Path]] = {
    "kafka-tools": lambda: jars(RELEASE),
    "kafka-tools-earlier": lambda: jars(EARLIER),
    "connect": _connect_jars,
    "streams": _streams_jars,
    "spring": _spring_jars,
    "flink": _flink_jars,
    "debezium": _debezium_jars,
    "spark": spark_jars,
    "go": _go_programs,
    "debian": _debian_programs,
    "kafka-python-2.0.2": lambda: _python_packages("kafka-python==2.0.2"),
    "aiokafka-0.8.1": lambda: _python_packages("aiokafka==0.8.1", "kafka-python==2.0.2"),
    "confluent-kafka-2.0.2": lambda: _python_packages("confluent-kafka==2.0.2"),
    "node": _node_programs,
}
"""The folder that replaces `{name}` in a command."""
