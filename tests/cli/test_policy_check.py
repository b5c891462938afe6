"""`policy check`: gates that a change of ACLs has to pass."""

import json
from pathlib import Path

import pytest

from kafka_shim.cli import main

OLD = "- {principal: User:a, allow: Read, topic: payments-eu}\n"
WIDER = "- {principal: User:b, allow: Write, topic: pay, pattern: prefixed}\n"
ELSEWHERE = "- {principal: User:b, allow: Write, topic: orders}\n"
PUBLIC = "- {principal: 'User:*', allow: Describe, topic: orders}\n"
PUBLIC_HERE = "- {principal: 'User:*', allow: Describe, topic: orders, host: 10.0.0.1}\n"
HIDDEN = WIDER + "- {principal: User:b, deny: Write, topic: payments, pattern: prefixed}\n"

ONLY = ("--only", "topic:payments*")


@pytest.mark.parametrize(
    ("gate", "acls", "words", "code"),
    [
        ("no-new-access", OLD, (), 0),
        ("no-new-access", OLD + ELSEWHERE, (), 3),
        ("no-new-access", OLD + ELSEWHERE, ONLY, 0),
        ("no-new-access", OLD + WIDER, ONLY, 3),
        ("no-new-access", OLD + HIDDEN, (*ONLY, "--operation", "Write"), 0),
        ("no-new-access", OLD + HIDDEN, (*ONLY, "--operation", "Describe"), 3),
        ("no-new-access", OLD + WIDER, ("--principal", "User:c"), 0),
        ("no-new-access", OLD + PUBLIC, ("--principal", "User:c"), 3),
        ("access-not-granted", OLD, (*ONLY, "--operation", "Write"), 0),
        ("access-not-granted", OLD, (*ONLY, "--operation", "Read"), 3),
        ("access-not-granted", OLD, ("--principal", "User:b"), 0),
        ("access-not-granted", WIDER, ("--principal", "User:b"), 3),
        ("no-public-access", OLD, (), 0),
        ("no-public-access", PUBLIC_HERE, (), 0),
        ("no-public-access", PUBLIC, (), 3),
        ("no-public-access", PUBLIC, ("--only", "topic:payments"), 0),
        ("no-public-access", OLD, ("--allow-everyone-if-no-acl-found",), 3),
    ],
)
def test_gates(gate: str, acls: str, words: tuple[str, ...], code: int, tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text(OLD)
    (tmp_path / "new.yaml").write_text(acls)
    names = ["old.yaml", "new.yaml"] if gate == "no-new-access" else ["new.yaml"]
    assert main(["policy", "check", gate, *(str(tmp_path / n) for n in names), *words]) == code


def test_what_is_granted_is_shown_within_the_limits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.yaml").write_text(WIDER)
    words = ["policy", "check", "access-not-granted", str(tmp_path / "new.yaml"), *ONLY]
    assert main(words) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "+ User:b: Write, Describe on topics `payments*`"
    assert "Write on topic `paymentsx`" in lines[1]
    assert lines[2].startswith("access-not-granted: failed, 1 grant")
    assert main([*words, "--json"]) == 3
    content = json.loads(capsys.readouterr().out)
    assert (content["passed"], len(content["changes"])) == (False, 1)


@pytest.mark.parametrize(
    "words",
    [
        ["no-new-access", "a"],
        ["access-not-granted", "a"],
        ["no-public-access", "a", "b"],
        ["no-public-access", "a", "--only", "orders"],
        ["no-public-access", "a", "--principal", "eve"],
    ],
)
def test_usage_errors(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KAFKA_BOOTSTRAP_SERVERS", raising=False)
    with pytest.raises(SystemExit) as ended:
        main(["policy", "check", *words])
    assert ended.value.code == 2
