"""Slow tests run only if what they depend on has changed since all of them passed.

`tests/checked_folders.json` has, for each file with tests that have the marker `folders`, a digest
of that file and of the paths of its markers. A run of all tests adds the digests of those files of
which each such test passed. `make check` leaves none out. A run of chosen tests leaves none out and
writes nothing.
"""

import hashlib
import json
import subprocess
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "kafka_shim"
CHECKED = ROOT / "tests" / "checked_folders.json"
MARKER = "folders"
OPTION = "--all-folders"
WHOLE = "is_whole_run"
LEFT_OUT = "left_out"
DEFAULTS = ("", "not heavy")
"""Expressions of markers that choose no tests."""

PIPELINE = pytest.mark.folders(
    *(f"src/kafka_shim/{room}" for room in ("authorizer", "pipeline", "protocol", "trace_format")),
    *(f"src/kafka_shim/traces/{room}" for room in ("captures", "identities", "importers")),
    "src/kafka_shim/policy/least",
    *(f"src/kafka_shim/policy/{file.name}" for file in (SOURCE / "policy").glob("*.py")),
    "tests/pipeline",
    "tests/recordings/traffic",
)
"""Of tests that run many jobs: what jobs are made of. Formats of ACLs have tests of their own."""
JUDGES = pytest.mark.folders(
    "conformance", "src/kafka_shim/conformance", "tests/conformance", "tests/mutants", "vectors"
)
"""Of tests that show the judges what is wrong: the judges."""


class CheckedFolders:
    """The plug-in: leaves out tests at the beginning, keeps digests at the end."""

    def __init__(self, config: pytest.Config, checked: Path = CHECKED) -> None:
        self._config = config
        self._checked = checked
        self._passed: Counter[str] = Counter()
        self._not_passed: set[str] = set()
        self._expected: dict[str, tuple[str, int]] = {}
        self._digests: dict[str, str] = {}
        self._is_whole = is_whole_run(config)
        self._left_out = 0
        self._has_news = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[WHOLE] = self._is_whole

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests whose digest is known; the summary counts them."""
        if not self._is_whole:
            return
        self._digests = current_digests(self._config.rootpath, items)
        known = {} if self._config.getoption(OPTION) else self._known()
        unchanged = {
            item for item in self._marked(items) if self._digest(item) == known.get(file_of(item))
        }
        self._left_out = len(unchanged)
        if unchanged:
            self._config.hook.pytest_deselected(items=[*unchanged])
            items[:] = [item for item in items if item not in unchanged]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Give each marked test the digest of its file, and how many of that file will run."""
        marked = self._marked(session.items)
        numbers = Counter(map(file_of, marked))
        for item in marked:
            item.user_properties.append((MARKER, (self._digest(item), numbers[file_of(item)])))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, expected in report.user_properties:
            if name == MARKER and isinstance(expected, list | tuple):
                file = report.nodeid.partition("::")[0]
                self._expected[file] = (expected[0], expected[1])
                self._passed[file] += report.when == "call" and report.passed
                if not report.passed:
                    self._not_passed.add(file)

    def pytest_sessionfinish(self) -> None:
        """Keep the digests of files of which all tests ran and passed."""
        if is_worker(self._config):
            self._config.workeroutput[LEFT_OUT] = self._left_out  # type: ignore[attr-defined]
            return
        if not self._is_whole:
            return
        known = self._known()
        for file, (digest, number) in self._expected.items():
            if file in self._not_passed:
                known.pop(file, None)
            elif self._passed[file] == number:
                known[file] = digest
        root = self._config.rootpath
        there = {file: known[file] for file in sorted(known) if (root / file).exists()}
        if there != self._known():
            self._checked.write_text(json.dumps(there, indent=1) + "\n")
            self._has_news = True

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the number of a worker; each collects all tests."""
        self._left_out = max(self._left_out, getattr(node, "workeroutput", {}).get(LEFT_OUT, 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left_out:
            text = f"{self._left_out} slow tests left out: what they depend on passed; {OPTION}"
            terminalreporter.write_line(f"{text} runs them")
        if self._has_news:
            text = "has what slow tests passed with: commit it with what they tested"
            terminalreporter.write_line(f"{self._checked.name} {text}")

    def _marked(self, items: list[pytest.Item]) -> list[pytest.Item]:
        return [
            item
            for item in items
            if file_of(item) in self._digests and item.get_closest_marker(MARKER)
        ]

    def _digest(self, item: pytest.Item) -> str:
        return self._digests[file_of(item)]

    def _known(self) -> dict[str, str]:
        try:
            known: dict[str, str] = json.loads(self._checked.read_text())
        except FileNotFoundError:
            return {}
        return known


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process runs tests for another."""
    return hasattr(config, "workerinput")


def is_whole_run(config: pytest.Config) -> bool:
    """Return whether the command chooses no tests."""
    if is_worker(config):
        whole: bool = config.workerinput[WHOLE]  # type: ignore[attr-defined]
        return whole
    chosen = config.args_source is pytest.Config.ArgsSource.ARGS
    return not (chosen or config.option.keyword or config.option.markexpr not in DEFAULTS)


def file_of(item: pytest.Item) -> str:
    """Return the file of a test."""
    return item.nodeid.partition("::")[0]


def current_digests(root: Path, items: list[pytest.Item]) -> dict[str, str]:
    """Return the digests of the files of these tests that have the marker; none without git."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        for marker in item.iter_markers(MARKER):
            paths[file_of(item)].update(marker.args)
    digests = {file: content_digest(root, (*found, file)) for file, found in paths.items()}
    return {file: digest for file, digest in digests.items() if digest is not None}


def content_digest(root: Path, paths: tuple[str, ...]) -> str | None:
    """Return a digest of the names and contents of the files at and below paths; None without git.

    Files that git ignores do not count. Raise ValueError if there is no file at or below a path.
    """
    listed = _listed_files(root)
    if listed is None:
        return None
    digest = hashlib.sha256()
    found: set[str] = set()
    for path in paths:
        below = {file for file in listed if file == path or file.startswith(f"{path}/")}
        if not below:
            raise ValueError(f"the marker `{MARKER}` names {path}: there is no such file")
        found |= below
    for file in sorted(found):
        digest.update(f"{file}\0{_content_hash(root / file)}\n".encode())
    return digest.hexdigest()


@cache
def _content_hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _listed_files(root: Path) -> frozenset[str] | None:
    """Return the files that git has or would add; None if this is not a checkout."""
    words = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return frozenset(file for file in done.stdout.split("\0") if file and (root / file).is_file())
