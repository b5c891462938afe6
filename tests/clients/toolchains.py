"""Builds drivers in other languages than Python; tests are skipped only if tools are missing."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kafka_shim.schemas.pins import read_pins

DRIVERS = Path(__file__).parent / "drivers"
JAVA_POM = DRIVERS / "java" / "pom.xml"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "kafka-shim" / "clients"
"""Of the user: each name has a digest of what it was made of, so a fresh clone finds it there."""

WITH_TOOLS = "4.3.1"
"""The last release whose kafka-streams and kafka-tools are in the Maven registry."""

BUILD_SECONDS = 600
"""The first build downloads the client."""


def go_driver(folder: Path) -> list[str]:
    """Build the franz-go driver into `folder`, and return its command; Go caches downloads."""
    need("franz-go", "go")
    program = folder / "driver"
    build(["go", "build", "-o", str(program), "."], DRIVERS / "go")
    return [str(program)]


def java_driver(_: Path) -> list[str]:
    """Return the command of the Java driver with the newest clients."""
    return java_program(DRIVERS / "java", "Driver")


def java_tools_driver(_: Path) -> list[str]:
    """Return the command of the Java driver with Kafka Streams and the command-line tools."""
    code = DRIVERS / "java"
    return java(JAVA_POM, [code, code / "tools"], "DriverWithTools", WITH_TOOLS, "-Ptools")


def java_program(code: Path, main: str) -> list[str]:
    """Return the command of a Java program that uses Kafka's newest clients."""
    return java(JAVA_POM, [code], main, read_pins().newest)


def java(pom: Path, code: Sequence[Path], main: str, release: str, *profile: str) -> list[str]:
    """Compile `code`, return the command; jars and classes are kept in the cache."""
    need("Java", "java", "javac")
    options = (*profile, f"-Dkafka={release}")
    sources = sorted(path for folder in code for path in folder.glob("*.java"))
    fetched = kept("java", [pom], lambda folder: _fetch_jars(pom, folder, *options), *options)
    jars = f"{fetched}/*"
    compiler = ["javac", "-Xlint:all", "-Werror", "-cp", jars]
    compiler += [str(path) for path in sources]
    made_of = (*options, os.path.realpath(shutil.which("javac") or ""))
    classes = kept(
        "classes", [pom, *sources], lambda folder: build([*compiler, "-d", folder]), *made_of
    )
    # For a small, short-lived JVM: the serial collector and the first compiler tier only.
    flags = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", *flags, "-cp", f"{classes}:{jars}", main]


def node_driver(_: Path) -> list[str]:
    """Return the command of the kafkajs driver; its packages are kept in the cache."""
    return node([DRIVERS / "node" / name for name in ("package.json", "driver.js")], "driver.js")


def node(sources: Sequence[Path], main: str) -> list[str]:
    """Install the packages of package.json beside the sources; `main` is one of the sources."""
    need("kafkajs", "node")
    folder = kept("node", sources, lambda folder: _install(sources, folder))
    own_node = folder / "node_modules" / ".bin" / "node"  # if package.json requires a newer one
    return [str(own_node) if own_node.exists() else "node", str(folder / main)]


def kcat_driver(_: Path) -> list[str]:
    """Return the command of the driver that runs kcat."""
    need("kcat", "kcat")
    return [sys.executable, str(DRIVERS / "kcat_driver.py")]


def spark_jars() -> Path:
    """Return a folder with Spark's Kafka connector and its dependencies."""
    pom = DRIVERS / "spark" / "pom.xml"
    return kept("spark", [pom], lambda folder: _fetch_jars(pom, folder))


def _fetch_jars(pom: Path, folder: str, *options: str) -> None:
    need("Java", "mvn")
    fetch = ["mvn", "-q", "-B", *options, "-f", str(pom), "dependency:copy-dependencies"]
    build([*fetch, f"-DoutputDirectory={folder}"])


def _install(sources: Sequence[Path], folder: str) -> None:
    need("kafkajs", "npm")
    for path in sources:
        shutil.copy(path, folder)
    build(["npm", "install", "--silent", "--no-audit", "--no-fund"], Path(folder))


def kept(name: str, sources: Sequence[Path], make: Callable[[str], None], *options: str) -> Path:
    """Return a folder of the cache, which is rebuilt if these files or options change."""
    content = b"".join([*(path.read_bytes() for path in sources), *map(str.encode, options)])
    place = CACHE / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}"
    if not place.exists():
        # Renamed when complete: an interrupted download leaves no incomplete folder.
        made = CACHE / f"making-{name}-{os.getpid()}"
        made.mkdir(parents=True, exist_ok=True)
        make(str(made))
        with contextlib.suppress(OSError):  # another process has built it meanwhile
            made.rename(place)
    return place


def need(client: str, *tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{client} client not tested: {', '.join(missing)} is not on the PATH")


def build(command: list[str], folder: Path | None = None) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-4000:]}"
