"""The image in Testcontainers, with the library of each language.

The daemon is the one in DOCKER_HOST if KAFKA_SHIM_IMAGE names the image there; otherwise it is the
stand-in, in which a container is a local process.
"""

import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.toolchains import build, need
from tests.language_packages.built import PACKAGES, npm_tarball, run, use_module
from tests.language_packages.docker_stand_in import Daemon, start_daemon

TESTS = Path(__file__).parent / "testcontainers"
CONTAINERS = 2
"""How many containers the tests of a language start."""

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900, func_only=True)]


class Docker:
    """The variables that lead to a daemon, and the stand-in, if it is that."""

    def __init__(self, variables: dict[str, str], daemon: Daemon | None) -> None:
        kept = {name: value for name, value in os.environ.items() if name[:6] != "KAFKA_"}
        self.variables = kept | variables
        self.daemon = daemon

    def check(
        self, command: list[str], folder: Path, printed: str, containers: int = CONTAINERS
    ) -> None:
        """Run tests; expect that they pass, and that they started and removed their containers."""
        done = run(command, folder, self.variables)
        output = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
        assert done.returncode == 0, output + done.stderr
        assert re.search(printed, output, re.MULTILINE), output
        if self.daemon is not None:
            assert len(self.daemon.images) == containers
            assert self.daemon.containers == {}
            assert self.daemon.unknown == []


@pytest.fixture
def docker(tmp_path: Path) -> Iterator[Docker]:
    if image := os.environ.get("KAFKA_SHIM_IMAGE"):
        yield Docker({"KAFKA_SHIM_IMAGE": image}, None)
        return
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("containers not tested: without KAFKA_SHIM_IMAGE this needs root on Linux")
    folder = tmp_path / "daemon"
    folder.mkdir()
    daemon = start_daemon(folder)
    yield Docker(
        {
            "KAFKA_SHIM_IMAGE": "kafka-shim",
            "DOCKER_HOST": f"tcp://127.0.0.1:{daemon.server_address[1]}",
            "TESTCONTAINERS_RYUK_DISABLED": "true",  # it is another image
            "TESTCONTAINERS_HOST_OVERRIDE": "127.0.0.1",
            "TESTCONTAINERS_CONNECTION_MODE": "docker_host",
        },
        daemon,
    )
    daemon.stop()


def test_python(docker: Docker, tmp_path: Path) -> None:
    shutil.copy(TESTS / "orders_in_container.py", tmp_path / "test_orders.py")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_orders.py"]
    docker.check([sys.executable, *words], tmp_path, "2 passed")


def test_node(docker: Docker, tmp_path: Path) -> None:
    need("the npm package", "node", "npm")
    shutil.copy(TESTS / "orders.test.mjs", tmp_path)
    packages = [str(npm_tarball(tmp_path)), "kafkajs@2.2.4", "testcontainers@11"]
    build(["npm", "install", "--silent", "--no-audit", "--no-fund", *packages], tmp_path)
    words = ["--test", "--test-reporter=tap", "orders.test.mjs"]
    docker.check(["node", *words], tmp_path, "^# pass 2$")


def test_go(docker: Docker, tmp_path: Path) -> None:
    project = Path(shutil.copytree(PACKAGES / "go" / "testcontainers", tmp_path / "go"))
    use_module(project)
    containers = CONTAINERS + 1  # the example on the page
    docker.check(["go", "test", "-count=1", "./..."], project, r"^ok\s.*/example\s", containers)


def test_java(docker: Docker, tmp_path: Path) -> None:
    need("kafka-shim-junit5", "java", "mvn")
    built = shutil.ignore_patterns("target")
    project = Path(shutil.copytree(PACKAGES / "junit5", tmp_path / "junit5", ignore=built))
    words = ["-B", "-ntp", "-Dtest=OrdersTest", "test"]
    docker.check(["mvn", *words], project, "Tests run: 2, Failures: 0, Errors: 0, Skipped: 0$")
