"""`kafka-shim trace JOB` and `--engine local`: the jobs about ACLs in one process, without Java."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.pipeline import engine_choice, local
from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
from kafka_shim.pipeline.jobs import JOBS, import_job
from kafka_shim.pipeline.trace_input import local_trace_input
from kafka_shim.policy.formats import format_acls_losslessly
from tests.pipeline import twin
from tests.pipeline.asking import parsed
from tests.pipeline.traces import random_acls, random_trace

SUPERS = ("User:root",)


class Recorded:
    """A trace, the ACLs that decided it, and the file of these ACLs."""

    def __init__(self, folder: Path) -> None:
        rng = random.Random(7)
        self.acls = random_acls(rng, 25)
        self.trace = str(folder / "trace")
        authorizer = StandardAuthorizer(super_users=SUPERS, store=AclStore(self.acls))
        random_trace(folder / "trace", rng, authorizer, 200)
        self.acl_file = str(folder / "acls.csv")
        Path(self.acl_file).write_text(format_acls_losslessly(self.acls, "csv"))
        self.seen = twin.accesses(folder / "trace")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(tmp_path_factory.mktemp("recorded"))


def result(capsys: Any, *words: str) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_first_answer_does_not_wait_for_pandas(recorded: Recorded) -> None:
    pytest.importorskip("pandas")
    script = (
        "import sys; from kafka_shim.cli import main\n"
        f"code = main(['pipeline', 'denials', {recorded.trace!r}])\n"
        "print(code, 'pandas' in sys.modules, 'pyarrow.compute' in sys.modules)\n"
        "import pyarrow as pa; print(len(pa.table({'a': [1]}).to_pandas()))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-2:] == ["0 False False", "1"]


def test_each_job_runs_without_a_jvm(
    recorded: Recorded, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    acls = ("--acls", recorded.acl_file)
    denied = sum(not access["allowed"] for access in recorded.seen)
    rows = result(capsys, "pipeline", "denials", recorded.trace)["rows"]
    assert sum(row["requests"] for row in rows) == denied
    assert result(capsys, "pipeline", "clients", recorded.trace)["rows"] == []  # no frames
    assert result(capsys, "pipeline", "damage", recorded.trace)["rows"] == []
    assert result(capsys, "pipeline", "what-breaks", recorded.trace, *acls)["rows"] == []
    rows = result(capsys, "pipeline", "unused-acls", recorded.trace, *acls)["rows"]
    assert len(rows) == len(recorded.acls)
    assert result(capsys, "pipeline", "least-acls", recorded.trace)["changes"] == 0


def test_a_lake_gives_the_same_result_as_its_trace(
    recorded: Recorded, tmp_path: Path, capsys: Any
) -> None:
    lake = tmp_path / "lake"
    (lake / "_runs").mkdir(parents=True)
    engine = DuckDbEngine()
    tables = local.LocalTraceTables(engine, [recorded.trace], {})
    for name in ("accesses", "requests", "damage"):
        engine.write_parquet(tables.table(name), str(lake / name / "date=2023-11-14"))
    words = ("pipeline", "denials", "--engine", "duckdb", "--acls", recorded.acl_file)
    of_lake, of_trace = (result(capsys, *words, path) for path in (str(lake), recorded.trace))
    assert of_lake == of_trace
    assert of_lake["rows"]


def test_denials_are_counted_by_interval(recorded: Recorded, capsys: Any) -> None:
    words = ("pipeline", "denials", recorded.trace, "--interval", "1 second")
    rows = result(capsys, *words)["rows"]
    assert sum(row["requests"] for row in rows) == sum(not a["allowed"] for a in recorded.seen)
    assert {row["time"] for row in rows} == {"2023-11-14T22:13:20+00:00"}


def test_rows_are_written_as_parquet(recorded: Recorded, tmp_path: Path, capsys: Any) -> None:
    folder = str(tmp_path / "rows")
    assert main(["pipeline", "denials", recorded.trace, "--parquet", folder]) == 0
    assert f"{pq.read_table(folder).num_rows} rows written to {folder}" in capsys.readouterr().out


def test_the_engine_is_chosen_by_bytes_and_job(
    recorded: Recorded, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choice(*words: str) -> engine_choice.EngineChoice:
        return engine_choice.choose_engine(parsed(*words))

    assert choice("denials", recorded.trace).engine == "duckdb"
    assert choice("denials", recorded.trace, "--engine", "spark").engine == "spark"
    assert choice("denials", recorded.trace, "--master", "local[1]").engine == "spark"
    assert {job for job in JOBS if import_job(job).is_stream} == {"ingest", "watch"}
    assert "watch has no other engine" in choice("watch", recorded.trace).reason
    chained = choice("denials", recorded.trace, "--then", "watch", recorded.trace)
    assert chained.engine == "spark"
    assert main(["pipeline", "denials", recorded.trace]) == 0
    assert capsys.readouterr().out.startswith("engine: DuckDB, since ")
    monkeypatch.setattr(engine_choice, "INPUT_BYTES_MAX", 1000)
    large = choice("denials", recorded.trace)
    assert (large.engine, "more than" in large.reason) == ("spark", True)
    monkeypatch.setenv("SPARK_REMOTE", "sc://x")
    assert choice("denials", recorded.trace).engine == "spark"


def test_only_spark_accesses_urls(
    recorded: Recorded, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["denials", recorded.trace, "--parquet", "nosuch://x/y"]
    assert engine_choice.choose_engine(parsed(*words)).engine == "spark"
    assert main(["pipeline", *words, "--engine", "duckdb"]) == 2
    assert "only Spark can access nosuch://x/y" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_job_that_needs_spark_says_so(recorded: Recorded, capsys: Any) -> None:
    words = ["pipeline", "denials", recorded.trace, "--engine", "duckdb"]
    assert main([*words, "--then", "watch", recorded.trace]) == 2
    assert "watch runs on Spark only" in capsys.readouterr().err


def test_an_error_of_the_engine_is_one_line(
    recorded: Recorded, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> str:
        raise duckdb.OutOfMemoryException("could not allocate\nmore lines")

    monkeypatch.setattr(DuckDbEngine, "sql", fail)
    assert main(["pipeline", "denials", recorded.trace]) == 1
    assert capsys.readouterr().err == "kafka-shim pipeline denials: could not allocate\n"


def test_traces_can_be_read_in_python(recorded: Recorded) -> None:
    trace = local_trace_input([recorded.trace])
    rows = trace.engine.rows(trace.accesses_of_requests())
    assert sum(row["requests"] for row in rows) == len(recorded.seen)


def test_a_principal_can_be_selected(recorded: Recorded, capsys: Any) -> None:
    words = ("pipeline", "denials", recorded.trace, "--principal", "User:alice")
    found = result(capsys, *words)
    mine = [access for access in recorded.seen if access["principal"] == "User:alice"]
    assert found["accesses"] == len(mine) > 0
    assert sum(row["requests"] for row in found["rows"]) == sum(not a["allowed"] for a in mine)
    assert {row["principal"] for row in found["rows"]} == {"User:alice"}
    assert main(["pipeline", "denials", recorded.trace, "--principal", "alice"]) == 2
    assert "--principal `alice`: expected Type:name" in capsys.readouterr().err


def test_what_does_not_fit_into_memory_is_in_the_folder_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine

    temporary, current = tmp_path / "temporary", tmp_path / "current"
    temporary.mkdir()
    current.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.chdir(current)
    engine = DuckDbEngine()
    engine.connection.execute("set memory_limit = '60MB'")
    engine.connection.execute("set threads = 1")
    text = "hash(range)::varchar || hash(range + 1)::varchar as text"
    table = engine.materialize(engine.sql(f"select {text} from range(3000000)"))
    assert engine.count_rows(table) == 3_000_000
    (folder,) = temporary.iterdir()
    assert list(folder.iterdir())
    engine.connection.close()
    assert [*temporary.iterdir(), *current.iterdir()] == []
