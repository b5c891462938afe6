"""kombu's integration tests with its transport for Kafka."""

import shutil
import sys
import tarfile
from pathlib import Path

from tests.suites.broker import Broker
from tests.suites.cache import command, fetched, patch, run_to_file
from tests.suites.outcome import Result, of_junit

VERSION = "5.6.2"
RUN_SECONDS = 900
PACKAGES = (f"kombu[confluentkafka]=={VERSION}", "pytest>=8,<9", "pytest-rerunfailures>=14,<17")


def run(broker: Broker, only: str) -> list[Result]:
    folder = fetched(f"kombu-{VERSION}", _fetch)
    host, _, port = broker.plaintext.rpartition(":")
    report, output = folder / "junit.xml", folder / "output.txt"
    report.unlink(missing_ok=True)
    words = [str(folder / "venv" / "bin" / "python"), "-m", "pytest", "t/integration/test_kafka.py"]
    words += ["-o", "python_classes=test_*"]  # as in its setup.cfg
    words += ["-p", "no:cacheprovider", f"--junitxml={report}", *(["-k", only] if only else [])]
    run_to_file(words, folder, {"SUITE_HOST": host, "SUITE_PORT": port}, output, RUN_SECONDS)
    return of_junit(report, output)


def _fetch(folder: Path) -> None:
    command([sys.executable, "-m", "venv", "venv"], folder)
    pip = ["venv/bin/pip", "--disable-pip-version-check", "--quiet"]
    command([*pip, "install", *PACKAGES], folder)
    command([*pip, "download", "--no-deps", "--no-binary=:all:", f"kombu=={VERSION}"], folder)
    with tarfile.open(folder / f"kombu-{VERSION}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    (folder / f"kombu-{VERSION}" / "t").rename(folder / "t")
    shutil.rmtree(folder / f"kombu-{VERSION}")  # otherwise it would be imported
    changes = {
        "import pytest\n": "import os\n\nimport pytest\n",
        "hostname='localhost'": "hostname=os.environ['SUITE_HOST']",
        "port='9092'": "port=os.environ['SUITE_PORT']",
    }
    patch(folder, "t/integration/test_kafka.py", changes)
