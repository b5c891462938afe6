"""Kafka's own integration tests against brokers outside their process."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.suites.cache import SuiteError, need, progress, run_to_file
from tests.suites.kafka import jars
from tests.suites.kafka.catalogue import CLASSES
from tests.suites.kafka.real_host import RealHost
from tests.suites.kafka.shim_host import ShimHost
from tests.suites.outcome import FAILED, Result, of_junit

TEST_SECONDS = 180
CLASS_SECONDS = 5400
CONSOLE = "org.junit.platform.console.ConsoleLauncher"
REPORT = "TEST-junit-jupiter.xml"


class Outcome(NamedTuple):
    """A class's tests; `processor_seconds` are the brokers'."""

    name: str
    tests: list[Result]
    seconds: float
    processor_seconds: float


def run(against: str, release: str, only: str) -> Iterator[Outcome]:
    """Run the classes whose names match, or the tests: `Class` or `Class#test`."""
    need("java", "javac", "mvn")
    pattern, _, method = only.partition("#")
    wanted = [name for name in CLASSES if re.search(pattern, name)]
    with _host(against, release) as host:
        for name in wanted:
            progress(name)
            began, used = time.monotonic(), host.processor_seconds
            tests = _run_class(name, method, host.address)
            seconds = time.monotonic() - began
            yield Outcome(name, tests, seconds, host.processor_seconds - used)


def play(against: str, release: str, only: str) -> list[Result]:
    """The tests of all classes, named `Class.test`, by the class's own name."""
    return [
        test._replace(name=f"{outcome.name.rpartition('.')[2]}.{test.name}")
        for outcome in run(against, release, only)
        for test in outcome.tests
    ]


@contextmanager
def _host(against: str, release: str) -> Iterator[RealHost | ShimHost]:
    if against == "real" and release != jars.VERSION:
        raise SuiteError(f"Kafka's tests are of {jars.VERSION}, and so must a real broker be")
    host = RealHost() if against == "real" else ShimHost(release)
    try:
        yield host
    finally:
        host.close()


def _run_class(name: str, method: str, launcher: str) -> list[Result]:
    with TemporaryDirectory(prefix="kafka-suite-") as path:
        folder = Path(path)
        output = folder / "output"
        words = _words(name, method, launcher, folder)
        ended = run_to_file(words, folder, {"TMPDIR": path}, output, CLASS_SECONDS)
        if "KAFKA_SUITE_KEEP" in os.environ:
            (Path(os.environ["KAFKA_SUITE_KEEP"]) / f"{name}.log").write_bytes(output.read_bytes())
        if not ended:
            return [Result(name, FAILED, CLASS_SECONDS, "did not end in time")]
        return [_named(name, result) for result in of_junit(folder / REPORT, output)]


def _words(name: str, method: str, launcher: str, folder: Path) -> list[str]:
    path = f"{jars.classes(jars.STAND_INS)}:{jars.libraries()}/*"
    settings = {
        "junit.jupiter.extensions.autodetection.enabled": "true",
        "junit.jupiter.params.displayname.default": "{displayName}.{argumentsWithNames}",
        "junit.jupiter.execution.timeout.default": f"{TEST_SECONDS} s",
    }
    words = ["java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    words += [f"-Doutside.launcher={launcher}", f"-Djava.io.tmpdir={folder}"]
    words += ["-Dhttp.keepAlive=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    words += ["-cp", path, CONSOLE, "execute"]
    words += ["--disable-banner", "--details=tree", f"--reports-dir={folder}"]
    words += [f"--config={key}={value}" for key, value in settings.items()]
    words += ["--select-class", name]
    return words + (["--include-methodname", f".*{method}.*"] if method else [])


def _named(name: str, result: Result) -> Result:
    return result._replace(name=result.name.removeprefix(f"{name}."))
