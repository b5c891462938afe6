"""Builds and compiles the source of functions; tracebacks and debuggers show it."""

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INDENT = "    "

Expression = str
"""A Python expression, as text."""
LocalName = str
"""The name of a local variable of the function."""


class FunctionSource:
    """The lines of a function, its local names, and its constants."""

    def __init__(self, signature: str) -> None:
        self._lines = [f"def {signature}:"]
        self._depth = 1
        self._mark = self._mark_depth = 0  # where `insert_line_at_mark` puts its next line
        self._local_counts: dict[str, int] = {}
        self._constants: dict[str, object] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def add_line(self, line: str) -> None:
        self._lines.append(INDENT * self._depth + line)

    def mark_insertion_point(self) -> None:
        """Let `insert_line_at_mark` insert its lines here."""
        self._mark, self._mark_depth = len(self._lines), self._depth

    def insert_line_at_mark(self, line: str) -> None:
        """Write a line at the mark, in its block."""
        self._lines.insert(self._mark, INDENT * self._mark_depth + line)
        self._mark += 1

    @contextmanager
    def indented_block(self, head: str) -> Iterator[None]:
        """Write `head:`, and indent the lines of the `with` block (at least one)."""
        self.add_line(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def unconditional_block(self) -> Iterator[None]:
        """Replace `indented_block` where no condition is needed."""
        yield

    def new_local(self, name: str) -> LocalName:
        """Return an unused name for a local variable."""
        count = self._local_counts.get(name, 0)
        self._local_counts[name] = count + 1
        return f"{name}_" if not count else f"{name}_{count}"

    def add_constant(self, name: str, value: object) -> str:
        """Make `value` a constant of the function, and return its name."""
        self._constants.setdefault(name, value)
        return name

    def compile(self, title: str) -> Callable[..., Any]:
        """Return the function; tracebacks show `title` as its file."""
        file_name = f"<{title}>"
        text = self.text
        linecache.cache[file_name] = (len(text), None, text.splitlines(keepends=True), file_name)
        namespace = dict(self._constants)
        exec(compile(text, file_name, "exec"), namespace)  # noqa: S102 - the text is ours
        function: Callable[..., Any] = namespace[text[4 : text.index("(")]]  # type: ignore[assignment]
        return function
