"""The programs that use test vectors without kafka-shim; `pytest -m heavy` runs Go and Rust."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from kafka_shim.conformance.vectors.vector_files import VectorFile, read_vector_file
from tests.clients.toolchains import build, kept, need
from tests.recordings.test_vectors import shim_of
from tests.recordings.vectors import FOLDER

EXAMPLES = FOLDER / "examples"
REQUESTS = FOLDER / "4.4.0" / "requests.json"

pytestmark = [pytest.mark.client, pytest.mark.timeout(600, func_only=True)]


def _files(language: str) -> list[Path]:
    return sorted(path for path in (EXAMPLES / language).iterdir() if path.is_file())


def _go() -> list[str]:
    need("the example in Go", "go")
    code = EXAMPLES / "go"
    folder = kept("vectors-go", _files("go"), lambda made: build(["go", "build", "-o", made], code))
    return [str(folder / "compare-errors")]


def _rust() -> list[str]:
    need("the example in Rust", "cargo")
    code = EXAMPLES / "rust"
    words = ["cargo", "build", "--quiet", "--locked", "--target-dir"]
    folder = kept("vectors-rust", _files("rust"), lambda made: build([*words, made], code))
    return [str(folder / "debug" / "compare-errors")]


COMMANDS: Mapping[str, Callable[[], list[str]]] = {
    "python": lambda: [sys.executable, str(EXAMPLES / "compare_errors.py")],
    "go": _go,
    "rust": _rust,
}
LINES = {"compare_errors.py": 60, "go/main.go": 85, "rust/main.rs": 70}
LANGUAGES = [
    language if language == "python" else pytest.param(language, marks=pytest.mark.heavy)
    for language in COMMANDS
]


def run_example(language: str, file: Path, broker: VectorFile) -> subprocess.CompletedProcess[str]:
    words = COMMANDS[language]()
    with shim_of(broker) as addresses:
        words += [str(file), addresses.super_users, addresses.users]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_finds_no_difference_in_the_shim(language: str) -> None:
    done = run_example(language, REQUESTS, read_vector_file(REQUESTS))
    assert (done.returncode, done.stdout) == (0, "72 equal, 0 different\n"), done.stderr


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_finds_a_broker_that_allows_everything(language: str) -> None:
    vectors = read_vector_file(REQUESTS)
    everyone = ("User:ANONYMOUS", *(f"User:{user}" for user in vectors.broker.users))
    open_broker = msgspec.structs.replace(vectors.broker, super_users=everyone)
    done = run_example(language, REQUESTS, msgspec.structs.replace(vectors, broker=open_broker))
    assert done.returncode == 1, done.stderr
    assert "expected [31], got 0" in done.stdout


@pytest.mark.parametrize("name", LINES)
def test_the_example_is_short(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert sum(bool(line.strip()) for line in text.splitlines()) <= LINES[name]
