"""A client's report as text, JUnit XML and Markdown."""

from collections.abc import Callable, Sequence
from xml.etree import ElementTree as ET

import msgspec

from kafka_shim.shim.conformance.case import CaseOutcome
from kafka_shim.shim.conformance.report import Report, ResultRow

_MARKS = {
    CaseOutcome.PASSED: "✅",
    CaseOutcome.FAILED: "❌",
    CaseOutcome.NOT_EXERCISED: "⚪",
    CaseOutcome.UNSUPPORTED: "⬜",
}
_HEADINGS_OF_MISSING = {
    CaseOutcome.NOT_EXERCISED: "not exercised, by what the client did not do:",
    CaseOutcome.UNSUPPORTED: "unsupported, by what the client or its driver does not have:",
}


def as_text(report: Report) -> str:
    """Return the totals, also by release if there are several, and each failed case once."""
    lines = [f"{report.client}: {report.outcome_totals}"]
    if len(report.releases) > 1:
        lines += [
            f"  Kafka {release}: {report.part_for_release(release).outcome_totals}"
            for release in report.releases
        ]
    failed: dict[str, list[ResultRow]] = {}
    for row in report.results_with_outcome(CaseOutcome.FAILED):
        failed.setdefault(row.id, []).append(row)
    for rows in failed.values():
        newest = rows[-1]
        where = _release_ranges([row.kafka_version for row in rows], report.releases)
        lines += ["", f"{newest.id} ({newest.level.value}, {newest.origin}, Kafka {where})"]
        lines += [f"  {newest.title}", *(f"  {line}" for line in _failure_lines(newest))]
    for outcome, heading in _HEADINGS_OF_MISSING.items():
        lines += _lines_of_missing_features_with_cases(
            report.results_with_outcome(outcome), heading
        )
    return "\n".join(lines) + "\n"


def _lines_of_missing_features_with_cases(rows: Sequence[ResultRow], heading: str) -> list[str]:
    """Return a heading and a line for each missing thing with its cases; empty without rows."""
    missing: dict[str, set[str]] = {}
    for row in rows:
        missing.setdefault(row.observed, set()).add(row.id)
    lines = ["", heading] if missing else []
    for missing_feature, ids in sorted(missing.items(), key=lambda each: (-len(each[1]), each[0])):
        lines.append(f"  {missing_feature}: {', '.join(sorted(ids))}")
    return lines


def _release_ranges(releases: Sequence[str], all_releases: Sequence[str]) -> str:
    """Return releases as text; consecutive ones are written as `2.8 to 4.4`."""
    spans: list[list[str]] = []
    for release in releases:
        at = all_releases.index(release)
        if spans and at and spans[-1][-1] == all_releases[at - 1]:
            spans[-1].append(release)
        else:
            spans.append([release])
    return ", ".join(each[0] if len(each) == 1 else f"{each[0]} to {each[-1]}" for each in spans)


def _failure_lines(row: ResultRow) -> list[str]:
    frames = [f"  {frame}" for frame in row.frames]
    return [f"expected: {row.expected}", f"but: {row.observed}", *frames]


def as_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report)).decode()


def as_junit(report: Report) -> str:
    """Return JUnit XML: failed MUST cases are failures; cases without a verdict are skipped."""
    suite = ET.Element(
        "testsuite",
        name=report.client,
        tests=str(len(report.results)),
        failures=str(report.failing_result_count),
        skipped=str(sum(row.outcome in _HEADINGS_OF_MISSING for row in report.results)),
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
        if row.fails_run:
            ET.SubElement(case, "failure", message=row.title).text = "\n".join(_failure_lines(row))
        elif row.outcome is CaseOutcome.FAILED:
            text = "\n".join(_failure_lines(row))
            ET.SubElement(case, "system-out").text = f"should: {text}"
        elif row.outcome is CaseOutcome.UNSUPPORTED:
            ET.SubElement(case, "skipped", message=f"not supported: {row.observed}")
        elif row.outcome is CaseOutcome.NOT_EXERCISED:
            ET.SubElement(case, "skipped", message=f"not exercised: {row.observed}")
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def as_markdown(report: Report) -> str:
    lines = [f"| {report.client} | Kafka | case | origin |", "|---|---|---|---|"]
    lines += [
        f"| {_MARKS[row.outcome]} `{row.id}` | {row.kafka_version} | {row.title} | {row.origin} |"
        for row in report.results
    ]
    return "\n".join((*lines, "", report.outcome_totals, ""))


FORMS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}
