"""Docstrings name functions, parameters and fields that exist.

A name with an underscore or a call exists somewhere in the package. A name that a sentence about a
function or class is about, such as `limit_ms` in "`limit_ms` is in milliseconds", exists in its
module.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
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


def docstrings(tree: ast.AST) -> Iterator[ast.Constant]:
    """Yield the texts that are statements: docstrings, also those of fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def names_of_code(tree: ast.AST) -> Iterator[str]:
    """Yield the identifiers of a module, and the words of its texts that are no docstrings."""
    documentation = set(map(id, docstrings(tree)))
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, str) and id(node) not in documentation:
                yield from WORD.findall(value)
            elif isinstance(value, list):
                yield from (name for name in value if isinstance(name, str))


def missing_names(tree: ast.AST, existing: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the line of each docstring and the names in it that are not in `existing`."""
    for node in docstrings(tree):
        for match in IDENTIFIER.finditer(str(node.value)):
            name = match[1].rpartition(".")[2]
            if ("_" in name or match[2]) and name not in existing:
                yield node.lineno, match[1]


def missing_subjects(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and name of each sentence about something that its module does not have."""
    own = set(names_of_code(tree)) | NOT_PYTHON
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in SUBJECT.findall(ast.get_docstring(node) or ""):
                if name not in own:
                    yield node.lineno, name


@cache
def all_names() -> set[str]:
    files = [*SOURCE_FOLDER.rglob("*.py")]
    stems = {part for path in files for part in path.with_suffix("").parts}
    return stems | _names_in(read(path) for path in files)


def _names_in(texts: Iterable[str]) -> set[str]:
    return {name for text in texts for name in names_of_code(ast.parse(text))}


def test_names_in_docstrings_exist() -> None:
    existing = all_names() | NOT_PYTHON
    check(
        f"{relative(path)}:{line} `{name}` does not exist"
        for path in SOURCES
        for tree in [ast.parse(read(path))]
        for line, name in (*missing_names(tree, existing), *missing_subjects(tree))
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
    tree = ast.parse(text)
    missing = sorted(name for _, name in missing_names(tree, _names_in([text])))
    assert missing == ["gone", "old_name", "old_rows"]
    assert [name for _, name in missing_subjects(tree)] == ["strict", "wait"]
