"""Each weakness on the security page names tests, and they exist."""

import ast
import re

from tests.docs.shown import ROOT

_ROW = re.compile(r"^\| (CVE-\d{4}-\d+) ", re.MULTILINE)
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
KNOWN = {
    "CVE-2017-12610", "CVE-2018-1288", "CVE-2018-17196", "CVE-2021-38153", "CVE-2022-34917",
    "CVE-2023-25194", "CVE-2023-34455", "CVE-2024-27309", "CVE-2024-56128", "CVE-2025-27817",
    "CVE-2025-27818", "CVE-2025-27819", "CVE-2026-33557", "CVE-2026-33558", "CVE-2026-41115",
    "CVE-2026-83525", "CVE-2026-110985", "CVE-2026-111073", "CVE-2026-111108", "CVE-2026-111115",
}  # fmt: skip


def rows() -> dict[str, str]:
    """The rows of the table, by CVE."""
    page = (ROOT / "docs" / "explanation" / "security.md").read_text()
    return {_ROW.match(line)[1]: line for line in page.splitlines() if _ROW.match(line)}  # type: ignore[index]


def test_every_published_weakness_has_a_row() -> None:
    assert set(rows()) == KNOWN


def test_every_row_names_tests_that_exist() -> None:
    for cve, line in rows().items():
        named = _TEST.findall(line)
        assert named, f"{cve}: no test is named"
        for path, name in named:
            tree = ast.parse((ROOT / path).read_text())
            functions = {
                node.name
                for node in ast.walk(tree)
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            }
            assert name in functions, f"{cve}: {path} has no {name}"
