import json
from pathlib import Path

import pytest

from kafka_shim.cli import main
from tests.cli.conftest import Running

ACLS = """
- {principal: User:alice, allow: Read, topic: orders, host: 10.0.0.1}
- {principal: User:bob, allow: Read, topic: ord, pattern: prefixed}
- {principal: User:bob, deny: All, topic: orders}
- {principal: 'User:*', allow: Describe, topic: '*'}
- {principal: User:eve, deny: Describe, topic: '*', host: 10.6.6.6}
- {principal: User:ops, allow: Alter, cluster: }
"""


@pytest.fixture
def acls(tmp_path: Path) -> str:
    path = tmp_path / "acls.yaml"
    path.write_text(ACLS)
    return str(path)


def test_allowed_and_denied_principals_are_listed(
    acls: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["who-can", "READ", "topic:orders", "--acls", acls]) == 0
    assert capsys.readouterr().out == (
        "allowed Read on topic `orders`:\n"
        "  User:alice, from 10.0.0.1\n"
        "    {principal: User:alice, allow: Read, topic: orders, host: 10.0.0.1}\n"
        "denied, although an ACL allows it:\n"
        "  User:bob\n"
        "    {principal: User:bob, deny: All, topic: orders}\n"
    )


def test_an_acl_for_all_users_is_printed_as_everyone(
    acls: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["who-can", "Describe", "topic:x", "--acls", acls, "--super-user", "User:root"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "  User:root, from everywhere\n    because: super user\n" in out
    assert "  User:eve, from everywhere but 10.6.6.6\n" in out
    assert "    but not: {principal: User:eve, deny: " in out
    assert "  everyone else (User:*), from everywhere\n" in out


def test_the_output_says_that_nobody_is_allowed(
    acls: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["who-can", "Delete", "group:g", "--acls", acls]) == 3
    assert capsys.readouterr().out == "no principal is allowed Delete on group `g`\n"


def test_principals_of_the_cluster_are_printed_as_json(
    acls: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["who-can", "describe", "cluster", "--acls", acls, "--json"]) == 0
    response = json.loads(capsys.readouterr().out)
    assert response["resource_name"] == "kafka-cluster"
    (found,) = response["allowed"]
    assert found["principal"] == "User:ops"
    assert found["everyone"] is False
    assert found["hosts"] == ["*"]
    assert [entry["operation"] for entry in found["acls"]] == ["ALTER"]
    assert response["denied"] == []


def test_acls_are_read_from_a_running_broker(
    broker: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ["--bootstrap-server", broker.plaintext]
    grant = ["--add", "--allow-principal", "User:a", "--producer", "--topic", "t"]
    main(["acls", *server, *grant])
    capsys.readouterr()
    assert main(["who-can", "write", "topic:t", *server]) == 0
    out = capsys.readouterr().out
    assert "User:a, from everywhere" in out
    assert "User:ANONYMOUS, from everywhere\n    because: super user" in out
    assert "assumed" not in out


@pytest.mark.parametrize(
    ("operation", "resource", "complaint"),
    [
        ("Read", "topics:t", "unknown resource type `topics`"),
        ("Read", "payments", "resource `payments`: expected TYPE:NAME, as in topic:payments"),
        ("Read", "topic:", "the name is missing; expected topic:NAME"),
        ("Read", "cluster", "CLUSTER has no operation READ"),
        ("Fly", "topic:t", "`Fly`"),
    ],
)
def test_errors_are_reported(
    acls: str, capsys: pytest.CaptureFixture[str], operation: str, resource: str, complaint: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["who-can", operation, resource, "--acls", acls])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_missing_file_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["who-can", "Read", "topic:t", "--acls", "none.yaml"]) == 2
    assert "kafka-shim who-can: none.yaml: No such file" in capsys.readouterr().err


def test_acls_of_files_and_folders_count_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    rule = "- {{principal: User:{}, {}: Read, topic: orders}}\n"
    (tmp_path / "a" / "x.yaml").write_text(rule.format("alice", "allow"))
    (tmp_path / "a" / "deep" / "y.yaml").write_text(rule.format("bob", "allow"))
    (tmp_path / "b.yaml").write_text(rule.format("bob", "deny"))
    words = ["who-can", "Read", "topic:orders", "--json"]
    words += ["--acls", f"{tmp_path}/a", "--acls", f"{tmp_path}/b.yaml"]
    assert main(words) == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["principal"] for each in result["allowed"]] == ["User:alice"]
    assert [each["principal"] for each in result["denied"]] == ["User:bob"]


def test_acls_whose_host_is_no_client_are_without_effect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "acls.yaml"
    path.write_text(
        "- {principal: User:a, allow: Read, topic: t, host: '::1'}\n"
        "- {principal: User:b, allow: Read, topic: t, host: 10.0.0.0/8}\n"
        "- {principal: User:c, allow: Read, topic: t}\n"
        "- {principal: User:c, deny: Read, topic: t, host: '::2'}\n"
    )
    words = ["who-can", "Read", "topic:t", "--acls", str(path), "--kafka-version"]
    assert main([*words, "4.4"]) == 0
    newer = capsys.readouterr().out
    assert "User:a, from" not in newer
    assert "  User:b, from 10.0.0.0/8\n" in newer
    assert "  User:c, from everywhere\n" in newer
    assert (
        'without effect: {principal: User:a, allow: Read, topic: t, host: "::1"}\n'
        "    because: brokers write this host as `0:0:0:0:0:0:0:1`, and compare hosts as text\n"
    ) in newer
    assert main([*words, "4.3"]) == 0
    older = capsys.readouterr().out
    assert "User:b, from" not in older
    assert "`10.0.0.0/8`: networks apply from Kafka 4.4 on" in older
