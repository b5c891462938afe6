"""The report of a client: as a file, text, JUnit XML, Markdown, and as a page of several."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.frames import ReportedExchange
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.junit_xml import JunitCase, junit_report


class ResultRow(msgspec.Struct, frozen=True):
    """The result of a case with a release; for the fields see `Case` and `CaseResult`."""

    id: str
    title: str = msgspec.field(name="what")
    origin: str
    level: RequirementLevel
    kafka_version: str
    outcome: CaseOutcome
    expected_response: str = msgspec.field(name="response")
    expected_requests: str = msgspec.field(name="wire")
    last_response: str = msgspec.field(name="said")
    expected: str
    observed: str = msgspec.field(name="done")
    frames: tuple[ReportedExchange, ...]
    seconds: float
    fails_run: bool = msgspec.field(name="breaks")
    known_failure: str = msgspec.field(name="known", default="")
    """The reason in the baseline, if the case failed or the baseline says that it does."""

    @property
    def is_unexpected_pass(self) -> bool:
        """Return whether the case passed although the baseline lists it as failing."""
        return self.outcome is CaseOutcome.PASSED and bool(self.known_failure)

    @property
    def is_unexpected(self) -> bool:
        """Return whether the run fails because of this row: a new failure, or a healed case."""
        return self.is_unexpected_pass or (self.fails_run and not self.known_failure)


class Report(msgspec.Struct, frozen=True):
    """The results of a client."""

    client: str
    results: tuple[ResultRow, ...]

    def results_with_outcome(self, outcome: CaseOutcome) -> list[ResultRow]:
        return [row for row in self.results if row.outcome is outcome]

    @property
    def ids_of_failed_cases(self) -> set[str]:
        return {row.id for row in self.results_with_outcome(CaseOutcome.FAILED)}

    def results_of_release(self, release: str) -> "Report":
        """Return the part of the report about one release."""
        rows = tuple(row for row in self.results if row.kafka_version == release)
        return Report(self.client, rows)

    @property
    def outcome_totals(self) -> str:
        """The number of cases by outcome, as text."""
        counts = Counter(row.outcome for row in self.results)
        return ", ".join(f"{counts[outcome]} {outcome.value}" for outcome in CaseOutcome)

    @property
    def unexpected_result_count(self) -> int:
        """The number of cases because of which the run fails."""
        return sum(row.is_unexpected for row in self.results)

    @property
    def has_passed(self) -> bool:
        """Return whether cases were exercised, and none of them makes the run fail."""
        exercised = {CaseOutcome.PASSED, CaseOutcome.FAILED}
        has_exercised = any(row.outcome in exercised for row in self.results)
        return has_exercised and not self.unexpected_result_count

    @property
    def releases(self) -> Sequence[str]:
        return list(dict.fromkeys(row.kafka_version for row in self.results))


def report_from_results(client: str, results: Iterable[CaseResult]) -> Report:
    """Return the report of a run, in the order of the cases."""
    return Report(client, tuple(_result_row(result) for result in results))


def _result_row(result: CaseResult) -> ResultRow:
    case = result.case
    return ResultRow(
        id=case.id,
        title=case.title,
        origin=case.origin,
        level=case.level,
        kafka_version=result.release,
        outcome=result.outcome,
        expected_response=case.expected_response,
        expected_requests=case.expected_requests,
        last_response=result.last_response,
        expected=result.expected,
        observed=result.observed,
        frames=result.frames,
        seconds=round(result.seconds, 3),
        fails_run=result.fails_run,
    )


def read_report(path: str) -> Report:
    """Read a report that `--format json` wrote. Raise ConfigError if the file is not one."""
    try:
        return msgspec.json.decode(Path(path).read_bytes(), type=Report)
    except OSError as error:
        raise ConfigError(f"cannot read `{path}`: {error.strerror}") from error
    except msgspec.DecodeError as error:
        raise ConfigError(f"`{path}` is not a report of `conformance suite`: {error}") from error


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
