"""The example projects work when they are copied out of the repository, as their pages say."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.toolchains import need
from tests.docs.shown import ROOT, commands
from tests.language_packages.built import install_jars, use_module, use_npm_package
from tests.support.commands import SHIM

EXAMPLES = ROOT / "examples"
COMMAND = """\
#!/bin/sh
for word in "$@"; do
  shift
  [ "$word" = warn ] && word=info
  set -- "$@" "$word"
done
exec {command} "$@" 2>> {log}
"""
"""Replaces the command `kafka-shim`, and keeps its log."""

pytestmark = [
    pytest.mark.folders("examples", "packages", "src/kafka_shim/testing"),
    pytest.mark.client,
    pytest.mark.timeout(900, func_only=True),
]


class Example(NamedTuple):
    """An example project: its requirements, its number of tests, and their files.

    `printed` is a line of the output of the page's commands when all tests pass.
    """

    tools: tuple[str, ...]
    tests: int
    files: str
    printed: str
    is_parallel: bool = True


PROJECTS = {
    "go-franz": Example(("go",), 5, "publisher_test.go", r"ok\s+orders\s.*"),
    "node-kafkajs": Example(("node", "npm"), 6, "*.test.js", r"\S pass 6"),
    "java-junit": Example(
        ("java", "mvn"),
        5,
        "src/test/java/orders/PublisherTest.java",
        r"\[INFO\] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0",
    ),
    "pytest-confluent": Example((), 7, "test_*.py", "7 tests passed", is_parallel=False),
    "pytest-cassettes": Example((), 3, "test_*.py", "3 tests passed", is_parallel=False),
}
ALL = [
    pytest.param(name, marks=pytest.mark.heavy) if name == "java-junit" else name
    for name in PROJECTS
]


def copied(name: str, folder: Path) -> Path:
    """Copy the project without build output."""
    need(name, "make", *PROJECTS[name].tools)
    built = shutil.ignore_patterns(
        ".venv", "target", "node_modules", "__pycache__", ".pytest_cache"
    )
    return Path(shutil.copytree(EXAMPLES / name, folder / name, ignore=built))


def run(command: list[str], project: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command without the environment variables of this test run."""
    known = ("PYTHONPATH", "VIRTUAL_ENV", "KAFKA_SHIM", "PYTEST_", "COV_", "MAKE")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(known)}
    return subprocess.run(
        command, cwd=project, env=environment | variables, capture_output=True, text=True,
        timeout=800, check=False,
    )  # fmt: skip


def logging_command(folder: Path, log: Path) -> Path:
    """Write a command `kafka-shim`: the package under test, whose log goes to a file."""
    command = folder / "kafka-shim"
    command.write_text(COMMAND.format(command=shlex.join(SHIM), log=shlex.quote(str(log))))
    command.chmod(0o755)
    return command


def with_package(project: Path, command: Path) -> dict[str, str]:
    """Let the project use the package of its language in this repository, and this command.

    Return the environment variables with which it does so.
    """
    match project.name:
        case "go-franz":
            use_module(project)
        case "node-kafkajs":
            use_npm_package(project)
        case "java-junit":
            return {"MAVEN_OPTS": f"-Dmaven.repo.local={install_jars(command)}"}
    return {"KAFKA_SHIM_BINARY": str(command)}


def make_test(project: Path, log: Path) -> subprocess.CompletedProcess[str]:
    """Run `make test` with the packages under test instead of installed ones."""
    command = logging_command(project.parent, log)
    variables = with_package(project, command)
    words = [f"KAFKA_SHIM={command}", f"PYTHON={sys.executable}"]
    return run(["make", "test", *words], project, **variables)


@pytest.mark.parametrize("name", ALL)
def test_an_example_is_green(tmp_path: Path, name: str) -> None:
    """Tests of an example run in parallel; each removes its own broker at the end."""
    done = make_test(copied(name, tmp_path), tmp_path / "log")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{PROJECTS[name].tests} tests passed"
    if PROJECTS[name].is_parallel:
        logged = (tmp_path / "log").read_text()
        created, removed = (
            [int(number) for number in re.findall(rf"broker {event} .*created=(\d+)", logged)]
            for event in ("created", "removed")
        )
        assert len(created) == len(removed) >= 4
        assert max(created) >= 2
        assert removed[-1] == 0


@pytest.mark.parametrize("name", ALL)
def test_without_tests_it_fails(tmp_path: Path, name: str) -> None:
    project = copied(name, tmp_path)
    for path in project.glob(PROJECTS[name].files):
        path.unlink()
    done = make_test(project, tmp_path / "log")
    assert done.returncode != 0
    assert "0 tests passed" in done.stdout.splitlines()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the package as it would be published."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(ROOT)], check=True)
    [found] = folder.glob("kafka_shim-*.whl")
    return found


@pytest.mark.heavy
@pytest.mark.parametrize("name", PROJECTS)
def test_the_page_works_in_a_copy(tmp_path: Path, name: str, wheel: Path) -> None:
    """The commands of the README run literally; packages are those of this repository."""
    project = copied(name, tmp_path)
    variables = with_package(project, logging_command(tmp_path, tmp_path / "log"))
    page = f"examples/{name}/README.md"
    script = "\n".join(command.text for command in commands() if command.page == page)
    if "pip install" in script:  # then it is the installed command that is started
        variables.pop("KAFKA_SHIM_BINARY", None)
        for shown, real in ("python3 ", f"{sys.executable} "), ("'kafka-shim[", f"'{wheel}["):
            assert shown in script
            script = script.replace(shown, real)
    done = run(["bash", "-e", "-c", script], project, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert re.search(f"^{PROJECTS[name].printed}$", printed, re.MULTILINE), printed
