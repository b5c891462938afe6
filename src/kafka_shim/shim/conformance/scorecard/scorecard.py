"""The scorecard: the catalogue evaluated for a trace, in four formats."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.conformance.scorecard.behaviour import Behaviour, Result, Status, score
from kafka_shim.shim.conformance.scorecard.denials import Decisions
from kafka_shim.shim.conformance.scorecard.encoding import ENCODING
from kafka_shim.shim.conformance.scorecard.exchanges import exchanges
from kafka_shim.shim.conformance.scorecard.permissions import PERMISSIONS
from kafka_shim.shim.conformance.scorecard.records import RECORDS
from kafka_shim.shim.traffic.replay.events import read_recording

CATALOGUE: tuple[Behaviour, ...] = (*ENCODING, *PERMISSIONS, *RECORDS)

_MARKS = {Status.PASSED: "✅", Status.FAILED: "❌", Status.NOT_EXERCISED: "⬜"}


class Scorecard(msgspec.Struct, frozen=True):
    """The results of all behaviours, and the decisions in the trace."""

    results: list[Result]
    decisions: Decisions

    @property
    def hindered(self) -> list[Result]:
        """The behaviours that a denial prevented."""
        return [result for result in self.results if result.hindrance is not None]

    @property
    def holds(self) -> bool:
        """Whether no behaviour failed, and the client was not denied everything."""
        failed = any(result.status is Status.FAILED for result in self.results)
        return not failed and not self.decisions.are_all_denials


def scorecard(trace: Path, progress: Callable[[int], None] = lambda _: None) -> Scorecard:
    """Evaluate every behaviour for a trace; `progress` is called with the number of bytes read."""
    decisions = Decisions()
    seen = exchanges(read_recording(trace, progress, decisions.look_at))
    return Scorecard([score(behaviour, seen, decisions) for behaviour in CATALOGUE], decisions)


def totals(results: Sequence[Result]) -> str:
    counts = Counter(result.status for result in results)
    return ", ".join(f"{counts[status]} {status.value}" for status in Status)


def as_text(card: Scorecard, name: str) -> str:
    lines = [f"{name}: {totals(card.results)}", ""]
    for result in card.results:
        why = "" if result.hindrance is None else f" (denied {result.hindrance})"
        behaviour = result.behaviour
        lines.append(f"{result.status.value:<14} {behaviour.id:<28} {behaviour.text}{why}")
        if result.status is Status.FAILED:
            lines += [f"{'':<14}   {frame}" for frame in result.frames]
    return "\n".join(lines) + "\n"


def as_json(card: Scorecard, name: str) -> str:
    rows = [
        {
            "id": result.behaviour.id,
            "text": result.behaviour.text,
            "kip": result.behaviour.kip,
            "seen_as": result.behaviour.seen,
            "status": result.status.value,
            "sights": result.sights,
            "frames": list(result.frames),
            "denied": None if result.hindrance is None else str(result.hindrance),
        }
        for result in card.results
    ]
    denials = [
        {**msgspec.structs.asdict(denial), "times": times}
        for denial, times in card.decisions.denied.items()
    ]
    is_all = card.decisions.are_all_denials
    content = {"client": name, "behaviours": rows, "denials": denials, "denied_everything": is_all}
    return json.dumps(content, indent=2) + "\n"


def as_junit(card: Scorecard, name: str) -> str:
    """Return JUnit XML; behaviours that were not exercised are skipped cases.

    A client that was denied everything also has a failed case.
    """
    counts = Counter(result.status for result in card.results)
    denied = list(card.decisions.denied) if card.decisions.are_all_denials else []
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(card.results) + bool(denied)),
        failures=str(counts[Status.FAILED] + bool(denied)),
        skipped=str(counts[Status.NOT_EXERCISED]),
    )
    if denied:
        case = ET.SubElement(suite, "testcase", classname=f"{name}.permissions", name="granted")
        failure = ET.SubElement(case, "failure", message="the client was denied everything")
        failure.text = "\n".join(f"{denial.principal}: {denial}" for denial in denied)
    for result in card.results:
        area, _, short = result.behaviour.id.partition(".")
        case = ET.SubElement(suite, "testcase", classname=f"{name}.{area}", name=short)
        if result.status is Status.FAILED:
            failure = ET.SubElement(case, "failure", message=result.behaviour.text)
            failure.text = "\n".join((result.behaviour.seen, *result.frames))
        elif result.status is Status.NOT_EXERCISED:
            why = "" if result.hindrance is None else f": denied {result.hindrance}"
            ET.SubElement(case, "skipped", message=f"not exercised{why}")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(card: Scorecard, name: str) -> str:
    lines = [f"| {name} | KIP | behaviour |", "|---|---|---|"]
    lines += [
        f"| {_MARKS[result.status]} `{result.behaviour.id}` | {result.behaviour.kip or ''}"
        f" | {result.behaviour.text} |"
        for result in card.results
    ]
    return "\n".join((*lines, "", totals(card.results), ""))


FORMS: dict[str, Callable[[Scorecard, str], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
