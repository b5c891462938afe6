"""No class is the base of a single other one: what belongs together is one class, or composed.

Inheritance used to cut long files: a class was continued in its only subclass.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.project.test_tidy import SOURCE_FOLDER, SOURCES, read, relative

STRUCTURAL: Final = ("Protocol", "TypedDict")
"""Shapes for type checkers: an extended one has more members, and no code is shared."""

CATCHABLE: Final = ("PipelineError",)
"""Roots of exceptions: callers catch the root, whichever of its errors it is."""

USED_ITSELF: Final = {
    "Dispatcher": "responds for a cluster; a playback's responds from a recording",
    "PendingResponse": "of a handler that waits; a playback's response also comes later by itself",
    "PlayedConnection": "plays only; in the mode new-episodes, a connection also forwards",
    "SaslFailure": "of a client; a playback's says that its authentication was not recorded",
    "Client": "raises if there is no response; a connection of the vectors returns what happened",
    "History": "a broker's; the conformance suite's also keeps responses",
    "Partition": "all but those of the topic of groups, whose subclass makes `log` a property:"
    " slower for each access",
    "PartitionLog": "in memory; with --data-dir the subclass also reports changes",
    "PartitionProducers": "those of a log in memory, as above; one per partition, so that a field"
    " for a listener would cost memory",
}
"""Bases of a single subclass that are created themselves, and the reason for the subclass."""


class Class(NamedTuple):
    """A class of the package, its bases as qualified names, and where it is defined."""

    name: str
    bases: tuple[str, ...]
    place: str


def classes() -> Iterator[Class]:
    for path in SOURCES:
        tree = ast.parse(read(path))
        module = ".".join(("kafka_shim", *path.relative_to(SOURCE_FOLDER).with_suffix("").parts))
        names = _imported(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base).partition("[")[0] for base in node.bases]
                yield Class(
                    f"{module}.{node.name}",
                    tuple(names.get(base, f"{module}.{base}") for base in bases),
                    f"{relative(path)}:{node.lineno}",
                )


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the names that a module imports, with what they stand for."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@cache
def single_bases() -> dict[str, Class]:
    """Return the classes with exactly one subclass, by their plain names."""
    found = list(classes())
    counts: dict[str, int] = defaultdict(int)
    for each in found:
        for base in set(each.bases):
            counts[base] += 1
    return {
        each.name.rpartition(".")[2]: each
        for each in found
        if counts[each.name] == 1
        and not any(base.rpartition(".")[2] in STRUCTURAL for base in each.bases)
    }


def test_no_class_is_the_base_of_a_single_other_one() -> None:
    offenders = {
        name: each.place
        for name, each in single_bases().items()
        if name not in USED_ITSELF and name not in CATCHABLE
    }
    assert offenders == {}, "make it one class, or let one hold the other"


def test_every_exception_is_still_needed() -> None:
    assert {*USED_ITSELF, *CATCHABLE} <= single_bases().keys()


def test_bases_with_a_reason_are_created_themselves() -> None:
    texts = [read(path) for path in (*SOURCES, *Path(SOURCE_FOLDER).glob("*.py"))]
    for name in USED_ITSELF:
        call = re.compile(rf"(?<!class )\b{name}\(|default_factory={name}\b|= \(?\s*{name}\b")
        assert any(call.search(text) for text in texts), name


def test_exceptions_are_subclasses_of_exception() -> None:
    for name in CATCHABLE:
        assert single_bases()[name].bases[0].rpartition(".")[2] == "Exception"


def test_methods_call_no_other_method_of_their_base_by_super() -> None:
    """A method renamed in the base class alone no longer overrides it, and type checkers pass."""
    offenders = [
        f"{relative(path)}:{call.lineno}: {method.name} calls super().{call.attr}"
        for path in SOURCES
        if "super()." in read(path)
        for owner in ast.walk(ast.parse(read(path)))
        if isinstance(owner, ast.ClassDef)
        for method in owner.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef)
        for call in ast.walk(method)
        if isinstance(call, ast.Attribute)
        and ast.unparse(call.value) == "super()"
        and call.attr != method.name
    ]
    assert offenders == []
