"""Twenty tests at the same time, in each language, ten times in a row on a busy machine."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.clients.test_examples import logging_command, run
from tests.language_packages.built import install_jars, npm_tarball, use_module
from tests.language_packages.test_readmes import copied_example

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900, func_only=True)]

SOURCES = Path(__file__).parent / "parallel"
RUNS = 10
Project = tuple[str, Path, dict[str, str]]
"""The command that runs twenty tests, its folder and its environment variables."""


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Keep every core busy with another process."""
    command = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(command) for _ in range(os.cpu_count() or 2)]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


def python(folder: Path, _: Path) -> Project:
    shutil.copy(SOURCES / "orders.py", folder / "test_orders.py")
    return f"{sys.executable} -m pytest -q -n 4 -p no:cacheprovider test_orders.py", folder, {}


def go(folder: Path, command: Path) -> Project:
    project = copied_example("go/example", folder)
    use_module(project)
    shutil.copy(SOURCES / "orders_test.go", project)
    return "go test -count=1 -parallel 20 ./...", project, {"KAFKA_SHIM_BINARY": str(command)}


def java(folder: Path, command: Path) -> Project:
    project = copied_example("junit5/example", folder)
    tests = project / "src/test/java/orders"
    (tests / "SharedBrokerTest.java").unlink()
    shutil.copy(SOURCES / "OrdersTest.java", tests)
    repository = install_jars(command)
    return "mvn -B -ntp test", project, {"MAVEN_OPTS": f"-Dmaven.repo.local={repository}"}


def node(folder: Path, command: Path) -> Project:
    project = copied_example("npm/examples/node-test", folder)
    (project / "orders.test.js").unlink()
    shutil.copy(SOURCES / "orders.test.mjs", project)
    install = f"npm install --silent --no-audit --no-fund {npm_tarball(folder)} kafkajs@2.2.4"
    assert run(["bash", "-c", install], project).returncode == 0
    return "node --test", project, {"KAFKA_SHIM_BINARY": str(command)}


PASSED: dict[Callable[[Path, Path], Project], str] = {
    python: r"^20 passed",
    go: r"^ok\s+orders",
    java: r"Tests run: 20, Failures: 0, Errors: 0, Skipped: 0$",
    node: r"^\S pass 20$",
}
"""What the runner of a language prints if twenty tests have passed."""


@pytest.mark.parametrize("language", PASSED, ids=lambda function: function.__name__)
@pytest.mark.usefixtures("busy_machine")
def test_twenty_parallel_tests_pass_ten_times(
    language: Callable[[Path, Path], Project], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, project, variables = language(tmp_path, logging_command(tmp_path, tmp_path / "log"))
    seconds = []
    for number in range(RUNS):
        start = time.monotonic()
        done = run(["bash", "-c", f"{command} 2>&1"], project, **variables)
        seconds.append(time.monotonic() - start)
        printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        assert done.returncode == 0, f"run {number}:\n{printed}"
        assert re.search(PASSED[language], printed, re.MULTILINE), printed
    with capsys.disabled():  # figures for the person who runs it
        sys.stdout.write(
            f"\n{language.__name__}: {RUNS} runs of {min(seconds):.1f} to {max(seconds):.1f} s\n"
        )
