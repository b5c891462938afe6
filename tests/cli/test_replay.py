"""`kafka-shim replay` of a run of a real client."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_shim.cli import EXIT_USAGE, main
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation
from kafka_shim.shim.config import Config
from tests.cli.conftest import PLAINTEXT, SASL, USERS, Running
from tests.support.acls import make_acl

pytestmark = pytest.mark.client

CREATE = make_acl(Operation.CREATE, "orders")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record clients: a topic is created, and denied to alice; a transaction and a group."""
    folder = tmp_path_factory.mktemp("trace")
    recorded = Running(
        Config(
            listeners=(PLAINTEXT, SASL), users=USERS, super_users=("User:ANONYMOUS", "User:admin")
        )
    )
    recorded.record(folder)
    servers: dict[str, Any] = {"bootstrap.servers": recorded.plaintext}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(10)
    producer = Producer(servers | {"transactional.id": "tx"})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce("orders", b"x")
    producer.commit_transaction(10)
    consumer = Consumer(servers | {"group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = next(m for m in iter(lambda: consumer.poll(1), 0) if m is not None)
    assert message.error() is None
    consumer.commit(message=message, asynchronous=False)
    consumer.close()
    alice = AdminClient(
        {
            "bootstrap.servers": recorded.sasl,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": "alice-secret",
        }
    )
    with pytest.raises(KafkaException):
        alice.create_topics([NewTopic("orders", 1, 1)])["orders"].result(10)
    del admin, alice, producer
    recorded.stop()
    return folder


def replay(
    capsys: pytest.CaptureFixture[str], trace: Path, target: Running, *options: str
) -> tuple[int, dict[str, Any]]:
    words = ["--target", target.plaintext, "--route", f"SASL_PLAINTEXT={target.sasl}", "--json"]
    code = main(["replay", str(trace), *words, *options])
    out = capsys.readouterr().out
    return code, json.loads(out[out.index("{\n") :])  # brokers in this process log before it


def fields(report: dict[str, Any]) -> set[tuple[str, str]]:
    rows = report["differences"]
    assert isinstance(rows, list)
    return {(row["api"], row["field"]) for row in rows}


ALICE = ("--user", "alice:alice-secret")


def test_a_new_broker_of_the_same_release_sends_equal_responses(
    trace: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = replay(capsys, trace, start(seed=99), *ALICE)
    assert fields(report) == set()
    assert report["missed"] == []
    assert code == 0
    assert isinstance(report["responses"], int)
    assert report["responses"] > 30


def test_a_changed_acl_is_reported_as_a_difference(
    trace: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = replay(capsys, trace, start(acls=(CREATE,)), *ALICE)
    assert code == 3
    assert fields(report) == {("CreateTopics", "topics[].error_code")}
    (row,) = report["differences"]
    (example,) = row["examples"]
    assert (example["principal"], example["recorded"], example["actual"]) == ("User:alice", 29, 36)
    code, _ = replay(capsys, trace, start(acls=(CREATE,)), *ALICE, "--ignore", "CreateTopics")
    assert code == 0


def test_another_release_advertises_other_versions(
    trace: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = replay(capsys, trace, start(release=RELEASES[-4]), *ALICE, "--on-miss", "skip")
    assert code == 3
    assert ("ApiVersions", "api_keys[].max_version") in fields(report)


def test_a_login_without_a_password_ends_the_replay_or_is_reported(
    trace: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["replay", str(trace)]
    target = start()
    to = ["--target", target.plaintext, "--route", f"SASL_PLAINTEXT={target.sasl}"]
    assert main([*words, *to]) == 3
    said = capsys.readouterr()
    assert "--user alice:PASSWORD" in said.err
    code, report = replay(capsys, trace, start(), "--on-miss", "skip")
    assert code == 3
    assert report["missed"]
    assert fields(report) == set()


def test_a_wrong_password_is_a_difference(
    trace: Path, start: Callable[..., Running], capsys: pytest.CaptureFixture[str]
) -> None:
    _, report = replay(capsys, trace, start(), "--user", "alice:wrong", "--on-miss", "skip")
    assert ("SaslAuthenticate", "error_code") in fields(report)


def test_an_unreachable_target_is_reported(
    trace: Path, nobody: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(trace), "--target", nobody]) == 1
    assert f"cannot connect to {nobody}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--target", "nonsense"], "HOST:PORT"),
        (["--target", "h:70000"], "port 70000 is out of range"),
        (["--target", "h:1", "--speed", "0"], "--speed"),
        (["--target", "h:1", "--speed", "nan"], "--speed `nan`: expected"),
        (["--target", "h:1", "--timeout", "0"], "--timeout `0`: expected"),
        (["--target", "h:1", "--timeout", "inf"], "--timeout `inf`: expected"),
        (["--target", "h:1", "--timeout", "soon"], "--timeout `soon`: expected"),
        (["--target", "h:1", "--user", "alice"], "NAME:PASSWORD"),
        (["--target", "h:1", "--route", "x"], "LISTENER="),
    ],
)
def test_invalid_options_are_reported(
    trace: Path, capsys: pytest.CaptureFixture[str], options: list[str], says: str
) -> None:
    assert main(["replay", str(trace), *options]) == 2
    assert says in capsys.readouterr().err


def test_an_unknown_api_to_ignore_is_reported(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(trace), "--target", "h:1", "--ignore", "Fetsch.error_code"])
    assert ended.value.code == EXIT_USAGE
    assert "--ignore: unknown Kafka API `Fetsch`; did you mean `Fetch`" in capsys.readouterr().err
