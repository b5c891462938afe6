"""The folder of one run of tests: what brokers and pytest write, and JUnit results."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.observing.mutation_run import RunFolder

_FAILURES = ("failure", "error")


class TestNote(msgspec.Struct, frozen=True):
    """A phase of a test: its set-up, its call or its teardown."""

    __test__ = False  # for pytest

    test: str
    failed: bool
    seconds: float = 0


class SuiteFolder(RunFolder):
    """What pytest and other test frameworks write, besides the notes of brokers."""

    @property
    def results(self) -> Path:
        """The folder for the results as JUnit XML."""
        return self.path / "results"

    def write_selection(self, tests: Iterable[str]) -> None:
        """Let only these tests run."""
        self._selection.write_bytes(msgspec.json.encode(sorted(tests)))

    def read_selection(self) -> frozenset[str] | None:
        """Return the tests that run; None: all."""
        if not self._selection.exists():
            return None
        return msgspec.json.decode(self._selection.read_bytes(), type=frozenset[str])

    def write_running_test(self, process: str, test: str) -> None:
        """Write the test that a process runs; empty: none."""
        path = self.running_tests / process
        hidden = self.path / f"{process}.new"
        hidden.write_text(test, encoding="utf-8")
        hidden.replace(path)

    def append_test_note(self, process: str, note: bytes) -> None:
        with (self.path / f"tests-{process}.jsonl").open("ab") as file:
            file.write(note + b"\n")

    def test_notes(self) -> Iterator[TestNote]:
        """Yield the results of pytest, or else those in files of JUnit XML."""
        paths = sorted(self.path.glob("tests-*.jsonl"))
        decoder = msgspec.json.Decoder(TestNote)
        for path in paths:
            for line in path.read_bytes().split(b"\n")[:-1]:
                yield decoder.decode(line)
        if not paths:
            for path in sorted(self.results.rglob("*.xml")):
                yield from _junit_notes(path)

    @property
    def _selection(self) -> Path:
        return self.path / "selection.json"


def _junit_notes(path: Path) -> Iterator[TestNote]:
    """Yield the results in a file of JUnit XML; none if it is another file, or is cut off."""
    try:
        cases = list(ET.parse(path).iter("testcase"))  # noqa: S314 - the user's own test framework
    except ET.ParseError:
        return
    for case in cases:
        name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
        yield TestNote(name, any(case.find(tag) is not None for tag in _FAILURES))
