"""The program that uses test vectors without kafka-shim."""

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kafka_shim.shim.conformance.vectors.vector_files import VectorFile, read_vector_file
from tests.recordings.test_vectors import shim_of
from tests.recordings.vectors import FOLDER

EXAMPLE = FOLDER / "examples" / "compare_errors.py"
REQUESTS = FOLDER / "4.4.0" / "requests.json"
LINES_MAX = 60

pytestmark = pytest.mark.client


def run_example(file: Path, broker: VectorFile) -> subprocess.CompletedProcess[str]:
    with shim_of(broker) as addresses:
        words = [str(EXAMPLE), str(file), addresses.super_users, addresses.users]
        return subprocess.run(
            [sys.executable, *words], capture_output=True, text=True, timeout=120, check=False
        )


def test_the_example_finds_no_difference_in_the_shim() -> None:
    done = run_example(REQUESTS, read_vector_file(REQUESTS))
    assert (done.returncode, done.stdout) == (0, "72 equal, 0 different\n"), done.stderr


def test_the_example_finds_a_broker_that_allows_everything() -> None:
    vectors = read_vector_file(REQUESTS)
    everyone = ("User:ANONYMOUS", *(f"User:{user}" for user in vectors.broker.users))
    open_broker = msgspec.structs.replace(vectors.broker, super_users=everyone)
    done = run_example(REQUESTS, msgspec.structs.replace(vectors, broker=open_broker))
    assert done.returncode == 1, done.stderr
    assert "expected [31], got 0" in done.stdout


def test_the_example_is_short() -> None:
    lines = [line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= LINES_MAX
