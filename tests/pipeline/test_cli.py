"""kafka-shim pipeline: what it says without Spark, and what it prints with it."""

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from authorizer.acl_formats import write
from pipeline import cli, requisites
from pipeline.acl_set import read_acls
from pipeline.errors import PipelineError
from tests.pipeline.traces import random_acls

ROOT = Path(__file__).parents[2]


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    cli.add_arguments(parser)
    return parser.parse_args(words)


def shim(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "shim", "pipeline", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)} | environment,
    )


def test_without_java_one_line_says_so(tmp_path: Path) -> None:
    done = shim("denials", str(tmp_path), JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"kafka-shim pipeline: JAVA_HOME is `{tmp_path}`, and there is no bin/java in it\n"
    )
    done = shim("denials", str(tmp_path), JAVA_HOME="", PATH=str(tmp_path))
    assert done.stderr.startswith("kafka-shim pipeline: Spark needs Java 17")
    assert done.stderr.count("\n") == 1


def test_without_the_extra_one_line_says_so(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(requisites, "find_spec", lambda _: None)
    assert cli.run(parsed("denials", "x")) == 1
    assert capsys.readouterr().err == (
        "kafka-shim pipeline: Spark is not installed; run: pip install 'kafka-shim[pipeline]'\n"
    )


def test_the_command_line_imports_neither_spark_nor_arrow() -> None:
    script = (
        "import sys, pipeline.cli; from shim.cli import main\n"
        "try: main(['pipeline', '--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('pyspark', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_acls_are_read_in_any_form(tmp_path: Path) -> None:
    acls = random_acls(random.Random(5), 40)
    path = tmp_path / "acls"
    for form in ("yaml", "csv"):
        path.write_text(write(acls, form))
        assert set(read_acls(str(path))) == set(acls), form


def test_a_file_that_is_no_acls_is_said(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("- {principal: User:a, allow: Fly, topic: x}")
    with pytest.raises(PipelineError, match="Fly"):
        read_acls(str(path))
    with pytest.raises(PipelineError, match="cannot be read"):
        read_acls(str(tmp_path / "none"))
