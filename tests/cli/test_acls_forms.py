"""`kafka-shim acls` with ACLs from files, and in other formats."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.policy.formats import FORMATS, parse_distinct_acls
from tests.cli.conftest import Running
from tests.support.commands import SHIM

TABLE = """\
KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host
User:alice,Topic,PREFIXED,orders-,Read,Allow,*
User:alice,Group,LITERAL,billing,Read,Deny,10.0.0.1
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "acls.csv"
    path.write_text(TABLE)
    return str(path)


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_is_converted_without_a_broker(
    form: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["acls", "--acls", table, "--format", form]) == 0
    assert set(parse_distinct_acls(capsys.readouterr().out, form)) == set(
        parse_distinct_acls(TABLE)
    )


def test_standard_input_is_converted_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(TABLE))
    assert main(["acls", "--acls", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[1]["permission"] == "DENY"


def test_the_acls_of_a_file_are_added_listed_and_removed(
    broker: Running, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["acls", "--bootstrap-server", broker.plaintext]
    assert main([*words, "--add", "--acls", table]) == 0
    assert "Adding ACLs for resource `ResourcePattern(resourceType=GROUP" in capsys.readouterr().out
    assert main([*words, "--list", "--csv"]) == 0
    listed = capsys.readouterr().out
    assert sorted(listed.splitlines()) == sorted(TABLE.splitlines())
    assert main([*words, "--list", "--format", "strimzi", "--topic", "orders-"]) == 0
    assert (
        capsys.readouterr().out
        == (  # `--topic` selects ACLs with this literal name, of which there are none
            "# each user needs the label strimzi.io/cluster with your cluster's name\n"
        )
    )
    assert main([*words, "--remove", "--force", "--acls", table]) == 0
    capsys.readouterr()
    assert main([*words, "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--acls FILE", "missing `--format`: expected one of yaml, json"),
        ("--acls FILE --list --format csv", "--acls requires --add or --remove"),
        (
            "--acls FILE --add --topic t",
            "--acls cannot be combined with options that describe an ACL",
        ),
        (
            "--add --topic t --allow-principal User:a --format csv",
            "--format and --csv require --list",
        ),
        ("--acls FILE --format xml", "unknown value `xml`; expected "),
        ("--list --csv --json", "cannot be combined with"),
        ("--list --kafka-version 9.9", "--kafka-version: "),
    ],
)
def test_incompatible_options_are_rejected(
    words: str, complaint: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["acls", *words.replace("FILE", table).split()])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "form", "complaint"),
    [
        (
            TABLE.replace("Topic", "Subject"),
            "yaml",
            "acls.csv: line 2: unknown resource type `Subject`",
        ),
        (TABLE.replace("alice", "Alice"), "strimzi", "--format strimzi: `User:Alice` cannot be a"),
    ],
)
def test_acls_that_cannot_be_converted_are_reported(
    text: str, form: str, complaint: str, table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(table).write_text(text)
    assert main(["acls", "--acls", table, "--format", form]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.out == ""


def test_the_command_takes_less_than_half_a_second(broker: Running, tmp_path: Path) -> None:
    command = [
        *SHIM,
        "acls",
        "--bootstrap-server",
        broker.plaintext,
    ]
    assert min(_processor_s([*command, "--list"]) for _ in range(3)) < 0.35


def _processor_s(command: list[str]) -> float:
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, child.returncode, used = os.wait4(child.pid, 0)
    assert child.returncode == 0
    return used.ru_utime + used.ru_stime


SCRIPT = """\
#!/bin/bash
for topic in orders bills; do
  kafka-acls --add --allow-principal User:a --operation Read --topic $topic
done
docker exec broker kafka-acls --add --allow-principal User:a --operation Read --topic x
kafka-acls --remove --allow-principal User:a --topic y --force
"""


def test_the_rest_of_a_script_is_read_on_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "acls.sh"
    path.write_text(SCRIPT)
    words = ["acls", "--acls", str(path), "--format", "yaml"]
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "line 3: " in captured.err
    assert main([*words, "--skip-unread"]) == 0
    captured = capsys.readouterr()
    assert captured.out == 'acls:\n  - {"principal": "User:a", "allow": ["Read"], "topic": "x"}\n'
    assert "acls.sh: line 3: " in captured.err
    assert "depends on the `for` of line 2" in captured.err
    assert "acls.sh: line 6: this command removes ACLs" in captured.err
    assert captured.err.endswith("acls.sh: 2 commands not read\n")
    rules = tmp_path / "acls.yaml"
    rules.write_text("acls: []\n")
    with pytest.raises(SystemExit):
        main(["acls", "--acls", str(rules), "--format", "yaml", "--skip-unread"])
    assert "--skip-unread requires a script with kafka-acls commands" in capsys.readouterr().err
