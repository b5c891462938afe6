"""The report of a playback as a file: JSON, or a page."""

import json
from html import escape
from pathlib import Path

from kafka_shim.shim.html_page import html_page_with_table
from kafka_shim.shim.traffic.cassettes.playback_report import Mismatch, PlaybackReport

_HEADINGS = ("Kind", "Request", "Reason", "Field", "Recorded", "Sent", "Nearest", "Count")


def write_playback_report(report: PlaybackReport, trace: Path, file: Path) -> None:
    """Write the report; as a page if the name of the file ends in `.html`, else as JSON."""
    if file.suffix == ".html":
        text = _page(report, trace)
    else:
        text = json.dumps(report.json_fields(), indent=2) + "\n"
    file.write_text(text, encoding="utf-8")


def _page(report: PlaybackReport, trace: Path) -> str:
    lists = {
        "Tolerated differences": [f"{each} ({n})" for each, n in report.changes.items()],
        "Answered early": [f"{each} ({n})" for each, n in report.early.items()],
        f"Not sent: {report.unsent_count} recorded changes": report.unsent,
    }
    return html_page_with_table(
        f"Playback of {trace.name}",
        _HEADINGS,
        [_row(each, count) for each, count in report.mismatches.items()],
        f"{report.requests} requests, {report.mismatch_count} mismatches",
        lists,
    )


def _row(mismatch: Mismatch, count: int) -> str:
    client = f"{mismatch.request} of {mismatch.principal}, client id {mismatch.client_id}"
    values = mismatch.field, mismatch.recorded, mismatch.sent
    cells = *map(escape, (mismatch.kind, client, mismatch.reason)), *map(_code, values)
    return "".join(f"<td>{each}</td>" for each in (*cells, escape(mismatch.nearest), count))


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"
