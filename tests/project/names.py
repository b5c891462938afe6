"""Draw functions and classes for a blind reader:
`python -m tests.project.names --seed N [--package shim]`.

A reader who has not seen the code gets the questions, paths and signatures only, and writes down
what each does. Then he compares with the answers, which have the docstrings and the sources.
"""

import argparse
import ast
import random
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from tests.docs.shown import ROOT

SOURCE_FOLDER: Final = ROOT / "src" / "kafka_shim"
PACKAGES: Final = ("shim", "authorizer", "protocol", "pipeline")
GENERATED: Final = SOURCE_FOLDER / "protocol" / "messages"


class Definition(NamedTuple):
    """A function, method or class of the package."""

    path: str
    """Relative to the package, as `protocol/records/batches.py`."""
    name: str
    """Qualified by its class."""
    signature: str
    docstring: str
    source: str


@cache
def definitions(folder: Path) -> list[Definition]:
    """Return all functions, methods and classes below a folder, in a fixed order.

    Special methods, functions in functions and generated messages are left out.
    """
    return [
        definition
        for path in sorted(folder.rglob("*.py"))
        if not path.is_relative_to(GENERATED)
        for definition in _definitions_of_module(path)
    ]


def _definitions_of_module(path: Path) -> Iterator[Definition]:
    text = path.read_text(encoding="utf-8")
    relative = path.relative_to(SOURCE_FOLDER).as_posix()

    def walk(body: Sequence[ast.stmt], prefix: str) -> Iterator[Definition]:
        for node in body:
            if isinstance(node, ast.If):
                yield from walk([*node.body, *node.orelse], prefix)
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            name = prefix + node.name
            if not node.name.startswith("__"):
                yield Definition(
                    relative,
                    name,
                    _signature(node, name),
                    ast.get_docstring(node) or "(none)",
                    ast.get_source_segment(text, node) or "",
                )
            if isinstance(node, ast.ClassDef):
                yield from walk(node.body, f"{name}.")

    yield from walk(ast.parse(text).body, "")


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, name: str) -> str:
    decorators = "".join(f"@{ast.unparse(each)} " for each in node.decorator_list)
    if not isinstance(node, ast.ClassDef):
        start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
        returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        return f"{decorators}{start} {name}({ast.unparse(node.args)}){returned}"
    bases = ", ".join(ast.unparse(each) for each in [*node.bases, *node.keywords])
    lines = [f"{decorators}class {name}" + (f"({bases})" if bases else "")]
    lines += [f"       {line}" for each in node.body if (line := _field(each))]
    return "\n".join(lines)


def _field(node: ast.stmt) -> str:
    """Return a field, an enum's member or the constructor; empty for anything else in a class."""
    match node:
        case ast.AnnAssign() | ast.Assign():
            text = ast.unparse(node)
            return "" if text.startswith("__") else text
        case ast.FunctionDef(name="__init__"):
            return f"__init__({ast.unparse(node.args)})"
    return ""


def draw(folder: Path, seed: int, count: int) -> list[Definition]:
    """Return a sample that depends on the seed and the code only, in random order."""
    candidates = definitions(folder)
    return random.Random(seed).sample(candidates, min(count, len(candidates)))


def questions(sample: Sequence[Definition]) -> str:
    """Return numbers, paths and signatures."""
    return "".join(
        f"{number:3}. {each.path} :: {each.signature}\n" for number, each in enumerate(sample, 1)
    )


def answers(sample: Sequence[Definition]) -> str:
    """Return docstrings and sources, with the numbers of the questions."""
    return "\n".join(
        f"{number:3}. {each.path} :: {each.name}\n{each.docstring}\n\n{each.source}\n"
        for number, each in enumerate(sample, 1)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.project.names", description=__doc__)
    parser.add_argument(
        "--seed", type=int, required=True, help="the same seed draws the same names"
    )
    parser.add_argument("--package", choices=PACKAGES, help="default: all of these")
    parser.add_argument("--count", type=int, default=80)
    parser.add_argument("--questions", type=Path, help="default: names-SEED-questions.txt")
    parser.add_argument("--answers", type=Path, help="default: names-SEED-answers.txt")
    options = parser.parse_args(arguments)
    sample = draw(SOURCE_FOLDER / (options.package or ""), options.seed, options.count)
    for path, kind, text in (
        (options.questions, "questions", questions(sample)),
        (options.answers, "answers", answers(sample)),
    ):
        file = path or Path(f"names-{options.seed}-{kind}.txt")
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{file}: {len(sample)} {kind}\n")


if __name__ == "__main__":
    main()
