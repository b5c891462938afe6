"""kafka-python's own integration tests: admin with ACLs, groups, transactions, SASL, TLS."""

import shutil
import sys
import tarfile
from pathlib import Path

from tests.suites.broker import Broker, Needs
from tests.suites.cache import command, fetched, patch, run_to_file
from tests.suites.outcome import Result, of_junit

VERSION = "3.0.12"
NEEDS = Needs(tls=True)
RUN_SECONDS = 1200
TEST_SECONDS = 90

PACKAGES = (
    f"kafka-python=={VERSION}",
    *("pytest>=8,<10", "pytest-mock>=3.14,<4", "pytest-timeout>=2.3,<3", "py>=1.11,<2"),
    *("lz4>=4,<5", "python-snappy>=0.7,<1", "zstandard>=0.22,<1", "crc32c>=2.7,<3", "xxhash>=3,<4"),
)

SERVICE = '''"""Not in the archive that is published; an outside broker needs this much of it."""


class ExternalService:
    def __init__(self, host, port):
        self.host, self.port = host, port

    def dump_logs(self):
        pass


class SpawnedService:
    pass
'''


def run(broker: Broker, only: str) -> list[Result]:
    folder = fetched(f"kafka-python-{VERSION}", _fetch)
    # the suite requires this folder of broker programs, even if the broker is already running
    (folder / "servers" / broker.release / "kafka-bin").mkdir(parents=True, exist_ok=True)
    environment = {
        "PYTHONPATH": f"{folder}:{Path(__file__).parent}",
        "KAFKA_VERSION": broker.release,
        **{f"SUITE_{name}": address for name, address in broker.listeners.items()},
    }
    if broker.authority is not None:
        shutil.copyfile(broker.authority, folder / "ca-cert")
        environment["SUITE_CERTIFICATES"] = str(folder)
    report, output = folder / "junit.xml", folder / "output.txt"
    report.unlink(missing_ok=True)
    words = [str(folder / "venv" / "bin" / "python"), "-m", "pytest", "test/integration"]
    words += ["-p", "kafka_python_plugin", "-p", "no:cacheprovider", f"--junitxml={report}"]
    words += [f"--timeout={TEST_SECONDS}", *(["-k", only] if only else [])]
    run_to_file(words, folder, environment, output, RUN_SECONDS)
    return of_junit(report, output)


def _fetch(folder: Path) -> None:
    command([sys.executable, "-m", "venv", "venv"], folder)
    pip = ["venv/bin/pip", "--disable-pip-version-check", "--quiet"]
    command([*pip, "install", *PACKAGES], folder)
    command([*pip, "download", "--no-deps", "--no-binary=:all:", PACKAGES[0]], folder)
    name = f"kafka_python-{VERSION}"
    with tarfile.open(folder / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    (folder / name / "test").rename(folder / "test")
    shutil.rmtree(folder / name)  # otherwise it would be imported instead of the installed one
    (folder / "test" / "__init__.py").touch()
    (folder / "test" / "service.py").write_text(SERVICE)
    # one test has the node id of the suite's own broker
    patch(folder, "test/integration/test_admin_integration.py", {"[[0], [0]]": "[[1], [1]]"})
