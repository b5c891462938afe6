"""kafka-shim pipeline: what it says without Spark, and what it prints with it."""

import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from authorizer.authorizer import StandardAuthorizer
from authorizer.store import AclStore
from pipeline import cli, requisites
from pipeline.acl_lines import FORMATS, as_format
from pipeline.acl_set import AclSet, acl_text, parse_rule, read_acls
from pipeline.errors import PipelineError
from tests.pipeline import twin
from tests.pipeline.traces import random_acls, random_trace

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


def test_every_form_of_acls_reads_back(tmp_path: Path) -> None:
    acls = random_acls(random.Random(5), 40)
    for form in FORMATS:
        text = as_format(acls, form)
        if form == "commands":
            assert text.count("kafka-acls --add ") == len(acls)
            continue
        path = tmp_path / form
        path.write_text(text)
        assert set(read_acls(str(path))) == set(acls), form
    for acl in acls:
        assert parse_rule(acl_text(acl)) == acl
    assert parse_rule("DefaultDeny") is None


def test_a_file_that_is_no_acls_is_said(tmp_path: Path) -> None:
    path = tmp_path / "acls"
    path.write_text("- {principal: User:a, allow: Fly, topic: x}")
    with pytest.raises(PipelineError, match="Fly"):
        read_acls(str(path))
    with pytest.raises(PipelineError, match="cannot be read"):
        read_acls(str(tmp_path / "none"))


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, AclSet]:
    folder = tmp_path_factory.mktemp("cli")
    rng = random.Random(9)
    acls = random_acls(rng, 20)
    authorizer = StandardAuthorizer(super_users=["User:root"], store=AclStore(acls))
    random_trace(folder / "trace", rng, authorizer, 200)
    candidate = folder / "candidate.yaml"
    candidate.write_text(as_format(acls[3:], "yaml"))
    return folder / "trace", candidate, AclSet(tuple(acls[3:]), ("User:root",))


@pytest.mark.spark
@pytest.mark.timeout(180)
def test_what_breaks_prints_what_is_found_and_fails_if_asked(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    trace, candidate, acl_set = traced
    words = ("what-breaks", str(trace), "--acls", str(candidate))
    expected = twin.what_breaks(twin.accesses(trace), list(acl_set.acls), acl_set.super_users)
    assert cli.run(parsed(*words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accesses"] == 200
    assert found["super_users"] == ["User:root"]
    assert len(found["rows"]) == len(expected)
    assert found["newly_denied"] == sum(key[0] == "newly denied" for key in expected)
    assert cli.run(parsed(*words, "--fail")) == (3 if found["newly_denied"] else 0)
    out = capsys.readouterr().out
    assert f"{found['newly_denied']} newly denied, {found['newly_allowed']} newly allowed" in out
    assert cli.run(parsed(*words, "--csv")) == 0
    assert capsys.readouterr().out.count("\n") == len(expected) + 1
    assert cli.run(parsed(*words, "--parquet", str(tmp_path / "out"))) == 0
    assert spark.read.parquet(str(tmp_path / "out")).count() == len(expected)


@pytest.mark.spark
@pytest.mark.timeout(180)
def test_least_acls_can_be_used_as_they_are_printed(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace, _, _ = traced
    assert cli.run(parsed("least-acls", str(trace), "--format", "yaml")) == 0
    printed = capsys.readouterr()
    path = tmp_path / "least.yaml"
    path.write_text(printed.out)
    assert "all observed decisions are the same" in printed.err
    again = read_acls(str(path))
    assert twin.what_breaks(twin.accesses(trace), again, ("User:root",)) == {}


@pytest.mark.spark
@pytest.mark.timeout(180)
def test_mistakes_are_said_before_spark_works(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace = str(traced[0])
    for words, text in (
        (("denials", str(tmp_path)), "there are no segments in"),
        (("denials", trace, "--since", "yesterday"), "since is `yesterday`"),
        (("denials", trace, "--apis", "Fetsch"), "there is no API `Fetsch`"),
        (("denials", trace, "--kafka-version", "7.7"), "`7.7` is no release known here"),
    ):
        assert cli.run(parsed(*words)) == 1
        assert text in capsys.readouterr().err
