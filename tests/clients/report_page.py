"""docs/reference/conformance/README.md has two parts, made by different commands.

`make conformance` writes the reports of the conformance suite, `make scorecards` the scorecards.
"""

from pathlib import Path
from typing import Final

from tests.docs.shown import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "conformance" / "README.md"
_SCORECARDS: Final = "## Scorecards\n"


def write_reports(text: str, page: Path = PAGE) -> None:
    """Replace the reports; the scorecards stay."""
    _, title, scorecards = _text(page).partition(_SCORECARDS)
    page.write_text(f"{text.rstrip()}\n\n{title}{scorecards}", encoding="utf-8")


def write_scorecards(text: str, page: Path = PAGE) -> None:
    """Replace the scorecards, which follow their heading; the reports stay."""
    reports = _text(page).partition(_SCORECARDS)[0]
    page.write_text(f"{reports.rstrip()}\n\n{_SCORECARDS}\n{text.strip()}\n", encoding="utf-8")


def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""
