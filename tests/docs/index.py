"""Make docs/README.md from the navigation of the site, and the titles and first sentences of pages.

python -m tests.docs.index
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

from tests.docs.shown import ROOT

DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"

_INTRODUCTION = (
    "# Documentation\n\nAll pages of kafka-shim, "
    "a Kafka broker for tests that decides permissions exactly as Apache Kafka does.\n\n"
    "Begin with [First denied test](start/tutorial.md). For an error message, see "
    "[Troubleshooting](guides/troubleshooting.md). For the\nreview of ACLs, see [ACLs as "
    "code](guides/acls-as-code.md), and for a client, broker or authorizer of your own, "
    "[Conformance](guides/conformance.md).\nWhat is missing is in [Limitations and "
    "differences](explanation/differences.md). The search of the site also knows error messages "
    "and names of settings.\n"
)
_OUTSIDE_THE_SITE = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "tests/recordings/README.md",
    "SECURITY.md",
)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\[0-9*])")
_COMMENT = re.compile(r"\A(?:<!--.*?-->\s*)+", re.DOTALL)


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml, whose Python objects are only meant for mkdocs."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


@dataclass(frozen=True)
class Page:
    """A page in the navigation; `path` is relative to docs/, or to the repository if it is there.

    `group` is a part of the section.
    """

    section: str
    path: str
    group: str = ""

    @property
    def file(self) -> Path:
        file = DOCS / self.path
        return file if file.exists() else ROOT / self.path

    @property
    def link(self) -> str:
        """Return the link from docs/README.md."""
        return Path(os.path.relpath(self.file, DOCS)).as_posix()

    @property
    def title(self) -> str:
        """Return the first heading, which is the title in every place."""
        return self.file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")

    @property
    def first_sentence(self) -> str:
        """Return the first sentence of the first paragraph, without the targets of links."""
        _, _, text = self.file.read_text(encoding="utf-8").partition("\n")
        paragraph = " ".join(_COMMENT.sub("", text.strip()).split("\n\n")[0].split())
        return _SENTENCE_END.split(_LINK.sub(r"\1", paragraph))[0]


def navigation() -> dict[str, Any]:
    """Return the settings of the site."""
    text = (DOCS / "site" / "mkdocs.yml").read_text(encoding="utf-8")
    settings: dict[str, Any] = yaml.load(text, _Loader)
    return settings


def listed_pages() -> list[Page]:
    """Return the pages of the site in the order of its navigation."""
    sections = [next(iter(entry.items())) for entry in navigation()["nav"]]
    return [
        Page(section, path, group)
        for section, entries in sections
        if isinstance(entries, list)
        for group, path in _paths(entries)
    ]


def _paths(entries: list[Any]) -> Iterator[tuple[str, str]]:
    for entry in entries:
        if isinstance(entry, str):
            yield "", entry
        else:
            for group, paths in entry.items():
                yield from ((group, path) for path in paths)


def index_text() -> str:
    """Return docs/README.md."""
    lines = [_INTRODUCTION]
    elsewhere = [Page("Elsewhere in the repository", path) for path in _OUTSIDE_THE_SITE]
    for section, pages in groupby(listed_pages() + elsewhere, lambda page: page.section):
        lines += [f"## {section}", ""]
        for group, rows in groupby(pages, lambda page: page.group):
            lines += [f"### {group}", ""] if group else []
            lines += ["| page | content |", "|---|---|"]
            lines += [f"| [{page.title}]({page.link}) | {page.first_sentence} |" for page in rows]
            lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    INDEX.write_text(index_text(), encoding="utf-8")
