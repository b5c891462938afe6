"""Readiness agrees with a replay of the workload to a broker of the newer release."""

import json
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafka_shim.authorizer.model import Acl
from kafka_shim.cli import main
from kafka_shim.client.client import Client
from kafka_shim.client.config import ClientConfig, Login
from kafka_shim.pipeline import cli
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.shim.config import Config, InitialTopic, SecurityProtocol, parse_address
from tests.cli.conftest import SASL, USERS, Running
from tests.pipeline.asking import parsed
from tests.recordings.traffic.grants import PASSWORDS
from tests.recordings.traffic.recording import ARCHIVES, PROXY
from tests.support.checked_folders import PIPELINE

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.client, pytest.mark.timeout(600)]
OLD, NEWEST = "3.9", RELEASES[-1]
RELEASE = "4.3.1"
"""The release of the recorded run."""


def acl(kind: ResourceType, name: str, operation: Operation) -> Acl:
    pattern, permission = PatternType.LITERAL, Permission.ALLOW
    return Acl(kind, name, pattern, "User:alice", "*", operation, permission)


ACLS = (
    acl(ResourceType.TOPIC, "orders", Operation.READ),
    acl(ResourceType.TOPIC, "orders", Operation.WRITE),
    acl(ResourceType.GROUP, "g", Operation.READ),
)


def running(release: str) -> Running:
    return Running(
        Config(
            release=release,
            listeners=(SASL,),
            users=USERS,
            acls=ACLS,
            topics=(InitialTopic("orders"),),
        )
    )


def as_client_may(address: str) -> None:
    """Produce, and consume in a group, with a client that supports both releases."""
    servers: dict[str, Any] = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "alice",
        "sasl.password": "alice-secret",
    }
    producer = Producer(servers | {"enable.idempotence": True})
    producer.produce("orders", b"x")
    assert producer.flush(10) == 0
    consumer = Consumer(servers | {"group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    message = next(m for m in iter(lambda: consumer.poll(1), 0) if m is not None)
    assert message.error() is None
    consumer.commit(message=message, asynchronous=False)
    consumer.close()


def as_old_clients_do(address: str) -> None:
    """Send a version of ListOffsets that 4.0 and later do not support."""
    login = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, Login("PLAIN", "alice", "alice-secret"))
    wanted = [ListOffsetsTopic("orders", [ListOffsetsPartition(timestamp=-1, max_num_offsets=1)])]
    with Client(*parse_address(address, ""), login) as client:
        client.send_request(ApiKey.LIST_OFFSETS, ListOffsetsRequest(topics=wanted), 0)


def replayed(trace: Path, target: Running, users: dict[str, str], capsys: Any) -> dict[str, Any]:
    """Replay a trace, skipping requests that cannot be replayed; return the report."""
    options = ["--target", target.bootstrap("SASL_PLAINTEXT"), "--on-miss", "skip", "--json"]
    for user, password in users.items():
        options += ["--user", f"{user}:{password}"]
    code = main(["replay", str(trace), "--ignore", "ApiVersions", *options])
    target.stop()
    out = capsys.readouterr().out
    report: dict[str, Any] = json.loads(out[out.index("{\n") :])
    return report | {"code": code}


@pytest.mark.parametrize(
    ("work", "survives"),
    [pytest.param(as_client_may, True, marks=pytest.mark.heavy), (as_old_clients_do, False)],
)
def test_a_ready_workload_gets_the_same_responses(
    work: Any, survives: bool, spark: Any, tmp_path: Path, capsys: Any
) -> None:
    assert spark
    broker = running(OLD)
    broker.record(tmp_path / "trace")
    work(broker.bootstrap("SASL_PLAINTEXT"))
    broker.stop()
    words = (
        "readiness",
        str(tmp_path / "trace"),
        "--from-release",
        OLD,
        "--to-release",
        NEWEST,
        "--fail-on",
        "any",
        "--json",
    )
    code = cli.run(parsed(*words))
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert (code, bool(rows)) == ((0, False) if survives else (3, True))
    users = {"alice": "alice-secret"}
    report = replayed(tmp_path / "trace", running(NEWEST), users, capsys)
    assert report["code"] == (0 if survives else 3), report
    assert report["responses"] > (15 if survives else 0)


NEWER = {
    ("CreateTopics", "topics[].configs[]"): "settings that 4.4 has besides",
    ("Metadata", "topics[]"): "the topic of share groups' states, which is not made here",
    ("ShareGroupHeartbeat", "assignment"): "a member had five seconds to be assigned something",
}
"""Expected differences in the run of a real 4.3.1, apart from broker settings."""


@pytest.mark.heavy
def test_the_run_of_a_real_broker_is_ready_for_the_newest_release(
    spark: Any, tmp_path: Path, capsys: Any
) -> None:
    """Six principals with three clients: the newest release denies none of their requests."""
    assert spark
    ARCHIVES.extract(RELEASE, tmp_path)
    trace = tmp_path / PROXY
    ready = ("readiness", str(trace), "--from-release", "4.3", "--to-release", NEWEST)
    assert cli.run(parsed(*ready, "--fail-on", "any")) == 0
    capsys.readouterr()
    supers = ("User:ANONYMOUS", "User:admin")
    broker = Config(release=NEWEST, listeners=(SASL,), users=PASSWORDS, super_users=supers)
    report = replayed(trace, Running(broker), PASSWORDS, capsys)
    found = {(row["api"], row["field"]) for row in report["differences"]}
    assert {place for place in found if place[0] != "DescribeConfigs"} <= NEWER.keys()
    assert not report["missed"]
    assert report["responses"] > 3800
    counted = sum(report[name] for name in ("responses", "logins", "unanswered", "left_out"))
    assert counted + sum(report["put_aside"].values()) == report["trace_requests"]
