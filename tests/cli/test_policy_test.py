import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from kafka_shim.cli import main
from kafka_shim.protocol.api_versions import RELEASES
from tests.cli.conftest import Running

ACLS = """
- {principal: User:alice, allow: Write, topic: orders}
- {principal: User:bob, allow: Read, topic: team-, pattern: prefixed}
"""
HELD = """\
acls: [acls.yaml]
expect:
- {principal: User:alice, may: [Write, Describe], topic: orders}
- {principal: User:bob, may-not: Read, topic: orders}
"""
BROKEN = HELD + "- {principal: User:eve, may: Read, topic: team-x, name: 'Eve & <co> read'}\n"

Test = Callable[..., int]


@pytest.fixture
def test(tmp_path: Path) -> Test:
    (tmp_path / "acls.yaml").write_text(ACLS)

    def run(text: str, *words: str, name: str = "policy.yaml") -> int:
        (tmp_path / name).write_text(text)
        return main(["policy", "test", str(tmp_path / name), *words])

    return run


def test_expectations_that_hold_are_printed(
    test: Test, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert test(HELD) == 0
    path = tmp_path / "policy.yaml"
    assert capsys.readouterr().out == (
        f"ok   {path}:3: User:alice may Write, Describe on topic orders\n"
        "     because: {principal: User:alice, allow: Write, topic: orders}\n"
        f"ok   {path}:4: User:bob may not Read on topic orders\n"
        "     because: no ACL allows it\n"
        f"2 of 2 expectations hold in Kafka {RELEASES[-1]}\n"
    )


def test_a_failed_expectation_shows_the_remedy(
    test: Test, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert test(BROKEN, "--quiet") == 3
    assert capsys.readouterr().out == (
        f"FAIL {tmp_path / 'policy.yaml'}:5: Eve & <co> read\n"
        "     User:eve may not Read on topic `team-x`: no ACL allows it\n"
        "     to make it hold:\n"
        "       kafka-acls --add --allow-principal User:eve --operation Read --topic team-x\n"
        f"2 of 3 expectations hold in Kafka {RELEASES[-1]}\n"
    )


def test_junit_and_github_reports_show_failures(
    test: Test, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "report.xml"
    assert test(BROKEN, "--junit", str(report), "--github") == 3
    lines = capsys.readouterr().out.splitlines()
    [said] = [line for line in lines if line.startswith("::error ")]
    place = f"file={tmp_path / 'policy.yaml'},line=5,title=Kafka ACLs"
    assert said.startswith(f"::error {place}::Eve & <co> read%0AUser:eve may not Read")
    suite = ET.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    assert [case.get("name") for case in suite][2] == "Eve & <co> read"
    [failure] = suite.iter("failure")
    assert "kafka-acls --add --allow-principal User:eve" in (failure.text or "")


def test_json_output(test: Test, capsys: pytest.CaptureFixture[str]) -> None:
    assert test(BROKEN, "--json") == 3
    *held, broken = json.loads(capsys.readouterr().out)
    assert [found["held"] for found in held] == [True, True]
    assert held[0]["responses"][0]["acl"]["operation"] == "WRITE"
    assert broken["line"] == 5
    [step] = broken["to_hold"]
    assert (step["action"], step["acl"]["principal"]) == ("add", "User:eve")


TOML = """\
release = "3.9"
super-users = ["User:root"]
acls = ["acls.yaml"]

[[expect]]
principal = "User:root"
may = "Alter"
cluster = true

[[expect]]
principal = "User:alice"
may = "Read"
topic = "orders"
"""


def test_results_in_toml_have_line_numbers(
    test: Test, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert test(TOML, name="policy.toml") == 3
    out = capsys.readouterr().out
    assert f"ok   {tmp_path / 'policy.toml'}:5: User:root may Alter on cluster\n" in out
    assert f"FAIL {tmp_path / 'policy.toml'}:10: " in out


def test_results_in_an_inline_toml_list_have_the_line_of_the_list(
    test: Test, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        'acls = ["acls.yaml"]\nexpect = [{principal = "User:bob", may-not = "Read", topic = "x"}]\n'
    )
    assert test(text, name="policy.toml") == 0
    assert "policy.toml:2: User:bob may not Read on topic x\n" in capsys.readouterr().out
    assert test(text.replace("topic", "topik"), name="policy.toml") == 2
    assert "policy.toml:2: expectation 1: unknown key `topik`" in capsys.readouterr().err


def test_invalid_toml_is_reported_with_its_line(
    test: Test, capsys: pytest.CaptureFixture[str]
) -> None:
    assert test("a = 1\n[[expect]\n", name="policy.toml") == 2
    assert "policy.toml:2: not TOML: " in capsys.readouterr().err


def test_results_depend_on_the_release(test: Test) -> None:
    """WRITE on a topic includes idempotent writes since 2.8 (KIP-679)."""
    entry = "- {principal: User:alice, can: produce-idempotent, topic: orders, release: '%s'}\n"
    assert [test(HELD + entry % release) for release in ("2.7", "2.8")] == [3, 0]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("", ":1", "expected a list of expectations"),
        ("acls: [acls.yaml]\n", ":1", "expected a list of expectations, at the top or below"),
        ("expect: []\n", ":1", "expected a list of expectations"),
        ("expekt: []\n", ":1", "the file: unknown key `expekt`"),
        ("[", ":2", "not YAML"),
        (HELD + "- {principal: User:a}\n", ":5", "expectation 3: expected one of principal"),
        (HELD + "- hello\n", ":5", "expected keys such as principal"),
        *(
            (HELD + f"- {{principal: User:a, may-not: Read, topic: t, host: {host}}}\n", ":5", host)
            for host in ("10.0.0.0/99", "10.0.0.*", "pay.example.com")
        ),
        (HELD + "- no-acl: {host: 10.0.0.0/99}\n", ":5", "expected an address, a network or `*`"),
        (HELD + "- {principal: User:a, may-not: Alter, cluster: foo}\n", ":5", "no names"),
        (HELD.replace("[acls.yaml]", "[none.yaml]"), "", "No such file"),
        ("release: '9.9'\n" + HELD, ":1", "9.9"),
        (HELD + "super-users: [x]\n", ":5", "super-users: `x`: expected Type:name"),
    ],
)
def test_an_unreadable_expectation_is_an_error(
    test: Test, text: str, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert test(text) == 2
    [complaint] = capsys.readouterr().err.splitlines()
    assert f"yaml{line}: " in complaint
    assert said in complaint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "- {principal: User:a, allow: Fly, topic: t}",
        "- {principal: a, allow: Read, topic: t}",
        "kafka-acls --add --allow-principal User:$ME --operation Read --topic t",
        "kind: KafkaUser\nmetadata: {name: a}\nspec: {authorization: {type: custom}}",
        'resource "kafka_acl" "a" {\n  resource_name = var.name\n}',
        "KafkaPrincipal,Host\nUser:a,*",
        "Current ACLs for resource `Topic:t`:\nhello",
        "# hello\n",
        "---\n# kind: KafkaUser\n",
        "Current ACLs for resource `Topic:t`: \n",
        "ACLs for principal `User:a`\n",
        (
            "Current ACLs for resource `Topic:t`:\n"
            "\tUser:b has Allow permission for operations: Read from hosts: *\n"
            "Current ACLs for resource `Topic:u`: \n\n"
        ),
        '{"resource": {"kafka_acl": {"a": {}}}}',
    ],
)
def test_expectations_with_unreadable_acls_are_an_error(
    test: Test, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.yaml").write_text(text)
    held = "- {principal: User:a, may-not: Read, topic: t}"
    assert test(held, "--acls", str(tmp_path / "other.yaml")) == 2
    assert str(tmp_path / "other.yaml") in capsys.readouterr().err


def test_missing_acls_are_a_usage_error(test: Test, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        test("- {principal: User:a, may-not: Read, topic: t}")
    assert ended.value.code == 2
    assert "no ACLs given" in capsys.readouterr().err


def test_a_cluster_is_tested(test: Test, broker: Running, nobody: str, tmp_path: Path) -> None:
    at = ["--bootstrap-server", broker.plaintext]
    assert test(HELD, *at) == 3
    assert main(["acls", *at, "--add", "--acls", str(tmp_path / "acls.yaml")]) == 0
    assert test(HELD, *at) == 0
    assert test(HELD, "--bootstrap-server", nobody) == 1


def test_ignored_files_of_a_folder_are_reported(
    test: Test, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "acls"
    folder.mkdir()
    (folder / "a.yaml").write_text(ACLS)
    words = ("--acls", str(folder))
    held = "- {principal: User:bob, may-not: Read, topic: orders}"
    assert test(held, *words) == 0
    assert capsys.readouterr().err == ""
    for number in range(6):
        (folder / f"{number}.tsv").write_text("")
    (folder / ".gitignore").write_text("")
    assert test(held, *words) == 0
    names = "0.tsv, 1.tsv, 2.tsv, 3.tsv, 4.tsv and 1 more"
    assert capsys.readouterr().err == f"note: {folder}: not read (file type): {names}\n"
