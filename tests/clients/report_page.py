"""docs/reference/conformance/README.md has three parts, made by different commands.

`tests.clients.suite_reports` writes the reports of the conformance suite,
`tests.clients.suite_against --publish` those of Java's client on real brokers, and
`tests.clients.scorecards` the scorecards.
"""

from pathlib import Path
from typing import Final

from tests.docs.shown import ROOT

PAGE: Final = ROOT / "docs" / "reference" / "conformance" / "README.md"
_REPORTS: Final = ""
_REAL_BROKERS: Final = "## Java on real brokers\n"
_SCORECARDS: Final = "## Scorecards\n"


def write_reports(text: str, page: Path = PAGE) -> None:
    """Replace the reports; the other parts stay."""
    _replace_part(_REPORTS, text, page)


def write_real_brokers(text: str, page: Path = PAGE) -> None:
    """Replace what follows the heading of real brokers; the other parts stay."""
    _replace_part(_REAL_BROKERS, text, page)


def rows_about_real_brokers(page: Path = PAGE) -> dict[str, str]:
    """Return the rows of that part by their first cell."""
    part = _parts_by_heading(page.read_text(encoding="utf-8"))[_REAL_BROKERS]
    rows = [line for line in part.splitlines() if line.startswith("| ")]
    return {row.split(" | ")[0].removeprefix("| "): row for row in rows}


def write_scorecards(text: str, page: Path = PAGE) -> None:
    """Replace the scorecards, which follow their heading; the other parts stay."""
    _replace_part(_SCORECARDS, text, page)


def _replace_part(heading: str, text: str, page: Path) -> None:
    parts = _parts_by_heading(page.read_text(encoding="utf-8") if page.exists() else "")
    parts[heading] = text
    blocks = [f"{name}\n{part.strip()}".strip() for name, part in parts.items() if part.strip()]
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def _parts_by_heading(text: str) -> dict[str, str]:
    """Return the text of each part without its heading, in the order of the page."""
    parts = {}
    for heading in (_SCORECARDS, _REAL_BROKERS):
        text, _, parts[heading] = text.partition(heading)
    return {
        _REPORTS: text,
        _REAL_BROKERS: parts[_REAL_BROKERS],
        _SCORECARDS: parts[_SCORECARDS],
    }
