"""Generated and recorded files, and the commands that write them, in tables of two pages."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Final, NamedTuple

from tests.docs.shown import ROOT

PACKAGE: Final = "src/kafka_shim/"
GENERATED: Final = "generated from this repository"
RECORDED: Final = "read from a real broker, jars or clients"
PAGES: Final = {
    GENERATED: ROOT / "CONTRIBUTING.md",
    RECORDED: ROOT / "tests" / "recordings" / "README.md",
}


class Row(NamedTuple):
    """Patterns of files, relative to the repository or the package, and the text with commands."""

    patterns: tuple[str, ...]
    text: str

    @property
    def commands(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.text)

    def has(self, path: str) -> bool:
        """Return whether a path, relative to the repository, is one of these files."""
        return any(
            fnmatchcase(name, f"{pattern}*" if pattern.endswith("/") else pattern)
            for name in (path, path.removeprefix(PACKAGE))
            for pattern in self.patterns
        )


@cache
def rows(kind: str) -> tuple[Row, ...]:
    """Return the table whose first column is named so; one of GENERATED and RECORDED."""
    head = f"| files {kind} | command |\n|---|---|\n"
    table = PAGES[kind].read_text(encoding="utf-8").partition(head)[2].partition("\n\n")[0]
    return tuple(_rows(table))


def _rows(table: str) -> Iterator[Row]:
    for line in table.splitlines():
        files, text = line.strip("| ").split(" | ", 1)
        yield Row(tuple(re.findall(r"`([^`]+)`", files)), text)


def outdated(path: str) -> str:
    """Return the message of a test that finds a generated file out of date."""
    row = next(row for row in rows(GENERATED) if row.has(path))
    return f"{path} is out of date; if the change is right, run: {row.text}"
