"""The results of a suite, one for each test, and readers of test runners' output."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
REASON_LINES = 6


class Result(NamedTuple):
    """The result of a test; `reason` is why it failed or was skipped."""

    name: str
    state: str
    seconds: float
    reason: str = ""


def counts(results: Iterable[Result]) -> dict[str, int]:
    found = Counter(result.state for result in results)
    return {state: found[state] for state in (PASSED, FAILED, SKIPPED)}


def of_junit(path: Path, output: Path) -> list[Result]:
    """Return results from pytest's JUnit XML file; without it, a failure with the output's end."""
    if not path.exists():
        return [Result("pytest", FAILED, 0, _reason(output.read_text().splitlines()))]
    results = []
    for case in ET.parse(path).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}.{case.get('name')}".lstrip(".")
        state, reason = PASSED, ""
        for child in case:
            if child.tag in ("failure", "error", "skipped"):
                state = SKIPPED if child.tag == "skipped" else FAILED
                reason = child.get("message", "")
        results.append(Result(name, state, float(case.get("time", 0)), reason))
    return results


_STATES = {"pass": PASSED, "fail": FAILED, "skip": SKIPPED}


def of_go(text: str) -> list[Result]:
    """Return the tests in output of `go test -json`: leaves, and parents that failed themselves.

    A test without an end has failed. A package that did not compile, or crashed outside of a test,
    is a failed result, too.
    """
    states: dict[str, Result] = {}
    said: dict[str, list[str]] = {}
    for event in _events(text):
        name = event.get("Test") or event.get("Package", "package")
        action = event["Action"]
        if action == "run":
            states[name] = Result(name, FAILED, 0, "did not end")
        elif action in ("output", "build-output"):
            said.setdefault(name, []).append(event["Output"].rstrip())
        elif action in _STATES and ("Test" in event or action == "fail"):
            states[name] = Result(name, _STATES[action], event.get("Elapsed", 0))
    return [
        result._replace(reason=result.reason or _reason(said.get(name, ())))
        if result.state != PASSED
        else result
        for name, result in sorted(states.items())
        if not _speaks_for_others(result, states)
    ]


_CARGO_STATES = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
_CARGO_FILE = re.compile(r"^ +Running tests/(\w+)\.rs", re.MULTILINE)
_CARGO_TEST = re.compile(
    r"^test (\S+) \.\.\. (?:.*?\b)?(ok|FAILED|ignored)\b", re.MULTILINE | re.DOTALL
)
_CARGO_SAID = re.compile(r"^---- (\S+) stdout ----\n(.*?)\n\n", re.MULTILINE | re.DOTALL)


def of_cargo(text: str) -> list[Result]:
    """Return the tests in output of `cargo test`, with files; output without tests is a failure."""
    results = []
    parts = _CARGO_FILE.split(text)
    for file, part in zip(parts[1::2], parts[2::2], strict=True):
        said = dict(_CARGO_SAID.findall(part))
        for name, state in _CARGO_TEST.findall(part):
            reason = _reason(said.get(name, "").splitlines())
            results.append(Result(f"{file}::{name}", _CARGO_STATES[state], 0, reason))
    return results or [Result("cargo test", FAILED, 0, _reason(text.splitlines()))]


def _events(text: str) -> Iterable[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
        elif line.strip():
            yield {"Action": "output", "Output": line}


def _speaks_for_others(result: Result, states: dict[str, Result]) -> bool:
    """Return whether it is a parent or package whose result follows from its children."""
    is_package = "/" in result.name and not result.name.startswith("Test")
    children = [
        other
        for name, other in states.items()
        if name != result.name and (is_package or name.startswith(f"{result.name}/"))
    ]
    if not children:
        return False
    return result.state != FAILED or any(child.state == FAILED for child in children)


def _reason(lines: Iterable[str]) -> str:
    told = [line for line in lines if line.strip() and not line.lstrip().startswith(("===", "---"))]
    return "\n".join(line.strip() for line in told[-REASON_LINES:])
