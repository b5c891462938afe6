"""The fixture `kafka_policy`: tests of a project check its ACLs."""

from pathlib import Path

import pytest

from kafka_shim.testing.policy import KafkaPolicy
from tests.testing.plugin.nested import run_pytest

ACLS = """
- {principal: User:alice, allow: Write, topic: orders}
- {principal: User:o, allow: Alter, cluster: }
"""
TEST = """
def test_who_may(kafka_policy):
    assert kafka_policy.allows("User:alice", "Write", "topic:orders")
    assert not kafka_policy.allows("User:bob", "Write", "topic:orders")
    assert kafka_policy.allows("User:o", "Describe", "cluster")
    assert kafka_policy.holds(nobody_but=["User:alice"], may="Write", topic="orders")
    assert kafka_policy.holds(principal="User:alice", can="produce-idempotent", topic="orders")
"""


def test_a_test_asks_the_acls_of_its_project(tmp_path: Path) -> None:
    (tmp_path / "test_policy.py").write_text(TEST)
    (tmp_path / "acls.yaml").write_text(ACLS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nkafka_policy_acls = acls.yaml\n")
    assert "1 passed" in run_pytest(tmp_path).stdout


FAILING = """
def test_denied(kafka_policy):
    assert kafka_policy.allows("User:bob", "Write", "topic:orders")

def test_violated(kafka_policy):
    assert kafka_policy.holds(principal="User:alice", may_not="Write", topic="orders")
"""


def test_a_failing_assertion_shows_the_reason(tmp_path: Path) -> None:
    (tmp_path / "test_policy.py").write_text(FAILING)
    (tmp_path / "acls.yaml").write_text(ACLS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nkafka_policy_acls = acls.yaml\n")
    out = run_pytest(tmp_path).stdout
    assert "assert <False: User:bob Write topic:orders from 127.0.0.1: no ACL allows it>" in out
    assert "<False: principal='User:alice', may_not='Write', topic='orders': " in out
    assert "kafka-acls --remove" in out


def test_a_policy_without_files_is_reported(tmp_path: Path) -> None:
    (tmp_path / "test_policy.py").write_text(TEST)
    out = run_pytest(tmp_path).stdout
    assert "1 error" in out
    assert "set kafka_policy_acls" in out


@pytest.mark.parametrize("text", ["", "[", "- {principal: a, allow: Read, topic: t}"])
def test_an_unreadable_policy_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "acls.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"acls\.yaml(:\d)?: "):
        KafkaPolicy([tmp_path / "acls.yaml"])


def test_invalid_questions_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "acls.yaml").write_text(ACLS)
    policy = KafkaPolicy([tmp_path / "acls.yaml"], "2.7")
    for words in (("a", "Read", "topic:t"), ("User:a", "Fly", "topic:t"), ("User:a", "Read", "t")):
        with pytest.raises(ValueError, match="`"):
            policy.allows(*words)
    with pytest.raises(AssertionError, match="False: principal="):
        policy.holds(principal="User:alice", can="produce-idempotent", topic="orders")


def test_all_files_of_a_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "acls.yaml").write_text(ACLS)
    assert KafkaPolicy([tmp_path]).allows("User:alice", "Write", "topic:orders")
    with pytest.raises(ValueError, match=r"none\.yaml: No such file"):
        KafkaPolicy([tmp_path / "none.yaml"])


def test_the_host_of_a_question_is_written_as_by_java(tmp_path: Path) -> None:
    path = tmp_path / "acls.yaml"
    path.write_text("- {principal: User:a, allow: Write, topic: t, host: '0:0:0:0:0:0:0:1'}\n")
    policy = KafkaPolicy([path])
    assert policy.allows("User:a", "Write", "topic:t", host="::1")
    assert not policy.allows("User:a", "Write", "topic:t", host="::2")
    with pytest.raises(ValueError, match="expected the address of a client"):
        policy.allows("User:a", "Write", "topic:t", host="localhost")
