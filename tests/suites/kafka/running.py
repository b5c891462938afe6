"""Runs Kafka's own integration tests against brokers in other processes."""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from urllib.request import Request, urlopen

from tests.suites.cache import SuiteError, need, progress, run_to_file
from tests.suites.kafka import jars
from tests.suites.kafka.catalogue import CLASSES
from tests.suites.kafka.real_host import RealHost
from tests.suites.kafka.shim_host import ShimHost
from tests.suites.kafka.shim_pool import CLUSTER_ID
from tests.suites.outcome import FAILED, Result, of_junit

TEST_SECONDS = 180
CLASS_SECONDS = 5400
CONSOLE = "org.junit.platform.console.ConsoleLauncher"
SHUFFLED = "org.junit.jupiter.api.MethodOrderer$Random"
REPORT = "TEST-junit-jupiter.xml"


class Outcome(NamedTuple):
    """The results of a class; `processor_seconds` is the time of the brokers."""

    name: str
    tests: list[Result]
    seconds: float
    processor_seconds: float


def run(sides: Sequence[str], release: str, only: str) -> Iterator[list[Outcome]]:
    """Run the matching classes or tests (`Class` or `Class#test`) on each side, `real` or `shim`.

    Yield the outcomes of a class on all sides.
    """
    need("java", "javac", "mvn")
    pattern, _, method = only.partition("#")
    with ExitStack() as stack:
        hosts = [stack.enter_context(_host(side, release)) for side in sides]
        for name in matching(pattern):
            progress(name)
            yield [run_class(name, method, host) for host in hosts]


def matching(pattern: str) -> list[str]:
    return [name for name in CLASSES if re.search(pattern, name)]


def play(against: str, release: str, only: str) -> list[Result]:
    """Return the results of all tests, named `Class.test` by the simple names of classes."""
    return [
        test._replace(name=f"{outcome.name.rpartition('.')[2]}.{test.name}")
        for [outcome] in run([against], release, only)
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


def run_class(
    name: str, method: str, host: RealHost | ShimHost, seed: int | None = None
) -> Outcome:
    """Run a class; with a seed, run its tests on shared shims in a random order."""
    _end(host.address)
    began, used = time.monotonic(), host.processor_seconds
    with TemporaryDirectory(prefix="kafka-suite-") as path:
        folder = Path(path)
        output = folder / "output"
        words = _words(name, method, host.address, folder, seed)
        if run_to_file(words, folder, {"TMPDIR": path}, output, CLASS_SECONDS):
            tests = [_named(name, result) for result in of_junit(folder / REPORT, output)]
        else:
            tests = [Result(name, FAILED, CLASS_SECONDS, "did not end in time")]
    return Outcome(name, tests, time.monotonic() - began, host.processor_seconds - used)


def _end(launcher: str) -> None:
    """End the cluster that a failed test of another class has left behind."""
    urlopen(Request(f"{launcher}/end", data=b"", method="POST")).close()


def _words(name: str, method: str, launcher: str, folder: Path, seed: int | None) -> list[str]:
    path = f"{jars.classes(jars.STAND_INS)}:{jars.libraries()}/*"
    settings = {
        "junit.jupiter.extensions.autodetection.enabled": "true",
        "junit.jupiter.params.displayname.default": "{displayName}.{argumentsWithNames}",
        "junit.jupiter.execution.timeout.default": f"{TEST_SECONDS} s",
    }
    words = ["java", "-Xmx1g", "-XX:+UseSerialGC"]
    if seed is not None:
        settings["junit.jupiter.testmethod.order.default"] = SHUFFLED
        settings["junit.jupiter.execution.order.random.seed"] = str(seed)
        words.append(f"-Doutside.cluster={CLUSTER_ID}")
    words += [f"-Doutside.launcher={launcher}", f"-Djava.io.tmpdir={folder}"]
    words += ["-Dhttp.keepAlive=false", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"]
    words += ["-cp", path, CONSOLE, "execute"]
    words += ["--disable-banner", "--details=testfeed", f"--reports-dir={folder}"]
    words += [f"--config={key}={value}" for key, value in settings.items()]
    words += ["--select-class", name]
    return words + (["--include-methodname", f".*{method}.*"] if method else [])


def _named(name: str, result: Result) -> Result:
    return result._replace(name=result.name.removeprefix(f"{name}."))
