"""Reports as an HTML page: clients by cases."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from kafka_shim.conformance.report import Report

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
