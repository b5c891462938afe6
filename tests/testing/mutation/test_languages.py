"""Suites in four languages: the examples of the project, which start their brokers themselves."""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clients.test_examples import copied, logging_command, run, with_package
from tests.testing.mutation.suites import outcomes

pytestmark = [
    pytest.mark.folders("examples", "packages", "src/kafka_shim/testing/mutation"),
    pytest.mark.client,
    pytest.mark.timeout(900, func_only=True),
]
WRITE = "{principal: User:shop, allow: Write, topic: orders}"
GO_TEST = ("go", "test", "-count=1", "./...")
NODE_TEST = (
    *("node", "--test", "--test-timeout=15000", "--test-reporter=junit"),
    "--test-reporter-destination={results}/tests.xml",
)
MAVEN_TEST = (
    *("sh", "-c"),
    "mvn -q test; code=$?; cp target/surefire-reports/*.xml {results}; exit $code",
)


class Project(NamedTuple):
    """The command of an example, and the beginning of what notices a missing ACL.

    `options` are those of `run`; `prepare` is a command before the first run.
    """

    command: tuple[str, ...]
    noticed_by: str
    options: tuple[str, ...] = ()
    prepare: tuple[str, ...] = ()


PROJECTS = {
    "pytest-confluent": Project(
        (sys.executable, "-m", "pytest", "-q"), "test_orders.py::test_an_order_is_published"
    ),
    "go-franz": Project(GO_TEST, "exit code 1", prepare=("go", "vet", "./...")),
    "node-kafkajs": Project(
        NODE_TEST,
        "test::with permission an order is published",
        prepare=("npm", "install", "--silent", "--no-audit", "--no-fund"),
    ),
    "java-junit": Project(MAVEN_TEST, "orders.PublisherTest::anOrderIsPublished", ("--jobs", "1")),
}


@pytest.mark.parametrize(
    "name",
    [
        name if name == "go-franz" else pytest.param(name, marks=pytest.mark.heavy)
        for name in PROJECTS
    ],
)
def test_a_missing_acl_is_noticed(tmp_path: Path, name: str) -> None:
    project, folder = PROJECTS[name], copied(name, tmp_path)
    command = logging_command(tmp_path, tmp_path / "log")
    variables = with_package(folder, command)
    if project.prepare:
        subprocess.run(project.prepare, cwd=folder, check=True, capture_output=True)
    words = [str(command), "run", "--mutate-acls", "--json", *project.options, "--"]
    done = run([*words, *project.command], folder, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    found = outcomes(json.loads(done.stdout))
    noticed = found[WRITE, "missing"]
    assert any(test.startswith(project.noticed_by) for test in noticed), noticed
    assert found[WRITE, "any-suffix"] == ["not requested"]
