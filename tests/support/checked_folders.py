"""Slow tests run only if what they depend on has changed since all of them passed.

`tests/checked_folders.json` has, for each file with tests that have the marker `folders`, a digest
of that file and of the paths of its markers. `make check` runs them all, and writes the digests of
those files of which each test passed. A run of chosen tests leaves none out, and writes nothing.
"""

import hashlib
import json
import subprocess
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHECKED = ROOT / "tests" / "checked_folders.json"
MARKER = "folders"
OPTION = "--all-folders"
WHOLE = "is_whole_run"
LEFT_OUT = "left_out"
DEFAULTS = ("", "not heavy")
"""Expressions of markers that choose no tests."""

PIPELINE = pytest.mark.folders(
    *(f"src/kafka_shim/{room}" for room in ("authorizer", "pipeline", "policy", "protocol")),
    *(f"src/kafka_shim/traces/{room}" for room in ("captures", "identities", "importers")),
    "src/kafka_shim/trace_format",
    "tests/pipeline",
)
"""Of tests that run many jobs: what jobs are made of."""
JUDGES = pytest.mark.folders(
    "conformance", "src/kafka_shim/conformance", "tests/conformance", "tests/mutants", "vectors"
)
"""Of tests that show the judges what is wrong: the judges."""


class CheckedFolders:
    """The plug-in: leaves out tests at the beginning, keeps digests at the end."""

    def __init__(self, config: pytest.Config, checked: Path = CHECKED) -> None:
        self._config = config
        self._checked = checked
        self._outcomes: defaultdict[str, set[str]] = defaultdict(set)
        self._digests: dict[str, str] = {}
        self._is_whole = is_whole_run(config)
        self._left_out = 0

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[WHOLE] = self._is_whole

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out the tests whose digest is known; the summary counts them."""
        if not self._is_whole:
            return
        digests = current_digests(self._config.rootpath, items)
        known = {} if self._config.getoption(OPTION) else self._known()
        unchanged = []
        for item in items:
            file = file_of(item.nodeid)
            if file in digests and item.get_closest_marker(MARKER):
                item.user_properties.append((MARKER, digests[file]))
                if known.get(file) == digests[file]:
                    unchanged.append(item)
        self._left_out = len(unchanged)
        if unchanged:
            self._config.hook.pytest_deselected(items=unchanged)
            items[:] = [item for item in items if item not in set(unchanged)]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, digest in report.user_properties:
            if name == MARKER:
                file = file_of(report.nodeid)
                self._digests[file] = str(digest)
                self._outcomes[file].add(report.outcome)

    def pytest_sessionfinish(self) -> None:
        """Keep the digests of files of which all tests ran and passed."""
        if is_worker(self._config):
            self._config.workeroutput[LEFT_OUT] = self._left_out  # type: ignore[attr-defined]
            return
        if not (self._is_whole and self._config.getoption(OPTION)):
            return
        known = self._known()
        for file, outcomes in self._outcomes.items():
            known.pop(file, None)
            if outcomes == {"passed"}:
                known[file] = self._digests[file]
        root = self._config.rootpath
        there = {file: known[file] for file in sorted(known) if (root / file).exists()}
        self._checked.write_text(json.dumps(there, indent=1) + "\n")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the number of a worker; each collects all tests."""
        self._left_out = max(self._left_out, getattr(node, "workeroutput", {}).get(LEFT_OUT, 0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._left_out:
            text = f"{self._left_out} slow tests left out: what they depend on passed; {OPTION}"
            terminalreporter.write_line(f"{text} runs them")

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


def file_of(node_id: str) -> str:
    """Return the file of a test."""
    return node_id.partition("::")[0]


def current_digests(root: Path, items: list[pytest.Item]) -> dict[str, str]:
    """Return the digests of the files of these tests that have the marker; none without git."""
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for item in items:
        for marker in item.iter_markers(MARKER):
            paths[file_of(item.nodeid)].update(marker.args)
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
