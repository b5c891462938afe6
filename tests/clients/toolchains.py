"""Building the Go and Java drivers; without their tools the tests are skipped, with them never."""

import contextlib
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

DRIVERS = Path(__file__).parent / "drivers"
CACHE = Path(__file__).parents[2] / ".cache" / "clients"

BUILD_SECONDS = 600
"""The first build fetches the client from its registry."""


def go_driver(folder: Path) -> list[str]:
    """The command of the franz-go driver, built into `folder`; Go keeps what it fetched."""
    _need("franz-go", "go")
    program = folder / "driver"
    _build(["go", "build", "-o", str(program), "."], DRIVERS / "go")
    return [str(program)]


def java_driver(folder: Path) -> list[str]:
    """The command of the Java driver, compiled into `folder`; its jars are kept in the cache."""
    _need("Java", "java", "javac")
    sources = [str(path) for path in sorted((DRIVERS / "java").glob("*.java"))]
    jars = f"{_jars()}/*"
    _build(["javac", "-Xlint:all", "-Werror", "-cp", jars, "-d", str(folder / "classes"), *sources])
    # One small, short-lived JVM: the cheap collector, and no second compiler tier to warm up.
    flags = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    return ["java", *flags, "-cp", f"{folder / 'classes'}:{jars}", "Driver"]


def _jars() -> Path:
    pom = DRIVERS / "java" / "pom.xml"
    kept = CACHE / f"java-{hashlib.sha256(pom.read_bytes()).hexdigest()[:16]}"
    if not kept.exists():
        _need("Java", "mvn")
        # Renamed when complete, so that an interrupted fetch is not taken for a whole one.
        fetched = CACHE / f"fetching-{os.getpid()}"
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        _build([*command, f"-DoutputDirectory={fetched}"])
        with contextlib.suppress(OSError):  # another process was faster
            fetched.rename(kept)
    return kept


def _need(client: str, *tools: str) -> None:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    if missing:
        pytest.skip(f"{client} client not tested: {', '.join(missing)} is not on the PATH")


def _build(command: list[str], folder: Path | None = None) -> None:
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
