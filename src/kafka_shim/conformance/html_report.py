"""Reports as an HTML page (clients by cases) and as a badge."""

from collections.abc import Callable, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

import msgspec

from kafka_shim.conformance.case import CaseOutcome
from kafka_shim.conformance.report import Report

_PAGE = Path(__file__).parent / "page"
_LABEL = "kafka conformance"
_CHARACTER_PX, _PADDING_PX = 6.6, 12
_GOOD, _FAIR, _POOR = "#1a7f4b", "#b07a12", "#c22b37"
FAIR_SHARE = 0.9


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


def as_svg_badge(reports: Sequence[Report]) -> str:
    """Return an SVG badge for a README: passed cases of those that the clients can play.

    It is green if no MUST failed, red if more than a tenth of them failed, and otherwise amber.
    Cases that were not exercised count as not passed; without a passed one it is never green.
    """
    rows = [
        row
        for report in reports
        for row in report.results
        if row.outcome is not CaseOutcome.UNSUPPORTED
    ]
    passed = sum(row.outcome is CaseOutcome.PASSED for row in rows)
    failures = sum(report.failing_result_count for report in reports)
    color = _GOOD if passed else _FAIR
    if failures:
        color = _FAIR if 1 - failures / len(rows) >= FAIR_SHARE else _POOR
    return _svg_badge(_LABEL, f"{passed} of {len(rows)}", color)


def _svg_badge(label: str, value: str, color: str) -> str:
    left, right = (round(len(text) * _CHARACTER_PX) + _PADDING_PX for text in (label, value))
    width = left + right
    text = escape(f"{label}: {value}")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-label="{text}">
<title>{text}</title>
<clipPath id="r"><rect width="{width}" height="20" rx="3"/></clipPath>
<g clip-path="url(#r)">
<rect width="{left}" height="20" fill="#444d56"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/>
</g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left / 2}" y="14">{escape(label)}</text>
<text x="{left + right / 2}" y="14">{escape(value)}</text>
</g>
</svg>
"""


PAGE_FORMS: dict[str, Callable[[Sequence[Report]], str]] = {"html": as_html, "badge": as_svg_badge}
