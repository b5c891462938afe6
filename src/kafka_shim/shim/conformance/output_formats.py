"""A client's report as text, JUnit XML and Markdown."""

from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.conformance.case import Outcome
from kafka_shim.shim.conformance.report import Report, Row

_MARKS = {Outcome.PASSED: "✅", Outcome.FAILED: "❌", Outcome.UNSUPPORTED: "⬜"}


def as_text(report: Report) -> str:
    """Return the totals, also by release if there are several, and each failed case once."""
    lines = [f"{report.client}: {report.totals}"]
    if len(report.releases) > 1:
        lines += [f"  Kafka {release}: {report.at(release).totals}" for release in report.releases]
    failed: dict[str, list[Row]] = {}
    for row in report.of(Outcome.FAILED):
        failed.setdefault(row.id, []).append(row)
    for rows in failed.values():
        newest = rows[-1]
        where = _spans([row.kafka_version for row in rows], report.releases)
        lines += ["", f"{newest.id} ({newest.level.value}, {newest.origin}, Kafka {where})"]
        lines += [f"  {newest.what}", *(f"  {line}" for line in _failure(newest))]
    missing: dict[str, set[str]] = {}
    for row in report.of(Outcome.UNSUPPORTED):
        missing.setdefault(row.done, set()).add(row.id)
    if missing:
        lines += ["", "unsupported, by what the client or its driver does not have:"]
    for lacking, ids in sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])):
        lines.append(f"  {lacking}: {', '.join(sorted(ids))}")
    return "\n".join(lines) + "\n"


def _spans(releases: Sequence[str], known: Sequence[str]) -> str:
    """Return releases as text; consecutive ones are written as `2.8 to 4.4`."""
    spans: list[list[str]] = []
    for release in releases:
        at = known.index(release)
        if spans and at and spans[-1][-1] == known[at - 1]:
            spans[-1].append(release)
        else:
            spans.append([release])
    return ", ".join(each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in spans)


def _failure(row: Row) -> list[str]:
    frames = [f"  {frame}" for frame in row.frames]
    return [f"expected: {row.expected}", f"but: {row.done}", *frames]


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()


def as_junit(report: Report) -> str:
    """Return JUnit XML: failed MUST cases are failures, and unsupported cases are skipped."""
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
