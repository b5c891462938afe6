"""A self-contained HTML page without scripts and without references to other files.

It works with a keyboard and with a screen reader.
"""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.pipeline.report.charts import Chart, chart_html
from kafka_shim.pipeline.report.output import cell_text
from kafka_shim.text.html_page import html_document

ROWS_MAX = 500
ROWS_OPEN = 25
"""Longer tables are folded, so that the plots of a report stay in sight."""
_STYLE = Path(__file__).with_name("report.css")
_STRIPES = (
    "",
    "M0 6 L6 0",
    "M0 3 H6",
    "M3 0 V6",
    "M0 0 L6 6",
    "M0 3 H6 M3 0 V6",
)
"""What is drawn over the colour of each series, so that colour alone tells nothing apart."""


class Section(msgspec.Struct):
    """The section of a job; `columns` are those of the shown rows, none in a summary."""

    title: str
    explanation: str
    notes: Sequence[str]
    charts: Sequence[Chart]
    columns: Sequence[str]
    rows: Sequence[dict[str, Any]]


def html_page(title: str, description: str, sections: Sequence[Section]) -> str:
    """Return the page as HTML."""
    links = "".join(
        f'<li><a href="#section-{n}">{escape(section.title)}</a></li>'
        for n, section in enumerate(sections, start=1)
    )
    contents = f'<nav aria-label="Contents"><ol>{links}</ol></nav>' if len(sections) > 1 else ""
    body = "".join(_section_html(n, section) for n, section in enumerate(sections, start=1))
    colours = "".join(
        f".s{n} {{ fill: {f'url(#hatch-{n})' if stripes else 'var(--c0)'}; }}\n"
        f".l{n} {{ stroke: var(--c{n}); }}\n"
        for n, stripes in enumerate(_STRIPES)
    )
    return html_document(
        title,
        f"{_STYLE.read_text()}{colours}",
        f"{_hatch_patterns_svg()}"
        '<a class="skip" href="#main">Skip to the findings</a>\n'
        f"<header><h1>{escape(title)}</h1><p>{escape(description)}</p>{contents}</header>\n"
        f'<main id="main" tabindex="-1">{body}</main>\n',
    )


def _hatch_patterns_svg() -> str:
    patterns = "".join(
        f'<pattern id="hatch-{n}" width="6" height="6" patternUnits="userSpaceOnUse">'
        f'<rect width="6" height="6" fill="var(--c{n})"/>'
        f'<path d="{stripes}" stroke="var(--paper)" stroke-width="1"/></pattern>'
        for n, stripes in enumerate(_STRIPES)
        if stripes
    )
    return f'<svg class="hatches" aria-hidden="true"><defs>{patterns}</defs></svg>\n'


def _section_html(number: int, section: Section) -> str:
    notes = "".join(f"<li>{escape(note.strip())}</li>" for note in section.notes)
    name = f"section-{number}"
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{escape(section.title)}</h2><p>{escape(section.explanation)}</p>'
        + (f"<ul>{notes}</ul>" if notes else "")
        + "".join(chart_html(chart) for chart in section.charts)
        + _first_rows_table_html(section)
        + "</section>\n"
    )


def _first_rows_table_html(section: Section) -> str:
    if not section.columns:
        return ""
    if not section.rows:
        return "<p>No rows.</p>"
    shown = section.rows[:ROWS_MAX]
    heads = "".join(
        f'<th scope="col">{escape(_column_heading(name))}</th>' for name in section.columns
    )
    rows = "".join(
        "<tr>" + "".join(_td_element(row[name], name) for name in section.columns) + "</tr>\n"
        for row in shown
    )
    size = f"{len(section.rows)} row{'s' * (len(section.rows) != 1)}"
    if len(shown) < len(section.rows):
        size = f"the first {len(shown)} of {size}; --csv and --parquet have all"
    title = escape(section.title)
    is_open = " open" if len(shown) <= ROWS_OPEN else ""
    return (
        f"<details{is_open}><summary>{title}: {size}</summary>"
        f'<div class="wide" tabindex="0" role="region" aria-label="Rows of {title}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _td_element(value: object, column: str) -> str:
    """Return a table cell: numbers are right-aligned, ACLs in a fixed-width font."""
    text = escape(cell_text(value, column))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f'<td class="end">{text}</td>'
    if isinstance(value, datetime):
        return f'<td class="when">{text}</td>'
    return f"<td><code>{text}</code></td>" if "{" in text else f"<td>{text}</td>"


def _column_heading(name: str) -> str:
    return name.replace("_", " ")
