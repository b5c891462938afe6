"""Look up the newest release of each client with a driver or a suite, next to the pinned one.

    python -m tests.clients.pins

Asks PyPI, npm, crates.io and the Go proxy by their own tools. Exits with 3 if a pin is behind.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

from kafka_shim.cli import EXIT_MISMATCH
from tests.clients.suite_drivers import DRIVERS
from tests.suites import kafka_go, kafka_python, kgo, sarama
from tests.suites.rust_projects import RDKAFKA, RSKAFKA, SAMSA, RustProject

PYTHON: Final = ("confluent-kafka", "kafka-python", "aiokafka")
MODULE: Final = re.compile(r"^(?:require )?\s*([\w./-]+) v(\S+)$", re.MULTILINE)
LOOK_UP_SECONDS: Final = 60


class Pin(NamedTuple):
    """A pinned version of a package, and the file that pins it."""

    registry: str
    package: str
    version: str
    place: str


def driver_pins() -> Iterator[Pin]:
    """Yield the pins of all drivers of the conformance suite."""
    for package in PYTHON:
        yield Pin("PyPI", package, version(package), "pyproject.toml")
    for path in (DRIVERS / "go" / "go.mod", *sorted(DRIVERS.parent.glob("brokers/*/go.mod"))):
        for module, pinned in MODULE.findall(path.read_text(encoding="utf-8")):
            yield Pin("Go", module, pinned, _relative(path))
    path = DRIVERS / "node" / "package.json"
    packages = json.loads(path.read_bytes())["dependencies"]
    for package in ("@platformatic/kafka", "kafkajs"):
        yield Pin("npm", package, packages[package], _relative(path))
    path = DRIVERS / "rust" / "Cargo.toml"
    pinned = tomllib.loads(path.read_text(encoding="utf-8"))["dependencies"]["rdkafka"]["version"]
    yield Pin("crates.io", "rdkafka", pinned.lstrip("="), _relative(path))


def suite_pins() -> Iterator[Pin]:
    """Yield the pins of other projects' tests that come from a registry of packages."""
    for module, registry, package in (
        (kgo, "Go", "github.com/twmb/franz-go"),
        (sarama, "Go", "github.com/IBM/sarama"),
        (kafka_go, "Go", "github.com/segmentio/kafka-go"),
        (kafka_python, "PyPI", "kafka-python"),
    ):
        yield Pin(registry, package, module.VERSION, f"{module.__name__.replace('.', '/')}.py")
    where = f"{RustProject.__module__.replace('.', '/')}.py"
    for project in (RDKAFKA, RSKAFKA, SAMSA):
        yield Pin("crates.io", project.crate, project.version, where)


def _relative(path: Path) -> str:
    return path.relative_to(DRIVERS.parents[1]).as_posix()


def _newest_on_pypi(package: str) -> str:
    words = [sys.executable, "-m", "pip", "index", "versions", package]
    return _match(r"\(([^)]+)\)", _output(words))


def _newest_on_npm(package: str) -> str:
    return _output(["npm", "view", package, "version"]).strip()


def _newest_go_module(module: str) -> str:
    words = ["go", "list", "-m", "-f", "{{.Version}}", f"{module}@latest"]
    return _output(words, DRIVERS / "go").strip().removeprefix("v")


def _newest_crate(crate: str) -> str:
    with tempfile.TemporaryDirectory() as folder:  # a manifest would be preferred
        return _match(r"^version: (\S+)", _output(["cargo", "info", crate], Path(folder)))


NEWEST: Final[Mapping[str, Callable[[str], str]]] = {
    "PyPI": _newest_on_pypi,
    "npm": _newest_on_npm,
    "Go": _newest_go_module,
    "crates.io": _newest_crate,
}


def _output(words: list[str], folder: Path | None = None) -> str:
    done = subprocess.run(
        words, cwd=folder, stdout=subprocess.PIPE, text=True, timeout=LOOK_UP_SECONDS, check=True
    )
    return done.stdout


def _match(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise ValueError(f"no version in {text!r}")
    return match[1]


def main() -> int:
    is_behind = False
    for pin in (*driver_pins(), *suite_pins()):
        newest = NEWEST[pin.registry](pin.package)
        note = "" if newest == pin.version else f" -> {newest}"
        sys.stdout.write(f"{pin.registry:10}{pin.package:40}{pin.version}{note}  {pin.place}\n")
        is_behind |= bool(note)
    return EXIT_MISMATCH if is_behind else 0


if __name__ == "__main__":
    sys.exit(main())
