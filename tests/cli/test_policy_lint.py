import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.policy.lint import FINDING_KINDS
from kafka_shim.protocol.api_versions import RELEASES
from tests.cli.conftest import PLAINTEXT, Running

ALICE = "- {principal: User:alice, allow: AlterConfigs, topic: orders-eu}\n"
ORDERS = """\
acls:
- principal: User:alice
  allow:
  - DescribeConfigs
  - AlterConfigs
  topic: orders-
  pattern: prefixed
"""
FOUND = """\
{a}:1: shadowed: {{principal: User:alice, allow: AlterConfigs, topic: orders-eu}}: \
a broader ACL covers it: \
{{principal: User:alice, allow: AlterConfigs, topic: orders-, pattern: prefixed}} ({b}:5)
{b}:4: redundant: \
{{principal: User:alice, allow: DescribeConfigs, topic: orders-, pattern: prefixed}}: \
another operation includes it: \
{{principal: User:alice, allow: AlterConfigs, topic: orders-, pattern: prefixed}} ({b}:5)
2 findings in 3 ACLs for Kafka {release}
remove shadowed, redundant and ineffective ACLs one at a time, and lint again: each may be needed \
when another is gone; `policy compact` drops all that can go together
"""

Lint = Callable[..., int]


@pytest.fixture
def lint(tmp_path: Path) -> Lint:
    (tmp_path / "a.yaml").write_text(ALICE)
    (tmp_path / "b.yaml").write_text(ORDERS)

    def run(*words: str, paths: tuple[str, ...] = ("a.yaml", "b.yaml")) -> int:
        return main(["policy", "lint", *(str(tmp_path / path) for path in paths), *words])

    return run


def test_findings_name_both_files_and_lines(
    lint: Lint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = FOUND.format(a=tmp_path / "a.yaml", b=tmp_path / "b.yaml", release=RELEASES[-1])
    assert lint() == 3
    assert capsys.readouterr().out == expected
    assert lint(paths=("",)) == 3
    assert capsys.readouterr().out == expected


def test_duplicates_in_several_files_are_found(
    lint: Lint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.csv").write_text(
        "KafkaPrincipal,ResourceType,PatternType,ResourceName,Operation,PermissionType,Host\n"
        "User:alice,Topic,LITERAL,orders-eu,AlterConfigs,Allow,*\n"
    )
    assert lint(paths=("a.yaml", "c.csv")) == 3
    out = capsys.readouterr().out
    assert (
        "c.csv:2: duplicate: {principal: User:alice, allow: AlterConfigs, topic: orders-eu}:"
        " written before: " in out
    )
    assert f"{tmp_path / 'a.yaml'}:1\n" in out


def test_kinds_of_findings_can_be_ignored(lint: Lint, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("--ignore", "shadowed", "--ignore", "redundant") == 0
    assert capsys.readouterr().out == f"0 findings in 3 ACLs for Kafka {RELEASES[-1]}\n"
    assert lint("--ignore", "redundant") == 3
    with pytest.raises(SystemExit):
        lint("--ignore", "odd")


def test_json_output(lint: Lint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("--json") == 3
    shadowed, redundant = json.loads(capsys.readouterr().out)
    assert (shadowed["kind"], redundant["kind"]) == ("shadowed", "redundant")
    assert (redundant["file"], redundant["line"]) == (str(tmp_path / "b.yaml"), 4)
    assert redundant["acl"]["operation"] == "DESCRIBE_CONFIGS"
    assert [because["line"] for because in shadowed["because"]] == [5]


def test_github_annotations_have_file_and_line(
    lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint("--github") == 3
    out = capsys.readouterr().out
    assert "a.yaml,line=1,title=Kafka ACLs::shadowed: {principal: User:alice" in out
    assert out.count("::warning file=") == 2


def test_prefixed_acls_are_a_finding_before_2_0(
    lint: Lint, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lint("--kafka-version", "1.1") == 3
    assert (
        "b.yaml:4: release: {principal: User:alice, allow: DescribeConfigs, topic: orders-,"
        " pattern: prefixed}: Kafka 1.1 refuses" in (capsys.readouterr().out)
    )


@pytest.mark.parametrize("text", ["", "hello", "- {principal: User:a, allow: Raed, topic: t}"])
def test_unreadable_acls_are_an_error(
    lint: Lint, tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert lint() == 2
    assert f"kafka-shim policy lint: {tmp_path / 'a.yaml'}:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "--producer --topic t",
        "--consumer --topic t --group g",
        "--producer --topic t --transactional-id x",
    ],
)
def test_acls_of_kafka_acls_roles_have_no_findings(
    lint: Lint, tmp_path: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.sh").write_text(f"kafka-acls --add --allow-principal User:alice {words}")
    assert lint(paths=("a.sh",)) == 0


def test_the_acls_of_a_cluster_are_checked(
    lint: Lint, start: Callable[..., Running], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    running = start(listeners=(PLAINTEXT,))
    words = ["--bootstrap-server", running.plaintext]
    assert main(["policy", "plan", str(tmp_path / "b.yaml"), *words, "--apply", "--yes"]) == 0
    capsys.readouterr()
    assert lint(*words, paths=()) == 3
    found = capsys.readouterr().out
    assert (
        f"{running.plaintext}: redundant: {{principal: User:alice, allow: DescribeConfigs" in found
    )


def test_without_acls_a_usage_error_asks_for_them(
    lint: Lint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(SystemExit):
        lint(paths=())
    assert "no ACLs given: name files, or add --bootstrap-server" in capsys.readouterr().err


def test_the_help_lists_all_kinds_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["policy", "lint", "--help"])
    out = capsys.readouterr().out
    assert all(f"  {kind} " in out for kind in FINDING_KINDS)
