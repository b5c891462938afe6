"""Commands in indented blocks, and fenced blocks, of the project's pages."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = (
    "docs/reference/commands/",
    "docs/reference/log-lines.md",
    "docs/reference/python-api.md",
)
"""Pages that are the output of a program, which another test verifies."""

_BUILT = frozenset({"build", "dist", "node_modules", "target"})
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"  +#.*$")


@dataclass(frozen=True)
class Command:
    """One command of an indented block, with its line in the page."""

    page: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.text}"

    @property
    def program(self) -> str:
        words = [word for word in self.text.split() if "=" not in word]
        return words[0].removeprefix(".venv/bin/")


@dataclass(frozen=True)
class Block:
    """A fenced block; `name` is in its first line, `# NAME`, if it has one."""

    page: str
    language: str
    text: str

    @property
    def name(self) -> str:
        first = self.text.partition("\n")[0]
        return first.removeprefix("# ") if first.startswith("# ") else ""


def pages() -> list[str]:
    """Return the pages of the project that are not generated, relative to its folder."""
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in _BUILT and not name.startswith(".")]
        found += [str(Path(folder, name).relative_to(ROOT)) for name in files if name[-3:] == ".md"]
    return sorted(page for page in found if not page.startswith(GENERATED))


def blocks() -> list[Block]:
    return [
        Block(page, language, text)
        for page in pages()
        for language, text in _FENCE.findall((ROOT / page).read_text())
    ]


def commands() -> list[Command]:
    """Return the commands of all pages.

    In a block with `$ ` at the beginning of a line, only such lines are commands; otherwise all
    lines are. A backslash at the end continues a command on the next line.
    """
    return [command for page in pages() for command in _commands(page)]


def _commands(page: str) -> Iterator[Command]:
    for start, lines in _indented((ROOT / page).read_text()):
        has_prompts = any(line.startswith("$ ") for line in lines)
        text = ""
        for number, line in enumerate(lines, start):
            if has_prompts and not text and not line.startswith("$ "):
                continue  # output of a command
            text += _COMMENT.sub("", line).strip().removeprefix("$ ")
            if text.endswith("\\"):
                text = text[:-1]
                continue
            yield Command(page, number, " ".join(text.split()))
            text = ""


def _indented(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the lines of each block that is indented by four spaces."""
    text = _FENCE.sub(lambda block: re.sub(".+", "-", block[0]), text)
    for block in re.finditer(r"(?<=\n\n)(?: {4}.*\n)+", text):
        yield text.count("\n", 0, block.start()) + 1, [line[4:] for line in block[0].splitlines()]
