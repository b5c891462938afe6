"""Sessions with Kafka's tools: their files, and the comparison of output."""

from pathlib import Path

import pytest

from tests.suites import kafka_home
from tests.suites.kafka_tools.cleaning import clean
from tests.suites.kafka_tools.running import SESSIONS
from tests.suites.kafka_tools.session import load, save

FILES = sorted(SESSIONS.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sessions_are_written_as_they_were_read(path: Path, tmp_path: Path) -> None:
    steps = load(path)
    save(tmp_path / "again", steps)
    assert (tmp_path / "again").read_text() == path.read_text()
    assert {step.command.split()[0] for step in steps} <= set(kafka_home.MAIN_CLASSES)


def test_every_tool_is_used_in_a_session() -> None:
    used = {step.command.split()[0] for path in FILES for step in load(path)}
    assert used == set(kafka_home.MAIN_CLASSES)


def test_the_parts_of_a_session(tmp_path: Path) -> None:
    path = tmp_path / "session.txt"
    path.write_text(
        "# a remark\nany order $ kafka-topics --list\na\nb\n"
        "until ready $ kafka-verifiable-consumer --topic a\n"
        "$ kafka-console-producer --topic a\n< one\n<\nexit 1\n"
    )
    first, second, third = load(path)
    assert (first.remarks, first.is_ordered, first.printed) == (["# a remark"], False, ["a", "b"])
    assert (second.until, second.is_ordered) == ("ready", True)
    assert (third.given, third.exit_code, third.line) == (["one", ""], 1, 6)


def test_parts_that_differ_in_each_run_are_not_compared() -> None:
    text = (
        "Topic: orders\tTopicId: dG9waWMtaWQtb2YtMjItYg\tLeader: 127.0.0.1:4711\n\n"
        "org.apache.kafka.common.errors.TopicExistsException: it is there\n"
        "\tat java.base/java.lang.Thread.run(Thread.java:1)\n"
        "Error while executing topic command : it is there\n"
        "sent 100 records, 7.5 ms avg latency\n"
    )
    assert clean(text, {"127.0.0.1:4711": "$PLAINTEXT"}) == [
        "Topic: orders\tTopicId: ID\tLeader: $PLAINTEXT",
        "org.apache.kafka.common.errors.TopicExistsException: WORDS",
        "Error while executing topic command : WORDS",
        "sent 100 records, N ms avg latency",
    ]
