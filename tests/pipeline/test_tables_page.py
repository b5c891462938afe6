"""docs/reference/tables.md and examples/traces.ipynb work, and list the real columns."""

import json
import random
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.pipeline.jobs.least_acls import least_acls
from kafka_shim.pipeline.jobs.what_breaks import what_breaks
from kafka_shim.pipeline.tables import TABLES, spark_ddl
from kafka_shim.pipeline.trace_input import local_trace_input
from tests.docs.shown import ROOT, blocks
from tests.pipeline.notebook import EXAMPLES, code_cells, digest, read, run
from tests.pipeline.traces import made, random_acls, random_trace
from tests.support.generated_files import outdated

PAGE = "docs/reference/tables.md"
INTERNAL = {"added_needs", "pieces", "request_accesses", "sightings"}
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


def stored_table(notebook: dict[str, Any], words: str) -> list[dict[str, str]]:
    """Return the rows of the table that the cell with these words has stored."""
    [cell] = [c for c in code_cells(notebook) if words in "".join(c["source"])]
    [output] = cell["outputs"]
    ruler, *lines = [line for line in output["text"] if line[0] in "+|"]
    ends = [at for at, sign in enumerate(ruler) if sign == "+"]
    head, *rows = [
        [line[start + 1 : end].strip() for start, end in pairwise(ends)]
        for line in lines
        if line[0] == "|"
    ]
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_the_notebook_has_the_outputs_of_its_code() -> None:
    notebook = read()
    cells = code_cells(notebook)
    assert notebook["metadata"]["digest"] == digest(notebook), outdated("examples/traces.ipynb")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert sum(bool(cell["outputs"]) for cell in cells) == 5
    assert not re.search(r"\d\d:\d\d|/tmp|/home|\.venv", json.dumps(cells))


def test_what_the_notebook_shows_is_what_duckdb_finds() -> None:
    pytest.importorskip("duckdb")
    candidate = AclSet(
        tuple(read_distinct_acls_from_file(str(EXAMPLES / "pipeline_demo_candidate.yaml"))),
        super_users=("User:admin",),
    )
    trace = local_trace_input([str(EXAMPLES / "trace")])
    seen = trace.accesses_of_requests()
    breaks = trace.engine.rows(what_breaks(trace.engine, seen, candidate))
    shown = stored_table(read(), "what_breaks(")
    assert shown == sorted(
        ({name: str(row[name]) for name in shown[0]} for row in breaks),
        key=lambda row: tuple(row.values()),
    )
    least = trace.engine.rows(least_acls(trace.engine, seen, None, ["User:admin"]))
    assert {row["acl"]: row["requests"] for row in stored_table(read(), "least_acls(")} == {
        row["acl"]: str(row["requests"]) for row in least
    }


@pytest.mark.spark
@pytest.mark.heavy
@pytest.mark.timeout(600)
def test_the_notebook_gives_the_outputs_that_it_has(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert spark
    pytest.importorskip("duckdb")
    monkeypatch.chdir(EXAMPLES)
    notebook = read()
    names = run(notebook)
    assert notebook == read()
    assert {row[0] for row in names["denied"].fetchall()} == {"User:carol"}
