"""Builds and compiles the source of functions; tracebacks and debuggers show it."""

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

INDENT = "    "


class Source:
    """The lines of a function, its local names, and its constants."""

    def __init__(self, signature: str) -> None:
        self._lines = [f"def {signature}:"]
        self._depth = 1
        self._first = self._first_depth = 0  # where `at_first` puts its next line
        self._taken: dict[str, int] = {}
        self._constants: dict[str, object] = {}

    @property
    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    def line(self, text: str) -> None:
        self._lines.append(INDENT * self._depth + text)

    def here_is_first(self) -> None:
        """Let `at_first` put its lines here."""
        self._first, self._first_depth = len(self._lines), self._depth

    def at_first(self, text: str) -> None:
        """Write a line at the place of `here_is_first`, in its block."""
        self._lines.insert(self._first, INDENT * self._first_depth + text)
        self._first += 1

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write `head:`, and indent the lines of the `with` block (at least one)."""
        self.line(f"{head}:")
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def straight(self) -> Iterator[None]:
        """Replace `block` where no condition is needed."""
        yield

    def local(self, name: str) -> str:
        """Return an unused name for a local variable."""
        taken = self._taken.get(name, 0)
        self._taken[name] = taken + 1
        return f"{name}_" if not taken else f"{name}_{taken}"

    def constant(self, name: str, value: object) -> str:
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
