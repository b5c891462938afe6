"""The HTML page of one job, or of all jobs of a report."""

from collections.abc import Sequence
from datetime import datetime

from kafka_shim.pipeline.report.html_page import Section, page
from kafka_shim.pipeline.report.outcome import Outcome
from kafka_shim.pipeline.report.output import cell


def report_page(outcome: Outcome, traces: list[str], sections: Sequence[Section]) -> str:
    """Return the page; its heading names the traces and the observed period."""
    about = f"Traces: {', '.join(traces)}. Times are UTC."
    if outcome.head.get("first_seen"):
        first, last = (
            cell(datetime.fromisoformat(outcome.head[name])) for name in ("first_seen", "last_seen")
        )
        about += f" Accesses from {first} to {last}."
    return page(f"kafka-shim pipeline {outcome.job}", about, sections)
