"""Run examples/traces.ipynb as Jupyter does: `python -m tests.pipeline.notebook` (Java 17).

It stores the outputs in the notebook, with a digest of the code and files that they come from.
"""

import ast
import contextlib
import hashlib
import io
import json
from typing import Any

from tests.docs.shown import ROOT

EXAMPLES = ROOT / "examples"
NOTEBOOK = EXAMPLES / "traces.ipynb"
INPUTS = (*sorted((EXAMPLES / "trace").iterdir()), EXAMPLES / "pipeline_demo_candidate.yaml")


def read() -> dict[str, Any]:
    """Return the notebook's JSON."""
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text())
    return notebook


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def digest(notebook: dict[str, Any]) -> str:
    """Return the digest of what determines the outputs: the code cells and the files they read."""
    sources = [cell["source"] for cell in code_cells(notebook)]
    inputs = b"".join(path.read_bytes() for path in INPUTS)
    return hashlib.sha256(json.dumps(sources).encode() + inputs).hexdigest()


def run(notebook: dict[str, Any]) -> dict[str, Any]:
    """Run the cells in order, store their outputs, and return the names that they bind.

    The current folder must be that of the notebook.
    """
    names: dict[str, Any] = {}
    for count, cell in enumerate(code_cells(notebook), 1):
        cell["execution_count"] = count
        cell["outputs"] = outputs_of("".join(cell["source"]), names, count)
    notebook["metadata"]["digest"] = digest(notebook)
    return names


def outputs_of(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run a cell; return what it prints, and the value of its last statement if it has one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, NOTEBOOK.name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed)})
    if value is not None:
        content = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            content["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append(
            {
                "data": content,
                "execution_count": count,
                "metadata": {},
                "output_type": "execute_result",
            }
        )
    return outputs


def _lines(printed: io.StringIO) -> list[str]:
    return printed.getvalue().splitlines(keepends=True)


def main() -> None:
    notebook = read()
    with contextlib.chdir(EXAMPLES):
        run(notebook)
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
