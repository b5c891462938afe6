"""The pipeline's commands: their output, files and errors."""

import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline import cli
from kafka_shim.pipeline.acls.acl_set import AclSet, read_distinct_acls_from_file
from kafka_shim.policy.formats import FORMATS, format_acls_losslessly, parse_distinct_acls
from kafka_shim.policy.formats.yaml_rules import parse_rule
from kafka_shim.protocol.api_versions import RELEASES
from tests.pipeline import twin
from tests.pipeline.asking import parsed, response
from tests.pipeline.traces import (
    START_US,
    made,
    random_acls,
    random_trace,
)
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.timeout(600)]
OLD, NEW = "3.9", "4.0"
LOCAL, SPARK = ("--engine", "duckdb"), ("--engine", "spark")
"""For what is the same on both engines: Spark takes seconds for each command."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, AclSet]:
    folder = tmp_path_factory.mktemp("cli")
    twin.RULES = acl_rules_of_release(RELEASES[-1])
    rng = random.Random(9)
    acls = random_acls(rng, 20)
    authorizer = StandardAuthorizer(super_users=["User:root"], store=AclStore(acls))
    random_trace(folder / "trace", rng, authorizer, 200)
    candidate = folder / "candidate.yaml"
    candidate.write_text(format_acls_losslessly(acls[3:], "yaml"))
    return folder / "trace", candidate, AclSet(tuple(acls[3:]), ("User:root",))


def test_what_breaks_prints_what_is_found_and_fails_if_asked(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    trace, candidate, acl_set = traced
    words = ("what-breaks", str(trace), "--acls", str(candidate), "--accept-incomplete")
    on_spark = (*words, *SPARK)
    expected = twin.what_breaks(twin.accesses(trace), list(acl_set.acls), acl_set.super_users)
    assert cli.run(parsed(*words, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accesses"] == 200
    assert found["super_users"] == ["User:root"]
    assert len(found["rows"]) == len(expected)
    assert found["newly_denied"] == sum(key[0] == "newly denied" for key in expected)
    assert cli.run(parsed(*words, "--fail-on", "loss")) == (3 if found["newly_denied"] else 0)
    assert cli.run(parsed(*words, "--fail-on", "gain")) == (3 if found["newly_allowed"] else 0)
    out = capsys.readouterr().out
    assert f"{found['newly_denied']} newly denied, {found['newly_allowed']} newly allowed" in out
    assert cli.run(parsed(*words, "--csv")) == 0
    assert capsys.readouterr().out.count("\n") == len(expected) + 1
    assert cli.run(parsed(*on_spark, "--parquet", str(tmp_path / "out"))) == 0
    assert spark.read.parquet(str(tmp_path / "out")).count() == len(expected)


def test_jobs_of_one_command_share_a_session(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.spark.session import spark_session as session

    trace, _, _ = traced
    begun = []

    def spark_session(*words: Any, **options: Any) -> Any:
        begun.append(session(*words, **options).sparkContext.applicationId)
        return session(*words, **options)

    monkeypatch.setattr("kafka_shim.pipeline.job_runner.spark_session", spark_session)
    assert cli.run(parsed("damage", str(trace), *SPARK, "--then", "damage", str(trace))) == 0
    assert begun == [spark.sparkContext.applicationId] * 2
    assert capsys.readouterr().err == ""


def test_least_acls_can_be_used_as_they_are_printed(
    traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    trace, _, _ = traced
    assert cli.run(parsed("least-acls", str(trace), "--format", "yaml", *LOCAL)) == 0
    printed = capsys.readouterr()
    path = tmp_path / "least.yaml"
    path.write_text(printed.out)
    assert "the decisions on 200 accesses are the same" in printed.err
    again = read_distinct_acls_from_file(str(path))
    assert all(
        set(parse_distinct_acls(format_acls_losslessly(again, form))) == set(again)
        for form in FORMATS
    )
    assert twin.what_breaks(twin.accesses(trace), again, ("User:root",)) == {}


def test_least_acls_name_acls_to_add_and_to_remove(tmp_path: Path, capsys: Any) -> None:
    trace, present = tmp_path / "trace", tmp_path / "present.txt"
    rules: list[dict[str, Any]] = [
        {"principal": "User:a", "allow": "All", "topic": "orders"},
        {"principal": "User:b", "allow": "Read", "topic": "orders"},
    ]
    made(trace, *rules)
    present.write_text(
        format_acls_losslessly([acl for rule in rules for acl in parse_rule(rule)], "list")
    )
    assert (
        cli.run(
            parsed(
                "least-acls", str(trace), "--against", str(present), *LOCAL, "--accept-incomplete"
            )
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    at = lines.index("1 to add and 2 to remove")
    tail = "--topic orders"
    assert [line.strip() for line in lines[at + 1 : at + 4]] == [
        f"kafka-acls --add --allow-principal User:a --operation Read {tail}",
        f"kafka-acls --remove --force --allow-principal User:a --operation All {tail}",
        f"kafka-acls --remove --force --allow-principal User:b --operation Read {tail}",
    ]
    present.write_text(
        format_acls_losslessly(
            read_distinct_acls_from_file(str(trace.parent / "present.txt"))[1:], "yaml"
        )
    )
    against = ("--against", str(present), "--json")
    assert cli.run(parsed("least-acls", str(trace), *against, *LOCAL)) == 0
    assert "1 to add and 1 to remove" in capsys.readouterr().out


def test_invalid_options_are_reported_before_spark_starts(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    assert spark
    trace = str(traced[0])
    garbage = tmp_path / "garbage" / "broker-1-00000000.ktrace"
    garbage.parent.mkdir()
    garbage.write_bytes(b"no trace" * 100)
    unused = tmp_path / "unused"  # as `run --record` leaves it without clients
    unused.mkdir()
    acls = tmp_path / "acls.yaml"
    acls.write_text("- {principal: User:a, allow: Read, topic: orders}")
    two_years = ("--since", "2026-01-01", "--until", "2025-01-01")
    for words, text in (
        (("denials", str(tmp_path)), "has no trace: it contains no segment"),
        (("denials", str(unused)), f"`{unused}` is empty, as the folder of a recording is"),
        (("denials", str(garbage)), "contains no complete trace block"),
        (("diff", trace, str(garbage)), "contains no complete trace block"),
        (("diff", str(acls), str(acls)), f"`{acls}` is not a trace; for files of ACLs, see"),
        (("denials", trace, "--super-user", "root"), "--super-user `root`: expected Type:name"),
        (("denials", trace, *two_years), "until 2025-01-01 is not after since 2026-01-01"),
        (("denials", trace, "--parquet", trace), "which is no earlier output of this command"),
        (("denials", trace, "--parquet", f"{garbage}/x"), "Not a directory"),
        (
            ("denials", trace, *SPARK, "--parquet", "nosuch://x/y"),
            'No FileSystem for scheme "nosuch"',
        ),
        (("ingest", trace, "-o", trace), "which is no earlier output of this command"),
        (
            ("least-acls", trace, "--format", "yaml", "--json"),
            "--format cannot be combined with --json or --csv",
        ),
        (("denials", trace, "--since", "yesterday"), "invalid time `yesterday` for since"),
        (("denials", trace, "--apis", "Fetsch"), "unknown API `Fetsch`"),
        (
            ("denials", trace, "--kafka-version", "7.7"),
            "unknown Kafka release `7.7`; expected one of",
        ),
    ):
        assert cli.run(parsed(*words)) == (1 if "nosuch" in text else 2)
        assert text in capsys.readouterr().err


@pytest.mark.heavy
def test_trends_clients_damage_and_a_page_of_all(
    spark: Any, traced: tuple[Path, Path, AclSet], capsys: Any, tmp_path: Path
) -> None:
    from kafka_shim.pipeline.jobs.ingest import ingest_new_data

    trace, candidate, _ = traced
    denied = [
        access["time_us"] // 50_000 for access in twin.accesses(trace) if not access["allowed"]
    ]
    lake, page = tmp_path / "lake", tmp_path / "page.html"
    ingest_new_data(spark, [str(trace)], lake, RELEASES[-1])
    for source in (trace, lake):
        found = response(capsys, "denials", str(source), "--interval", "1 second")
        assert sum(row["requests"] for row in found["rows"]) == len(denied)
    since = f"{datetime.fromtimestamp((START_US + 100_000) / 1e6, UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
    limits = ("--since", since, "--apis", "Fetch,Produce")
    some = [response(capsys, "denials", str(path), *limits)["accesses"] for path in (trace, lake)]
    assert 0 < some[0] == some[1] < 100
    assert response(capsys, "damage", str(trace))["rows"] == []
    present = tmp_path / "present.yaml"
    present.write_text(candidate.read_text())
    words = (
        "report",
        str(lake),
        "--acls",
        str(present),
        "--candidate",
        str(candidate),
        "--from-release",
        OLD,
        "--to-release",
        NEW,
    )
    report = response(capsys, *words, "--html", str(page))
    jobs = [part["job"] for part in report["parts"]]
    assert {"timeline", "denials", "least-acls", "what-breaks", "unused-acls"} <= set(jobs)
    shown = page.read_text()
    assert all(f'-title">{job}</h2>' in shown for job in jobs)
    assert "Denials each second, by principal" in shown
