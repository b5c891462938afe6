"""The scorecard: the catalogue evaluated for a trace, in four formats."""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.scorecard.behaviour import (
    Behaviour,
    BehaviourResult,
    BehaviourStatus,
    evaluate_behaviour,
)
from kafka_shim.conformance.scorecard.denials import Decisions
from kafka_shim.conformance.scorecard.encoding import ENCODING
from kafka_shim.conformance.scorecard.exchanges import exchanges_of_recording
from kafka_shim.conformance.scorecard.permissions import PERMISSIONS
from kafka_shim.conformance.scorecard.records import RECORDS
from kafka_shim.text.junit_xml import JunitCase, junit_report, junit_start_pattern
from kafka_shim.text.message_text import sanitize_result_lines
from kafka_shim.traces.replay.events import load_recording

CATALOGUE: tuple[Behaviour, ...] = (*ENCODING, *PERMISSIONS, *RECORDS)

_MARKS = {
    BehaviourStatus.PASSED: "✅",
    BehaviourStatus.FAILED: "❌",
    BehaviourStatus.NOT_EXERCISED: "⬜",
}


class Scorecard(msgspec.Struct, frozen=True):
    """The results of all behaviours, and the decisions in the trace."""

    results: list[BehaviourResult]
    decisions: Decisions

    @property
    def results_prevented_by_denial(self) -> list[BehaviourResult]:
        """The behaviours that a denial prevented."""
        return [result for result in self.results if result.preventing_denial is not None]

    @property
    def is_passing(self) -> bool:
        """Return whether no behaviour of level `must` failed, and not everything was denied."""
        failed = any(result.fails_run for result in self.results)
        return not failed and not self.decisions.are_all_denials


def evaluate_trace(trace: Path, on_bytes_read: Callable[[int], None] = lambda _: None) -> Scorecard:
    """Evaluate every behaviour for a trace.

    `on_bytes_read` is called with the number of bytes read.
    """
    decisions = Decisions()
    exchanges = exchanges_of_recording(load_recording(trace, on_bytes_read, decisions.add_block))
    return Scorecard(
        [evaluate_behaviour(behaviour, exchanges, decisions) for behaviour in CATALOGUE], decisions
    )


def status_totals(results: Sequence[BehaviourResult]) -> str:
    counts = Counter(result.status for result in results)
    return ", ".join(f"{counts[status]} {status.value}" for status in BehaviourStatus)


def as_text(card: Scorecard, name: str) -> str:
    lines = [f"{name}: {status_totals(card.results)}", ""]
    for result in card.results:
        denial_note = (
            "" if result.preventing_denial is None else f" (denied {result.preventing_denial})"
        )
        behaviour = result.behaviour
        level_note = " (should)" if behaviour.level is RequirementLevel.SHOULD else ""
        notes = level_note + denial_note
        lines.append(f"{result.status.value:<14} {behaviour.id:<28} {behaviour.text}{notes}")
        if result.status is BehaviourStatus.FAILED:
            lines += [f"{'':<14}   {frame}" for frame in result.frames]
    return sanitize_result_lines(lines) + "\n"


def as_json(card: Scorecard, name: str) -> str:
    rows = [
        {
            "id": result.behaviour.id,
            "text": result.behaviour.text,
            "kip": result.behaviour.kip,
            "level": result.behaviour.level.value,
            "seen_as": result.behaviour.detection,
            "status": result.status.value,
            "sights": result.occurrences,
            "frames": list(result.frames),
            "denied": None if result.preventing_denial is None else str(result.preventing_denial),
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

    A failed behaviour of level `should` is no failure, but its frames are the case's output. A
    client that was denied everything also has a failed case.
    """
    cases = [_junit_case(result, name) for result in card.results]
    if card.decisions.are_all_denials and card.decisions.denied:
        denied = "\n".join(f"{denial.principal}: {denial}" for denial in card.decisions.denied)
        failure = "the client was denied everything"
        case = JunitCase(
            classname=f"{name}.permissions", name="granted", failure=failure, output=denied
        )
        cases.insert(0, case)
    return junit_report(name, cases)


def _junit_case(result: BehaviourResult, name: str) -> JunitCase:
    area, _, short = result.behaviour.id.partition(".")
    case = JunitCase(classname=f"{name}.{area}", name=short)
    text = "\n".join((result.behaviour.detection, *result.frames))
    if result.fails_run:
        return replace(case, failure=result.behaviour.text, output=text)
    if result.status is BehaviourStatus.FAILED:
        return replace(case, output=f"should: {text}")
    if result.status is BehaviourStatus.NOT_EXERCISED:
        denial = result.preventing_denial
        note = "" if denial is None else f": denied {denial}"
        return replace(case, skipped=f"not exercised{note}")
    return case


def as_markdown(card: Scorecard, name: str) -> str:
    lines = [f"| {name} | KIP | behaviour |", "|---|---|---|"]
    lines += [
        f"| {_MARKS[result.status]} `{result.behaviour.id}` | {result.behaviour.kip or ''}"
        f" | {result.behaviour.text} |"
        for result in card.results
    ]
    return "\n".join((*lines, "", status_totals(card.results), ""))


FORMS: dict[str, Callable[[Scorecard, str], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}


def scorecard_start_pattern(form: str, name: str) -> str:
    """Return the pattern with which a scorecard of that name begins, for `check_output_file`."""
    client = re.escape(name)
    return {
        "text": rf"{client}: \d+ ",
        "json": rf'\{{\n  "client": "{client}",\n  "behaviours": ',
        "junit": junit_start_pattern(name),
        "markdown": rf"\| {client} \| KIP \| behaviour \|",
    }[form]
