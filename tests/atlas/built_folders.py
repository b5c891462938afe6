"""Folders with jars, Go programs and Node packages, which are fetched or built once."""

from collections.abc import Callable
from pathlib import Path

from tests.atlas.kafka_tools import RELEASE
from tests.clients.toolchains import build, kept, need, node
from tests.oracle.real_kafka import fetched, jars

_CLIENTS = Path(__file__).parent / "clients"
_KAFKA = "org.apache.kafka"


def _connect_jars() -> Path:
    names = ("connect-runtime", "connect-file", "connect-mirror")
    return fetched(f"connect-{RELEASE}", [(_KAFKA, name, RELEASE) for name in names])


def _streams_jars() -> Path:
    return fetched(f"streams-{RELEASE}", [(_KAFKA, "kafka-streams-examples", RELEASE)])


def _go_programs() -> Path:
    need("Go", "go")
    code = _CLIENTS / "go"
    sources = sorted(path for path in code.rglob("*") if path.is_file())
    return kept(
        "atlas-go", sources, lambda folder: build(["go", "build", "-o", folder, "./..."], code)
    )


def _node_programs() -> Path:
    sources = [_CLIENTS / "node" / name for name in ("package.json", "kafkajs.js")]
    return Path(node(sources, "kafkajs.js")[-1]).parent


FOLDERS: dict[str, Callable[[], Path]] = {
    "kafka-tools": lambda: jars(RELEASE),
    "connect": _connect_jars,
    "streams": _streams_jars,
    "go": _go_programs,
    "node": _node_programs,
}
"""The folder that replaces `{name}` in a command."""
