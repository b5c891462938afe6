"""A client's report in the forms that are printed."""

from collections.abc import Callable
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.traffic.suite.case import Outcome
from kafka_shim.shim.traffic.suite.report import Report, Row

_MARKS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNSUPPORTED: "⬜"}


def as_text(report: Report) -> str:
    lines = [f"{report.client}: {report.totals}"]
    for row in report.of(Outcome.FAILED):
        lines += ["", f"{row.id} ({row.level.value}, {row.origin}, Kafka {row.kafka_version})"]
        lines += [f"  {row.what}", *(f"  {line}" for line in _failure(row))]
    missing: dict[str, set[str]] = {}
    for row in report.of(Outcome.UNSUPPORTED):
        missing.setdefault(row.done, set()).add(row.id)
    if missing:
        lines += ["", "unsupported, by what the client or its driver does not have:"]
    for lacking, ids in sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])):
        lines.append(f"  {lacking}: {', '.join(sorted(ids))}")
    return "\n".join(lines) + "\n"


def _failure(row: Row) -> list[str]:
    frames = [f"  {frame}" for frame in row.frames]
    return [f"expected: {row.expected}", f"but: {row.done}", *frames]


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()


def as_junit(report: Report) -> str:
    """JUnit's XML: a failure for a MUST that failed; unsupported cases are skipped ones."""
    suite = ET.Element(
        "testsuite",
        name=report.client,
        tests=str(len(report.results)),
        failures=str(report.failures),
        skipped=str(len(report.of(Outcome.UNSUPPORTED))),
    )
    for row in report.results:
        family, _, short = row.id.partition(".")
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"{report.client}.{row.kafka_version}.{family}",
            name=short,
            time=f"{row.seconds:.3f}",
        )
        if row.breaks:
            ET.SubElement(case, "failure", message=row.what).text = "\n".join(_failure(row))
        elif row.outcome is Outcome.FAILED:
            text = "\n".join(_failure(row))
            ET.SubElement(case, "system-out").text = f"should: {text}"
        elif row.outcome is Outcome.UNSUPPORTED:
            ET.SubElement(case, "skipped", message=f"not supported: {row.done}")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(report: Report) -> str:
    lines = [f"| {report.client} | Kafka | case | origin |", "|---|---|---|---|"]
    lines += [
        f"| {_MARKS[row.outcome]} `{row.id}` | {row.kafka_version} | {row.what} | {row.origin} |"
        for row in report.results
    ]
    return "\n".join((*lines, "", report.totals, ""))


FORMS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
