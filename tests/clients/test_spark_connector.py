"""Spark's Kafka connector needs the same ACLs on the shim as on real brokers."""

import json
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_shim.pipeline.acls.required_access import observed_access_of_row
from kafka_shim.pipeline.rows.batches import plan_splits, table_batches
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.pipeline.spark_requirements import missing_requirement
from kafka_shim.policy.least.least_acls import least_grants
from kafka_shim.policy.least.name_prefixes import join_names_into_prefixes
from kafka_shim.protocol.enums import ResourceType
from tests.clients.toolchains import DRIVERS, spark_jars
from tests.support.commands import SHIM

pytestmark = [
    pytest.mark.client,
    pytest.mark.spark,
    pytest.mark.heavy,
    pytest.mark.timeout(900),
    pytest.mark.skipif(missing_requirement() is not None, reason=str(missing_requirement())),
]
RECORDS = 5
USERS = ("admin", "reader", "nobody", "describer", "grouped", "writer")
STATE = {
    "users": {name: f"{name}-secret" for name in USERS},
    "topics": {name: {"partitions": 1} for name in ("spark-in", "spark-out", "spark-hidden")},
    "acls": [
        {"principal": "User:reader", "allow": "Read", "topic": "spark-in"},
        {"principal": "User:describer", "allow": "Describe", "topic": "spark-in"},
        {"principal": "User:grouped", "allow": "Read", "topic": "spark-in"},
        {
            "principal": "User:grouped",
            "allow": "Read",
            "group": "spark-kafka-source",
            "pattern": "prefixed",
        },
        {"principal": "User:writer", "allow": "Write", "topic": "spark-out"},
    ],
}
OUTCOMES = {
    "batch read": RECORDS,
    "stream read": RECORDS,
    "stream read by pattern": RECORDS,  # topics without DESCRIBE are not found
    "read with nothing granted": "TopicAuthorizationException",
    "read with describe": "TopicAuthorizationException",
    "old offset fetching": RECORDS,
    "old offset fetching without a group": "GroupAuthorizationException",
    "write": "written",
    "write with nothing granted": "TopicAuthorizationException",
}


def fill(address: str) -> None:
    settings = {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "admin",
        "sasl.password": "admin-secret",
    }
    producer = Producer(settings)
    for topic in ("spark-in", "spark-hidden"):
        for number in range(RECORDS):
            producer.produce(topic, str(number).encode())
    assert producer.flush(30) == 0


@pytest.fixture(scope="module")
def trace_and_outcomes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("connector")
    jars = spark_jars()
    state, ready, trace = folder / "state.yaml", folder / "ready", folder / "trace"
    state.write_text(json.dumps(STATE))
    command = [*SHIM, "serve", "--state", str(state)]
    command += ["--listener", "SASL_PLAINTEXT://127.0.0.1:0", "--super-user", "User:admin"]
    command += ["--record", str(trace), "--ready-file", str(ready), "--log-level", "error"]
    broker = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not ready.exists():
            assert broker.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = ready.read_text().strip().split("=", 1)[1]
        fill(address)
        driver = [sys.executable, str(DRIVERS / "spark" / "driver.py"), str(jars), address]
        done = subprocess.run(driver, capture_output=True, text=True, timeout=800, check=False)
    finally:
        broker.terminate()
        broker.wait(20)
    assert done.returncode == 0, done.stderr[-4000:]
    return trace, json.loads(done.stdout.splitlines()[-1])


def test_outcomes_are_those_of_a_real_broker(
    trace_and_outcomes: tuple[Path, dict[str, Any]],
) -> None:
    assert trace_and_outcomes[1] == OUTCOMES


def test_least_acls_finds_the_acls_of_the_run(
    trace_and_outcomes: tuple[Path, dict[str, Any]],
) -> None:
    """Group names have a generated part, so that only a prefixed ACL is useful for them."""
    by_principal: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for split in plan_splits([str(trace_and_outcomes[0])]):
        for batch in table_batches("observed", split, Selection()):
            for row in batch.to_pylist():
                if row["role"] in ("required", "either") and row["allowed"]:
                    by_principal[row["principal"]].append(row)
    found = {
        who: {
            (a.operation.name, a.resource_type.name, a.resource_name, a.pattern_type.name)
            for grant in join_names_into_prefixes(
                least_grants(map(observed_access_of_row, rows)), {}, 0, ()
            )
            for a in [grant.acl]
        }
        for who, rows in by_principal.items()
    }
    assert found["User:reader"] == {("READ", "TOPIC", "spark-in", "LITERAL")}
    assert found["User:writer"] == {("WRITE", "TOPIC", "spark-out", "LITERAL")}
    assert found["User:grouped"] == {
        ("READ", "TOPIC", "spark-in", "LITERAL"),
        ("READ", ResourceType.GROUP.name, "spark-kafka-source-", "PREFIXED"),
    }
