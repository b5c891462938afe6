"""Outcomes as a page, with a section for each job: its summary and its charts."""

from kafka_shim.pipeline.commands import command_of
from kafka_shim.pipeline.report.html_page import Section
from kafka_shim.pipeline.report.html_report import report_page
from kafka_shim.pipeline.report.outcome import Outcome


def page_of(outcome: Outcome, traces: list[str]) -> str:
    """Return one page for one job, or for all parts of a report."""
    sections = [_section(part) for part in outcome.parts or [outcome]]
    return report_page(outcome, traces, sections)


def _section(outcome: Outcome) -> Section:
    command = command_of(outcome.job)
    return Section(
        outcome.job,
        f"{command.summary[0].upper()}{command.summary[1:]}.",
        outcome.notes,
        command.charts(outcome) if outcome.rows else [],
        outcome.shown,
        outcome.rows,
    )
