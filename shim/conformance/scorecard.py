"""The catalogue over a trace, and the scorecard in four forms."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from shim.conformance.behaviour import Behaviour, Result, Status, result
from shim.conformance.encoding import ENCODING
from shim.conformance.exchanges import exchanges
from shim.conformance.permissions import PERMISSIONS
from shim.conformance.records import RECORDS
from shim.replay.events import read_recording

CATALOGUE: tuple[Behaviour, ...] = (*ENCODING, *PERMISSIONS, *RECORDS)

_MARKS = {Status.PASSED: "✅", Status.FAILED: "❌", Status.NOT_EXERCISED: "⬜"}


def scorecard(trace: Path, progress: Callable[[int], None] = lambda _: None) -> list[Result]:
    """Every behaviour of the catalogue, as a trace shows it; `progress` gets the bytes behind."""
    seen = exchanges(read_recording(trace, progress))
    return [result(behaviour, seen) for behaviour in CATALOGUE]


def holds(results: Sequence[Result]) -> bool:
    """Whether nothing failed."""
    return all(one.status is not Status.FAILED for one in results)


def totals(results: Sequence[Result]) -> str:
    counts = Counter(one.status for one in results)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status)


def as_text(results: Sequence[Result], name: str) -> str:
    lines = [f"{name}: {totals(results)}", ""]
    for one in results:
        lines.append(f"{one.status.value:<14} {one.behaviour.id:<28} {one.behaviour.text}")
        if one.status is Status.FAILED:
            lines += [f"{'':<14}   {frame}" for frame in one.frames]
    return "\n".join(lines) + "\n"


def as_json(results: Sequence[Result], name: str) -> str:
    rows = [
        {
            "id": one.behaviour.id,
            "text": one.behaviour.text,
            "kip": one.behaviour.kip,
            "seen_as": one.behaviour.seen,
            "status": one.status.value,
            "sights": one.sights,
            "frames": list(one.frames),
        }
        for one in results
    ]
    return json.dumps({"client": name, "behaviours": rows}, indent=2) + "\n"


def as_junit(results: Sequence[Result], name: str) -> str:
    """JUnit's XML: a failure for what failed, skipped for what was not exercised."""
    counts = Counter(one.status for one in results)
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(results)),
        failures=str(counts[Status.FAILED]),
        skipped=str(counts[Status.NOT_EXERCISED]),
    )
    for one in results:
        area, _, short = one.behaviour.id.partition(".")
        case = ET.SubElement(suite, "testcase", classname=f"{name}.{area}", name=short)
        if one.status is Status.FAILED:
            failure = ET.SubElement(case, "failure", message=one.behaviour.text)
            failure.text = "\n".join((one.behaviour.seen, *one.frames))
        elif one.status is Status.NOT_EXERCISED:
            ET.SubElement(case, "skipped", message="not exercised")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(results: Sequence[Result], name: str) -> str:
    lines = [f"| {name} | KIP | behaviour |", "|---|---|---|"]
    lines += [
        f"| {_MARKS[one.status]} `{one.behaviour.id}` | {one.behaviour.kip or ''}"
        f" | {one.behaviour.text} |"
        for one in results
    ]
    return "\n".join((*lines, "", totals(results), ""))


FORMS: dict[str, Callable[[Sequence[Result], str], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
