"""Findings as a page: which plots each job has, and what is said about it."""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from authorizer.acl_formats.trace_rule import parse_acl_rule
from pipeline.arguments import JOBS
from pipeline.intervals import interval_seconds
from pipeline.report.charts import Bar, Chart, bars, columns, lines
from pipeline.report.html_page import Section, page
from pipeline.report.outcome import Outcome
from pipeline.report.output import cell

Rows = list[dict[str, Any]]


def report_page(outcome: Outcome, traces: list[str]) -> str:
    """One page for one job, or for all parts of a report."""
    parts = outcome.parts or [outcome]
    about = f"Traces: {', '.join(traces)}. Times are UTC."
    if outcome.head.get("first_seen"):
        first, last = (
            cell(datetime.fromisoformat(outcome.head[name])) for name in ("first_seen", "last_seen")
        )
        about += f" Accesses from {first} to {last}."
    sections = [
        Section(
            one.job,
            f"{JOBS[one.job][0].upper()}{JOBS[one.job][1:]}.",
            one.notes,
            _CHARTS[one.job](one) if one.rows and one.job in _CHARTS else [],
            one.shown,
            one.rows,
        )
        for one in parts
    ]
    return page(f"kafka-shim pipeline {outcome.job}", about, sections)


def _added(rows: Iterable[dict[str, Any]], *names: str, value: str = "requests") -> list[Bar]:
    """Values added up by what these columns say."""
    found: dict[str, float] = {}
    for row in rows:
        name = " ".join(str(row[name]) for name in names)
        found[name] = found.get(name, 0) + (row[value] if value else 1)
    return list(found.items())


def _what_breaks(outcome: Outcome) -> list[Chart]:
    charts = []
    for change in dict.fromkeys(row["change"] for row in outcome.rows):
        rows = [row for row in outcome.rows if row["change"] == change]
        head = f"Accesses {change}"
        charts.append(bars(f"{head}, by principal", "accesses", _added(rows, "principal")))
        resources = _added(rows, "operation", "resource_type", "resource_name")
        charts.append(bars(f"{head}, by resource", "accesses", resources))
        # a request may have several causes, so those of a principal are not the sum of its rows
        people = {row["principal"]: row["requests_changed_of_principal"] for row in rows}
        verb = {"newly denied": "fail", "newly allowed": "succeed"}[change]
        title = f"Requests that would newly {verb}, by principal"
        charts.append(bars(title, "requests", [*people.items()]))
    return charts


def _unused_acls(outcome: Outcome) -> list[Chart]:
    states = _added(outcome.rows, "state", value="")
    removable = [row for row in outcome.rows if row["can_go"]]
    charts = [bars("ACLs by state", "ACLs", states)]
    if removable:
        charts.append(bars("ACLs that can go, by principal", "ACLs", _by_principal(removable)))
    return charts


def _least_acls(outcome: Outcome) -> list[Chart]:
    return [bars("ACLs needed, by principal", "ACLs", _by_principal(outcome.rows))]


def _by_principal(rows: Rows) -> list[Bar]:
    people = [acl.principal for row in rows if (acl := parse_acl_rule(row["acl"])) is not None]
    return [(name, people.count(name)) for name in dict.fromkeys(people)]


def _denials(outcome: Outcome) -> list[Chart]:
    points = [(row["time"], row["principal"], row["requests"]) for row in outcome.trend]
    step = interval_seconds(outcome.interval)
    resources = _added(outcome.rows, "operation", "resource_type", "resource_name")
    return [
        columns(f"Denials in each {outcome.interval}, by principal", "denials", points, step),
        bars("Denials by principal", "denials", _added(outcome.rows, "principal")),
        bars("Denials by resource", "denials", resources),
    ]


def _readiness(outcome: Outcome) -> list[Chart]:
    apis = _added(outcome.rows, "finding", "api", "api_version")
    return [
        bars("Requests concerned, by API and version", "requests", apis),
        bars("Requests concerned, by principal", "requests", _added(outcome.rows, "principal")),
    ]


def _timeline(outcome: Outcome) -> list[Chart]:
    step, every = interval_seconds(outcome.interval), f"in each {outcome.interval}"

    def points(series: str, value: str) -> list[tuple[Any, str, float]]:
        return [(row["time"], str(row[series] or "unknown"), row[value]) for row in outcome.rows]

    charts = [
        columns(f"Requests {every}, by {words}", "requests", points(series, "requests"), step)
        for series, words in (("principal", "principal"), ("client_id", "client"), ("api", "API"))
    ]
    if any(row["errors"] for row in outcome.rows):
        title = f"Answers with errors {every}, by API"
        charts.append(columns(title, "answers", points("api", "errors"), step))
    slowest: dict[tuple[Any, str], float] = {}
    for row in outcome.rows:
        if row["latency_us_99"] is not None:
            key = (row["time"], row["api"])
            slowest[key] = max(slowest.get(key, 0), row["latency_us_99"] / 1000)
    latencies = [(when, api, value) for (when, api), value in slowest.items()]
    title = f"Latency {every}: 99th percentile of the slowest client, by API"
    return [*charts, lines(title, "milliseconds", latencies, step)] if latencies else charts


def _clients(outcome: Outcome) -> list[Chart]:
    software = _added(outcome.rows, "software_name", "software_version")
    return [
        bars("Requests by client software", "requests", software),
        bars("Requests by principal", "requests", _added(outcome.rows, "principal")),
    ]


def _diff(outcome: Outcome) -> list[Chart]:
    found = _added(outcome.rows, "difference", "principal", value="")
    return [bars("Differences by kind and principal", "differences", found)]


_CHARTS: dict[str, Callable[[Outcome], list[Chart]]] = {
    "what-breaks": _what_breaks,
    "unused-acls": _unused_acls,
    "least-acls": _least_acls,
    "denials": _denials,
    "readiness": _readiness,
    "timeline": _timeline,
    "clients": _clients,
    "diff": _diff,
}
