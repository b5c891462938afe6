"""Count the hand-written words of each page: `python -m tests.docs.words`.

Blocks of code, comments and generated parts do not count.
"""

import re
import sys
from pathlib import Path
from typing import Final

from tests.docs.shown import ROOT

WORDS_MAX: Final = 28_000
OUTSIDE_DOCS: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "DEVELOPERS.md",
    "SECURITY.md",
    "benchmarks/README.md",
)
GENERATED_PAGES: Final = (
    "docs/README.md",
    "docs/reference/commands/",
    "docs/reference/errors.md",
    "docs/reference/http-api.md",
    "docs/reference/log-lines.md",
    "docs/reference/metrics.md",
    "docs/reference/python-api.md",
    "docs/reference/settings.md",
    "docs/reference/permissions.md",
    "docs/reference/atlas/README.md",
    "docs/reference/conformance/",
    "docs/reference/vectors-scoreboard.md",
)
"""Pages and folders that a command writes; another test verifies that each is current."""
_GENERATED_FROM: Final = {"docs/reference/driver-contract.md": "\n## Commands\n"}
"""The heading from which a page is generated."""
_GENERATED_PART: Final = re.compile(
    r"<!-- (?:table|apis|columns|kips|generated) -->.*?<!-- end of .*? -->",
    re.DOTALL,
)
_NOT_PROSE: Final = (
    _GENERATED_PART,
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL),
    re.compile(r"(?<=\n\n)(?: {4}.*\n)+"),
    re.compile(r"(?<=\])\([^)]*\)"),
    re.compile(r"</?[a-z][^>]*>"),
)
_WORD: Final = re.compile(r"\w[^\s|]*")


def hand_written_pages() -> list[Path]:
    """Return the pages that people write, those outside of docs/ first."""
    docs = sorted((ROOT / "docs").rglob("*.md"))
    pages = [ROOT / name for name in OUTSIDE_DOCS] + docs
    return [
        page for page in pages if not page.relative_to(ROOT).as_posix().startswith(GENERATED_PAGES)
    ]


def word_count(page: Path) -> int:
    """Return the number of hand-written words of a page."""
    text = page.read_text(encoding="utf-8")
    if heading := _GENERATED_FROM.get(page.relative_to(ROOT).as_posix()):
        text = text.partition(heading)[0]
    for pattern in _NOT_PROSE:
        text = pattern.sub(" ", text)
    return len(_WORD.findall(text))


def main() -> None:
    """Print the words of each page and their sum."""
    counts = {page.relative_to(ROOT).as_posix(): word_count(page) for page in hand_written_pages()}
    lines = [f"{count:7,}  {name}" for name, count in counts.items()]
    lines.append(f"{sum(counts.values()):7,}  all pages (at most {WORDS_MAX:,})")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
