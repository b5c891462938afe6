import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kafka_shim.cli import main
from kafka_shim.shim.config import InitialTopic
from tests.cli.conftest import PLAINTEXT, Running

ACLS = """
- {principal: User:alice, allow: [Read, Write], topic: orders}
- {principal: User:bob, allow: Read, topic: team-, pattern: prefixed}
- {principal: User:bob, deny: Read, topic: team-x}
- {principal: "User:<b>", allow: Alter, cluster: }
- {principal: "User:*", allow: Describe, topic: "*"}
"""
TEXT = """\
               topic *  topic orders  topic team-*  topic team-x  cluster
User:<b>       d        d             d             d             Ad
User:alice     d(RW)    RWd           d             d
User:bob       d(R)     d             d(R)          d
everyone else  d        d             d             d
R Read, W Write, A Alter, d Describe, ( ) for some names or hosts only
"""

Matrix = Callable[..., int]


@pytest.fixture
def matrix(tmp_path: Path) -> Matrix:
    path = tmp_path / "acls.yaml"
    path.write_text(ACLS)

    def run(*words: str) -> int:
        return main(["policy", "matrix", str(path), *words])

    return run


def test_text_output(matrix: Matrix, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix() == 0
    assert capsys.readouterr().out == TEXT


def test_principals_and_resources_without_access_are_left_out_unless_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "acls.yaml"
    path.write_text(
        "- {principal: User:alice, allow: Read, topic: orders}\n"
        "- {principal: User:eve, deny: Read, topic: payments}\n"
    )
    assert main(["policy", "matrix", str(path)]) == 0
    shown = capsys.readouterr()
    assert [line.split() for line in shown.out.splitlines()[:-1]] == [
        ["topic", "orders"],
        ["User:alice", "Rd"],
        ["everyone", "else"],
    ]
    assert shown.err == "note: without any access, not shown: User:eve, topic payments\n"
    assert main(["policy", "matrix", str(path), "--csv", "--principal", "User:eve"]) == 0
    assert capsys.readouterr().out == "principal\nUser:eve\n"
    named = ["--resource", "topic:payments", "--principal", "User:eve"]
    assert main(["policy", "matrix", str(path), *named]) == 0
    assert capsys.readouterr().out.split() == ["topic", "payments", "User:eve"]


def test_csv_output(matrix: Matrix, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix("--csv") == 0
    rows = list(csv.reader(io.StringIO(capsys.readouterr().out)))
    assert rows[0] == [
        "principal",
        "topic *",
        "topic orders",
        "topic team-*",
        "topic team-x",
        "cluster",
    ]
    assert rows[2] == [
        "User:alice",
        "Describe (Read) (Write)",
        "Read Write Describe",
        "Describe",
        "Describe",
        "",
    ]
    assert rows[3][3] == "Describe (Read)"


def test_html_is_well_formed_and_escapes_names(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    assert matrix("--html") == 0
    page = capsys.readouterr().out.replace("<!doctype html>", "").replace("<br>", " ")
    table = ET.fromstring(page.replace('<meta charset="utf-8">', "")).find("body/table/tbody")
    assert table is not None
    rows = ["|".join(cell.text or "" for cell in row) for row in table]
    assert rows[0] == "User:<b>|Describe|Describe|Describe|Describe|Alter Describe"
    assert rows[2] == "User:bob|Describe (Read)|Describe|Describe (Read)|Describe|"


def test_json_output_of_chosen_principals_resources_and_operations(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--principal", "User:bob", "--resource", "topic:team-*", "--resource", "topic:orders"]
    assert matrix("--json", "--operation", "Read", *words) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "principal": "User:bob",
            "resource_type": "TOPIC",
            "names": {"prefix": "team-"},
            "allowed": [],
            "partly": ["READ"],
        },
        {
            "principal": "User:bob",
            "resource_type": "TOPIC",
            "names": {"name": "orders"},
            "allowed": [],
            "partly": [],
        },
    ]


def test_super_users_have_the_operations_of_the_release(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ["--principal", "User:root", "--resource", "cluster", "--kafka-version", "2.0"]
    assert matrix("--super-user", "User:root", *chosen) == 0
    assert "User:root  CAdKcaI\n" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["test", "diff", "lint", "matrix"])
def test_an_invalid_super_user_is_rejected_before_files_are_read(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["policy", verb, "missing.yaml", "missing.yaml", "--super-user", "root"])
    assert caught.value.code == 2
    assert "--super-user `root`: expected Type:name, as in User:alice" in capsys.readouterr().err


def test_the_columns_can_be_the_topics_of_a_cluster(
    start: Callable[..., Running], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "acls.yaml").write_text(ACLS)
    running = start(listeners=(PLAINTEXT,), topics=(InitialTopic("orders"), InitialTopic("team-a")))
    words = ["--bootstrap-server", running.plaintext]
    plan = ["policy", "plan", str(tmp_path / "acls.yaml"), *words, "--apply", "--yes"]
    assert main(plan) == 0
    capsys.readouterr()
    assert main(["policy", "matrix", *words, "--topics-of-cluster"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["topic", "orders", "topic", "team-a"]
    assert lines[3].split() == ["User:bob", "d", "Rd"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--operation", "Fly"), "--operation: unknown operation `Fly`"),
        (("--principal", "bob"), "--principal"),
        (("--topics-of-cluster",), "--topics-of-cluster needs --bootstrap-server"),
        (("--bootstrap-server", "127.0.0.1:1"), "name files or --bootstrap-server, not both"),
    ],
)
def test_usage_errors_are_reported(
    matrix: Matrix, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        matrix(*words)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_a_release_without_exact_decisions_is_rejected(
    matrix: Matrix, capsys: pytest.CaptureFixture[str]
) -> None:
    assert matrix("--kafka-version", "3.2") == 2
    assert "choose another --kafka-version" in capsys.readouterr().err
