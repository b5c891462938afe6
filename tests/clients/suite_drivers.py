"""Commands of the conformance suite's drivers; those in compiled languages are built first."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from kafka_shim.schemas.pins import read_pins
from tests.clients.toolchains import build, java, kept, need, node

DRIVERS = Path(__file__).parents[2] / "conformance" / "drivers"

OLDER_JAVA = "2.8.2"
"""The last release of the Java clients whose producers are not idempotent by default."""


def _python(name: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(DRIVERS / f"{name}_driver.py")]


def _java(variant: str, release: str) -> list[str]:
    code = DRIVERS / "java"
    return java(code / "pom.xml", [code, code / variant], "Driver", release)


def _go(client: str) -> Callable[[], list[str]]:
    def command() -> list[str]:
        need(client, "go")
        code = DRIVERS / "go"
        sources = sorted(path for path in code.rglob("*") if path.is_file())
        folder = kept("go", sources, lambda made: build(["go", "build", "-o", made, "./..."], code))
        return [str(folder / client)]

    return command


def _node(client: str) -> Callable[[], list[str]]:
    sources = sorted(path for path in (DRIVERS / "node").iterdir() if path.is_file())
    return lambda: node(sources, f"{client}_driver.js")


def _rust() -> list[str]:
    need("rust-rdkafka", "cargo")
    code = DRIVERS / "rust"
    sources = sorted(path for path in code.rglob("*") if path.is_file())
    words = ["cargo", "build", "--quiet", "--locked", "--target-dir"]
    folder = kept("rust", sources, lambda made: build([*words, made], code))
    return [str(folder / "debug" / "rdkafka-driver")]


COMMANDS: Mapping[str, Callable[[], list[str]]] = {
    "java": lambda: _java("newest", read_pins().newest),
    "java-2.8": lambda: _java("2.8", OLDER_JAVA),
    "confluent-kafka": _python("confluent_kafka"),
    "kafka-python": _python("kafka_python"),
    "aiokafka": _python("aiokafka"),
    "franz-go": _go("franz"),
    "sarama": _go("sarama"),
    "kafka-go": _go("kafkago"),
    "kafkajs": _node("kafkajs"),
    "platformatic": _node("platformatic"),
    "rust-rdkafka": _rust,
}
"""Functions that return the command of a driver; they skip the test if its tools are missing."""
