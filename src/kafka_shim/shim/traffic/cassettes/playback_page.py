"""The report of a playback as a file: JSON, or a page."""

import json
from collections.abc import Iterator
from html import escape
from pathlib import Path

from kafka_shim.shim.traffic.cassettes.playback_report import PlaybackReport

_STYLE = (
    ":root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;"
    "max-width:75rem;padding:0 1rem}table{border-collapse:collapse;width:100%}"
    "th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;border-bottom:1px solid #8886}"
    "code{font-size:.9em;overflow-wrap:anywhere}"
)
_COLUMNS = ("Kind", "Request", "Reason", "Field", "Recorded", "Sent", "Nearest", "Count")


def write_playback_report(report: PlaybackReport, trace: Path, file: Path) -> None:
    """Write the report; as a page if the name of the file ends in `.html`, else as JSON."""
    if file.suffix == ".html":
        text = "".join(_page(report, trace))
    else:
        text = json.dumps(report.json_fields(), indent=2) + "\n"
    file.write_text(text, encoding="utf-8")


def _page(report: PlaybackReport, trace: Path) -> Iterator[str]:
    title = f"Playback of {escape(trace.name)}"
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body><h1>{title}</h1>\n"
    yield f"<p>{report.requests} requests, {report.mismatch_count} mismatches</p>\n"
    if report.mismatches:
        head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        yield f"<h2>Mismatches</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n"
        for each, count in report.mismatches.items():
            client = f"{each.request} of {each.principal}, client id {each.client_id}"
            values = (each.field, each.recorded, each.sent)
            yield f"<tr><td>{each.kind}</td><td>{escape(client)}</td><td>{escape(each.reason)}</td>"
            yield "".join(f"<td><code>{escape(value)}</code></td>" for value in values)
            yield f"<td>{escape(each.nearest)}</td><td>{count}</td></tr>\n"
        yield "</tbody></table>\n"
    yield from _list("Tolerated differences", (f"{n} ({c})" for n, c in report.changes.items()))
    yield from _list("Answered early", (f"{n} ({c})" for n, c in report.early.items()))
    yield from _list(f"Not sent: {report.unsent_count} recorded changes", report.unsent)
    yield "</body></html>\n"


def _list(title: str, lines: Iterator[str] | list[str]) -> Iterator[str]:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    if items:
        yield f"<h2>{title}</h2>\n<ul>{items}</ul>\n"
