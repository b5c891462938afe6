import io
import json
import shlex
from pathlib import Path

import pytest

from kafka_shim.authorizer.model import AclFilter
from kafka_shim.cli import main
from kafka_shim.client import acls as client_acls
from kafka_shim.client.acls import delete_acls
from kafka_shim.client.client import Client, ClientError
from tests.cli.conftest import Running

OLD = """
- {principal: User:alice, allow: [Read, Write], topic: orders}
- {principal: User:eve, deny: Read, topic: orders}
"""
NEW = """
- {principal: User:alice, allow: [Read, Describe], topic: orders}
- {principal: User:bob, deny: Write, topic: team-, pattern: prefixed, host: 10.0.0.1}
"""
COMMANDS = """\
kafka-acls --add --deny-principal User:bob --deny-host 10.0.0.1 --operation Write --topic team- \
--resource-pattern-type prefixed
kafka-acls --add --allow-principal User:alice --operation Describe --topic orders
kafka-acls --remove --force --allow-principal User:alice --operation Write --topic orders
kafka-acls --remove --force --deny-principal User:eve --operation Read --topic orders
# 2 ACLs to add, 2 to remove
"""

Files = tuple[str, str]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    return str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")


@pytest.fixture
def at(broker: Running, files: Files) -> list[str]:
    """Return the options to connect to a cluster with the old ACLs."""
    words = ["--bootstrap-server", broker.plaintext]
    assert main(["acls", *words, "--add", "--acls", files[0]]) == 0
    return words


def has_acls_of(path: str, at: list[str]) -> bool:
    return (
        main(["policy", "plan", path, *at]) == 0
        and main(["policy", "diff", path, *at, "--fail-on", "any"]) == 0
    )


def test_commands_are_printed_in_a_safe_order(
    files: Files, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "plan", *files]) == 0
    assert capsys.readouterr().out == COMMANDS
    assert main(["policy", "plan", files[0], files[0]]) == 0
    assert capsys.readouterr().out == "# 0 ACLs to add, 0 to remove\n"


def test_json_output(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "plan", *files, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [(request["action"], len(request["acls"])) for request in plan["requests"]] == [
        ("add", 2),
        ("remove", 2),
    ]
    assert plan["interim"] == []


def test_the_printed_commands_lead_to_the_new_acls(
    files: Files, at: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["policy", "plan", files[1], *at]) == 0
    for line in capsys.readouterr().out.splitlines():
        if not line.startswith("#"):
            assert main(["acls", *shlex.split(line)[1:]]) == 0
    assert has_acls_of(files[1], at)


def test_a_plan_is_applied(files: Files, at: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "plan", files[1], *at, "--apply", "--yes"]) == 0
    assert "done: 2 ACLs to add, 2 to remove" in capsys.readouterr().err
    capsys.readouterr()
    assert has_acls_of(files[1], at)


@pytest.mark.parametrize(("response", "code", "which"), [("y\n", 0, 1), ("n\n", 1, 0)])
def test_a_plan_is_applied_only_after_confirmation(
    files: Files,
    at: list[str],
    response: str,
    code: int,
    which: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(response))
    assert main(["policy", "plan", files[1], *at, "--apply"]) == code
    assert has_acls_of(files[which], at)


@pytest.mark.package_only
def test_completed_steps_are_undone_if_one_fails(
    files: Files,
    at: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    calls: list[int] = []

    def failing(client: Client, filters: list[AclFilter]) -> object:
        calls.append(len(filters))
        if len(calls) == 1:
            raise ClientError("the connection was lost")
        return delete_acls(client, filters)

    monkeypatch.setattr(client_acls, "delete_acls", failing)
    assert main(["policy", "plan", files[1], *at, "--apply", "--yes"]) == 1
    said = capsys.readouterr().err
    assert "all were taken back" in said
    assert "the connection was lost" in said
    assert calls == [2, 2]
    assert has_acls_of(files[0], at)


def test_apply_needs_a_cluster_and_a_confirmation(
    files: Files,
    at: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in ([*files, "--apply"], [files[1], *at, "--apply"]):
        monkeypatch.setattr("sys.stdin", io.StringIO(""))
        with pytest.raises(SystemExit) as ended:
            main(["policy", "plan", *words])
        assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "--apply requires --bootstrap-server" in said
    assert "nobody can confirm; use --yes" in said
