"""What came of a run, in the forms that are printed."""

from collections import Counter
from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.traffic.suite.case import Outcome, Result

Results = Sequence[Result]

_MARKS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNSUPPORTED: "⬜"}


def totals(results: Results) -> str:
    """How many cases ended how."""
    counts = Counter(result.outcome for result in results)
    return ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in Outcome)


def as_text(name: str, results: Results) -> str:
    lines = [f"{name}: {totals(results)}"]
    for result in results:
        if result.outcome is Outcome.FAILED:
            case = result.case
            lines += ["", f"{case.id} ({case.level.value}, {case.origin}, Kafka {result.release})"]
            lines += [f"  {case.what}"]
            lines += [f"  expected: {result.expected}", f"  but: {result.done}"]
            lines += [f"    {frame}" for frame in result.frames]
    missing = sorted({result.case.id for result in _of(results, Outcome.UNSUPPORTED)})
    if missing:
        lines += ["", f"unsupported: {', '.join(missing)}"]
    return "\n".join(lines) + "\n"


def as_json(name: str, results: Results) -> str:
    rows = [_row(result) for result in results]
    return msgspec.json.format(msgspec.json.encode({"client": name, "results": rows})).decode()


def as_junit(name: str, results: Results) -> str:
    """JUnit's XML: a failure for a MUST that failed; unsupported cases are skipped ones."""
    suite = ET.Element(
        "testsuite",
        name=name,
        tests=str(len(results)),
        failures=str(sum(result.breaks for result in results)),
        skipped=str(len(_of(results, Outcome.UNSUPPORTED))),
    )
    for result in results:
        family, _, short = result.case.id.partition(".")
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"{name}.{result.release}.{family}",
            name=short,
            time=f"{result.seconds:.3f}",
        )
        text = "\n".join((f"expected: {result.expected}", f"but: {result.done}", *result.frames))
        if result.breaks:
            ET.SubElement(case, "failure", message=result.case.what).text = text
        elif result.outcome is Outcome.FAILED:
            ET.SubElement(case, "system-out").text = f"should: {text}"
        elif result.outcome is Outcome.UNSUPPORTED:
            ET.SubElement(case, "skipped", message="the client cannot do this")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(name: str, results: Results) -> str:
    lines = [f"| {name} | Kafka | case | origin |", "|---|---|---|---|"]
    lines += [
        f"| {_MARKS[result.outcome]} `{result.case.id}` | {result.release} | {result.case.what}"
        f" | {result.case.origin} |"
        for result in results
    ]
    return "\n".join((*lines, "", totals(results), ""))


def _of(results: Results, outcome: Outcome) -> list[Result]:
    return [result for result in results if result.outcome is outcome]


def _row(result: Result) -> dict[str, object]:
    case = result.case
    return {
        "id": case.id,
        "what": case.what,
        "origin": case.origin,
        "level": case.level.value,
        "kafka_version": result.release,
        "outcome": result.outcome.value,
        "expected": result.expected,
        "done": result.done,
        "frames": list(result.frames),
        "seconds": round(result.seconds, 3),
    }


FORMS: dict[str, Callable[[str, Results], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
