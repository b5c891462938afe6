"""Docstrings name functions, parameters and fields that exist.

A name with an underscore or a call exists somewhere in the package. A name that a sentence about a
function or class is about, such as `limit_ms` in "`limit_ms` is in milliseconds", exists in its
module.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.project.test_tidy import SOURCE_FOLDER, SOURCES, check, read, relative

IDENTIFIER: Final = re.compile(r"`([A-Za-z_][\w.]*)(\([^`\n]*\))?`")
SUBJECT: Final = re.compile(
    r"(?:\A|[.;]\s+|\n\s*\n\s*|\b(?:[Ww]ith|[Ww]ithout|Unless|Call)\s+)`([a-z_][a-z0-9_]*)`"
)
"""A name at the beginning of a sentence or clause."""
WORD: Final = re.compile(r"[A-Za-z_]\w*")
NOT_PYTHON: Final = {
    "allow_alice_read_topic_orders",
    "READ_hiB",
    "X500Principal.getName",
    "getName",
    "websit",
    "position",
}
"""Examples of results, and names in Java and SQL."""


class Module:
    """The docstrings of a module, those of its functions and classes, and its names."""

    def __init__(self, text: str) -> None:
        nodes = list(ast.walk(ast.parse(text)))
        texts = [
            node.value
            for node in nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ]
        documentation = set(map(id, texts))
        self.names = {
            name for node in nodes if id(node) not in documentation for name in _names_of(node)
        }
        self.docstrings = [(node.lineno, str(node.value)) for node in texts]
        self.documented = [
            (node.lineno, ast.get_docstring(node) or "")
            for node in nodes
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]


def _names_of(node: ast.AST) -> Iterator[str]:
    """Yield the identifiers of a node, and the words of its text."""
    for value in vars(node).values():
        if isinstance(value, str):
            yield from WORD.findall(value)
        elif isinstance(value, list):
            yield from (name for name in value if isinstance(name, str))


def missing_names(module: Module, existing: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line of each docstring and the names in it that are not in `existing`."""
    for line, text in module.docstrings:
        for match in IDENTIFIER.finditer(text):
            name = match[1].rpartition(".")[2]
            if ("_" in name or match[2]) and name not in existing:
                yield line, match[1]


def missing_subjects(module: Module) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each sentence about something that its module does not have."""
    own = module.names | NOT_PYTHON
    for line, text in module.documented:
        for name in SUBJECT.findall(text):
            if name not in own:
                yield line, name


@cache
def module_at(path: Path) -> Module:
    return Module(read(path))


def all_names() -> set[str]:
    files = [*SOURCE_FOLDER.rglob("*.py")]
    stems = {part for path in files for part in path.with_suffix("").parts}
    return stems.union(*(module_at(path).names for path in files))


def test_names_in_docstrings_exist() -> None:
    existing = all_names() | NOT_PYTHON
    check(
        f"{relative(path)}:{line} `{name}` does not exist"
        for path in SOURCES
        for module in [module_at(path)]
        for line, name in (*missing_names(module, existing), *missing_subjects(module))
    )


def test_a_name_that_only_docstrings_have_is_missing() -> None:
    text = """\
def new_name(limit_ms):
    \'\'\'See `old_name`, `new_name()`, `gone()` and `limit_ms`. `limit_ms` is no `limit`.

    With `strict`, it waits; `wait` is unknown.
    \'\'\'
rows = {"a_key": 1}
\'\'\'Not `old_rows` but `a_key`.\'\'\'
"""
    module = Module(text)
    missing = sorted(name for _, name in missing_names(module, module.names))
    assert missing == ["gone", "old_name", "old_rows"]
    assert [name for _, name in missing_subjects(module)] == ["strict", "wait"]
