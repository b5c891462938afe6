"""`policy plan --out` and `policy apply`: what was reviewed is what is done."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_shim.authorizer.remedy import Step
from kafka_shim.cli import main
from kafka_shim.cli.policy import apply
from kafka_shim.client.acls import send_acl_changes
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

Apply = Callable[..., int]


@pytest.fixture
def at(broker: Running, tmp_path: Path) -> list[str]:
    """Return the options to connect to a cluster with the old ACLs."""
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(NEW)
    words = ["--bootstrap-server", broker.plaintext]
    assert main(["acls", *words, "--add", "--acls", str(tmp_path / "old.yaml")]) == 0
    return words


@pytest.fixture
def saved(at: list[str], tmp_path: Path) -> str:
    path = str(tmp_path / "plan.json")
    assert main(["policy", "plan", str(tmp_path / "new.yaml"), *at, "--out", path]) == 0
    return path


def has_acls_of(name: str, tmp_path: Path, at: list[str]) -> bool:
    return main(["policy", "diff", str(tmp_path / name), *at, "--fail-on", "any"]) == 0


def test_a_saved_plan_is_applied_and_undone(
    saved: str, at: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "apply", saved, *at, "--dry-run"]) == 0
    assert "can be applied: 2 requests" in capsys.readouterr().out
    assert has_acls_of("old.yaml", tmp_path, at)
    assert main(["policy", "apply", saved, *at]) == 0
    assert "done: 4 steps in 2 requests" in capsys.readouterr().out
    assert has_acls_of("new.yaml", tmp_path, at)
    assert main(["policy", "apply", saved, *at]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert main(["policy", "apply", str(tmp_path / "plan.undo.json"), *at]) == 0
    assert has_acls_of("old.yaml", tmp_path, at)
    assert not list(tmp_path.glob("*.lock"))


def test_a_plan_is_refused_if_the_cluster_changed(
    saved: str, at: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add = ["--add", "--allow-principal", "User:eve", "--operation", "All", "--topic", "t"]
    assert main(["acls", *at, *add]) == 0
    assert main(["policy", "apply", saved, *at]) == 3
    assert "other ACLs than the plan starts from" in capsys.readouterr().out
    assert not (tmp_path / "plan.undo.json").exists()


@pytest.mark.package_only
@pytest.mark.parametrize("sent_of_second", [0, 1])
def test_an_interrupted_plan_goes_on(
    sent_of_second: int,
    saved: str,
    at: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing(client: Client, steps: tuple[Step, ...]) -> None:
        if not steps[0].is_addition:
            if sent_of_second:
                send_acl_changes(client, steps[:sent_of_second])
            raise ClientError("the connection was lost")
        send_acl_changes(client, steps)

    with monkeypatch.context() as patch:
        patch.setattr(apply, "send_acl_changes", failing)
        assert main(["policy", "apply", saved, *at]) == 1
    assert "1 of 2 requests are done: run the command again to go on" in capsys.readouterr().err
    assert main(["policy", "apply", saved, *at]) == 0
    assert "going on after request 1 of 2" in capsys.readouterr().out
    assert has_acls_of("new.yaml", tmp_path, at)


@pytest.mark.package_only
def test_an_interrupted_plan_can_be_undone(
    saved: str, at: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(client: Client, steps: tuple[Step, ...]) -> None:
        if not steps[0].is_addition:
            raise KeyboardInterrupt
        send_acl_changes(client, steps)

    with monkeypatch.context() as patch:
        patch.setattr(apply, "send_acl_changes", stopped)
        assert main(["policy", "apply", saved, *at]) == 1
    assert main(["policy", "apply", str(tmp_path / "plan.undo.json"), *at]) == 0
    assert has_acls_of("old.yaml", tmp_path, at)


def test_two_runs_do_not_apply_one_plan(
    saved: str, at: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(f"{saved}.lock").touch()
    with pytest.raises(SystemExit) as ended:
        main(["policy", "apply", saved, *at])
    assert ended.value.code == 2
    assert "another run applies this plan" in capsys.readouterr().err


def test_interim_changes_must_be_accepted(
    at: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "- {principal: User:a, %s: Write, topic: %%s}\n"
    moved = rule % "allow" + rule % "deny"
    (tmp_path / "old.yaml").write_text(moved % ("t", "u"))
    (tmp_path / "new.yaml").write_text(moved % ("u", "t"))
    assert main(["policy", "plan", str(tmp_path / "old.yaml"), *at, "--apply", "-y"]) == 0
    path = str(tmp_path / "plan.json")
    words = ["policy", "plan", str(tmp_path / "new.yaml"), *at]
    assert main([*words, "--out", path]) == 0
    assert (
        "# interim, from command 1 to 3: - User:a: Write on at least one topic"
        in capsys.readouterr().out
    )
    for command in (["policy", "apply", path, *at], [*words, "--apply", "--yes"]):
        with pytest.raises(SystemExit) as ended:
            main(command)
        assert ended.value.code == 2
    assert main(["policy", "apply", path, *at, "--accept-interim-changes"]) == 0
    assert has_acls_of("new.yaml", tmp_path, at)


def test_commands_that_lock_somebody_out_are_marked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old.yaml").write_text("acls: []")
    (tmp_path / "new.yaml").write_text("- {principal: [User:a, User:b], allow: Read, topic: t}\n")
    words = ["policy", "plan", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]
    lost = "after command 1: - User:b: Read, Describe on topic `t`"
    for mode, line in {
        "--no-allow-everyone-if-no-acl-found": None,
        "--allow-everyone-if-no-acl-found": f"# interim, {lost}",
        "": f"# interim, if allow.everyone.if.no.acl.found=true, {lost}",
    }.items():
        assert main([*words, *mode.split()]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [each for each in lines if "interim" in each] == ([line] if line else [])
        assert main([*words, *mode.split(), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["interim"] == []  # one request


def test_plans_for_tools_name_what_depends_on_the_order_of_the_tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real 4.4.0 and 2.8.2 in the open mode deny User:b after the first ACL of the topic."""
    (tmp_path / "old.yaml").write_text("acls: []")
    (tmp_path / "new.yaml").write_text("- {principal: [User:a, User:b], allow: Read, topic: t}\n")
    words = ["policy", "plan", str(tmp_path / "old.yaml"), str(tmp_path / "new.yaml")]
    words += ["--format", "terraform"]
    lost = (
        "until the tool has applied all ACLs: access to topic `t` may differ from both sets,"
        " depending on the tool's order"
    )
    for mode, start in {
        "": f"# interim, if allow.everyone.if.no.acl.found=true, {lost}\n",
        "--allow-everyone-if-no-acl-found": f"# interim, {lost}\n",
        "--no-allow-everyone-if-no-acl-found": "# stage 1 of 2",
    }.items():
        assert main([*words, *mode.split()]) == 0
        assert capsys.readouterr().out.startswith(start)
    (tmp_path / "new.yaml").write_text(
        "- {principal: 'User:*', allow: Read, topic: t}\n"
        "- {principal: User:eve, deny: Read, topic: t}\n"
    )
    assert main([*words, "--no-allow-everyone-if-no-acl-found"]) == 0
    assert capsys.readouterr().out.startswith(f"# interim, {lost}\n")


def test_the_exit_code_tells_whether_there_are_changes(at: list[str], tmp_path: Path) -> None:
    for name, code in (("old.yaml", 0), ("new.yaml", 3)):
        words = ["policy", "plan", str(tmp_path / name), *at, "--detailed-exitcode"]
        assert main(words) == code


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "kafka-shim policy plan"}', "7"])
def test_other_files_are_no_plans(text: str, at: list[str], tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(text)
    assert main(["policy", "apply", str(tmp_path / "plan.json"), *at]) == 2
