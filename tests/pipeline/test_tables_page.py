"""docs/reference/tables.md and examples/traces.ipynb work, and list the real columns."""

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.tables import TABLES, spark_ddl
from tests.docs.shown import ROOT, blocks
from tests.pipeline.traces import made, random_acls, random_trace

PAGE = "docs/reference/tables.md"
NOTEBOOK = ROOT / "examples" / "traces.ipynb"
INTERNAL = {"added_needs", "pieces", "sightings"}
"""Tables for jobs only, which the page does not list."""


def test_the_columns_are_those_of_the_tables() -> None:
    sections = re.split(r"^### (\w+)$", (ROOT / PAGE).read_text(), flags=re.MULTILINE)[1:]
    found = dict(zip(sections[::2], sections[1::2], strict=True))
    assert found.keys() == TABLES.keys() - INTERNAL
    for table, text in found.items():
        columns = re.findall(r"^\| `(\w+)` \| (\S+) \| \S", text, re.MULTILINE)
        assert ", ".join(f"`{name}` {kind}" for name, kind in columns) == spark_ddl(
            TABLES[table]
        ), table


@pytest.mark.spark
@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_what_the_page_shows_works(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    pytest.importorskip("duckdb")
    acls = random_acls(random.Random(3), 20)
    made(tmp_path / "trace")
    random_trace(tmp_path / "trace", random.Random(4), StandardAuthorizer(store=AclStore(acls)), 60)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks():
        if (block.page, block.language) == (PAGE, "py"):
            # Spark's JVM started in another folder, so the page's relative paths must be absolute
            text = re.sub(r"""(["'])trace\1""", rf"\1{tmp_path}/trace\1", block.text)
            exec(compile(text, PAGE, "exec"), names)
    assert names["found"].num_rows == names["accesses"].count() == 62
    assert sum(row[2] for row in names["most"].fetchall()) <= 62
    assert len(names["responses"]) == 2
    assert spark.table("live").count() == 62
    printed = capsys.readouterr().out
    assert "denied" in printed


@pytest.mark.spark
@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_the_notebook_works(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert spark
    pytest.importorskip("duckdb")
    from examples.pipeline_demo import BREAKS, changes

    monkeypatch.setattr(sys, "path", [str(NOTEBOOK.parent), *sys.path])
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            exec(compile("".join(cell["source"]), NOTEBOOK.name, "exec"), names)
            if "breaks" in names and "change" not in names:
                names["change"] = names["breaks"].collect()
    assert changes([row.asDict() for row in names["change"]]) == BREAKS
    assert {row[0] for row in names["denied"].fetchall()} == {"User:carol"}
