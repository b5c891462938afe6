"""Clients' reports as text, JUnit XML, Markdown and HTML, with totals."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance.case import CaseOutcome
from kafka_shim.conformance.report import Report, ResultRow
from kafka_shim.conformance.requirement_level import RequirementLevel
from kafka_shim.text.junit_xml import JunitCase, junit_report

OUTCOMES = tuple(outcome.value for outcome in CaseOutcome)


class FamilyTotals(msgspec.Struct, frozen=True):
    """The number of cases of a family and level by outcome; the family `all` is all of them."""

    family: str
    level: str
    counts: dict[str, int]

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.family, self.level, *(str(self.counts[name]) for name in OUTCOMES))


HEADER = ("family", "level", *OUTCOMES)


def totals_by_group(rows: Iterable[ResultRow]) -> list[FamilyTotals]:
    """Return the totals of each family and level that occurs, and those of all families."""
    counts: dict[tuple[str, RequirementLevel], Counter[str]] = {}
    for row in rows:
        for family in (row.id.partition(".")[0], "all"):
            counts.setdefault((family, row.level), Counter())[row.outcome.value] += 1
    families = dict.fromkeys(family for family, _ in counts)
    order = [*(family for family in families if family != "all"), "all"]
    return [
        FamilyTotals(family, level.value, {name: counts[family, level][name] for name in OUTCOMES})
        for family in order
        for level in RequirementLevel
        if (family, level) in counts
    ]


def totals_text_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    """Yield a table of the totals with aligned columns."""
    table = [HEADER, *(each.cells for each in totals_by_group(rows))]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table:
        first = (cells[0].ljust(widths[0]), cells[1].ljust(widths[1]))
        numbers = (cell.rjust(width) for cell, width in zip(cells[2:], widths[2:], strict=True))
        yield "  ".join((*first, *numbers))


def totals_markdown_lines(rows: Iterable[ResultRow]) -> Iterator[str]:
    yield f"| {' | '.join(HEADER)} |"
    yield "|" + "---|" * len(HEADER)
    for each in totals_by_group(rows):
        yield f"| {' | '.join(each.cells)} |"


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
_SKIPPED = {
    CaseOutcome.NOT_EXERCISED: "not exercised",
    CaseOutcome.UNSUPPORTED: "not supported",
}


def as_text(report: Report) -> str:
    """Return the totals, also by release if there are several, and each failed case once."""
    lines = [f"{report.client}: {report.outcome_totals}"]
    if len(report.releases) > 1:
        lines += [
            f"  Kafka {release}: {report.results_of_release(release).outcome_totals}"
            for release in report.releases
        ]
    lines += ["", *totals_text_lines(report.results)]
    failed: dict[str, list[ResultRow]] = {}
    for row in report.results_with_outcome(CaseOutcome.FAILED):
        if not row.known_failure:
            failed.setdefault(row.id, []).append(row)
    for rows in failed.values():
        newest = rows[-1]
        where = _release_ranges([row.kafka_version for row in rows], report.releases)
        lines += ["", f"{newest.id} ({newest.level.value}, {newest.origin}, Kafka {where})"]
        lines += [f"  {newest.title}", *(f"  {line}" for line in _failure_lines(newest))]
    healed = [row for row in report.results if row.is_unexpected_pass]
    lines += _grouped_case_lines(
        [(row.known_failure, row.id) for row in healed],
        "passed although the baseline lists them as known failures; remove these, by reason:",
    )
    known = [row for row in report.results_with_outcome(CaseOutcome.FAILED) if row.known_failure]
    lines += _grouped_case_lines(
        [(row.known_failure, row.id) for row in known], "known failures, by reason:"
    )
    for outcome, heading in _HEADINGS_OF_MISSING.items():
        rows = report.results_with_outcome(outcome)
        lines += _grouped_case_lines([(row.observed, row.id) for row in rows], heading)
    return "\n".join(lines) + "\n"


def _grouped_case_lines(texts_and_cases: Iterable[tuple[str, str]], heading: str) -> list[str]:
    """Return a heading and a line for each text with its cases; empty without texts."""
    cases: dict[str, set[str]] = {}
    for text, case_id in texts_and_cases:
        cases.setdefault(text, set()).add(case_id)
    lines = ["", heading] if cases else []
    for text, ids in sorted(cases.items(), key=lambda each: (-len(each[1]), each[0])):
        lines.append(f"  {text}: {', '.join(sorted(ids))}")
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
    totals = totals_by_group(report.results)
    content = {"client": report.client, "totals": totals, "results": report.results}
    return msgspec.json.format(msgspec.json.encode(content)).decode()


def as_junit(report: Report) -> str:
    """Return JUnit XML: failed MUST cases are failures; cases without a verdict are skipped.

    With a baseline, known failures are skipped as well, and healed cases are failures.
    """
    return junit_report(report.client, (_junit_case(report.client, row) for row in report.results))


def _junit_case(client: str, row: ResultRow) -> JunitCase:
    family, _, short = row.id.partition(".")
    case = JunitCase(
        classname=f"{client}.{row.kafka_version}.{family}", name=short, seconds=row.seconds
    )
    text = "\n".join(_failure_lines(row))
    if row.is_unexpected_pass:
        healed = f"passed; remove it from the baseline: {row.known_failure}"
        return replace(case, failure=healed)
    if row.is_unexpected:
        return replace(case, failure=row.title, output=text)
    if _is_known_failure(row):
        return replace(case, skipped=f"known failure: {row.known_failure}")
    if row.outcome is CaseOutcome.FAILED:
        return replace(case, output=f"should: {text}")
    if row.outcome in _SKIPPED:
        return replace(case, skipped=f"{_SKIPPED[row.outcome]}: {row.observed}")
    return case


def _is_known_failure(row: ResultRow) -> bool:
    return row.outcome is CaseOutcome.FAILED and bool(row.known_failure)


def as_markdown(report: Report) -> str:
    lines = [f"| {report.client} | Kafka | case | origin |", "|---|---|---|---|"]
    lines += [
        f"| {_MARKS[row.outcome]} `{row.id}` | {row.kafka_version} | {row.title} | {row.origin} |"
        for row in report.results
    ]
    totals = totals_markdown_lines(report.results)
    return "\n".join((*lines, "", *totals, "", report.outcome_totals, ""))


FORMS: dict[str, Callable[[Report], str]] = {
    "text": as_text,
    "json": as_json,
    "junit": as_junit,
    "markdown": as_markdown,
}


_PAGE = Path(__file__).parent / "page"


def as_html(reports: Sequence[Report]) -> str:
    """Return an HTML page without references to other files."""
    data = msgspec.json.encode(reports).decode().replace("</", "<\\/")
    page = (
        _page_source("html")
        .replace("/*CSS*/", _page_source("css"))
        .replace("/*JS*/", _page_source("js"))
    )
    return page.replace("/*DATA*/", data)


def _page_source(extension: str) -> str:
    return (_PAGE / f"report.{extension}").read_text(encoding="utf-8")
