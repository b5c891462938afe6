"""Kafka's Java clients above their quotas report in their metrics how long they were throttled."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.client.client import connect
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.testing import KafkaBroker, start
from tests.clients.toolchains import java_program
from tests.shim.faults.test_java_under_faults import QUICK, Java

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

FAULTS = Path(__file__).parents[1] / "faults"
RATE = 20_000.0
SIZE = 210_000
"""Half a second's bytes more than the quota for its window of ten seconds."""


@pytest.fixture(scope="module")
def shared() -> Iterator[KafkaBroker]:
    with start(properties={"auto.create.topics.enable": "false"}) as broker:
        yield broker


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    shared.reset()
    shared.topics.create("orders")
    return shared


@pytest.fixture(scope="module")
def java(shared: KafkaBroker) -> Iterator[Java]:
    program = java_program(FAULTS / "java", "Sender")
    found = Java(program, {"bootstrap.servers": shared.bootstrap_servers, **QUICK})
    yield found
    found.end()


def limit(broker: KafkaBroker, client_id: str, quota: str, rate: float) -> None:
    with connect(broker.bootstrap_servers) as admin:
        entity = RequestEntityData("client-id", client_id)
        row = RequestEntryData([entity], [OpData(quota, rate)])
        admin.send_request(ApiKey.ALTER_CLIENT_QUOTAS, AlterClientQuotasRequest([row]))


def test_a_producer_sees_its_quota(java: Java, broker: KafkaBroker) -> None:
    limit(broker, "writer", "producer_byte_rate", RATE)
    assert java("producer", client_id="writer", batch_size=1) == "ok"
    assert java("metric produce-throttle-time-max") == "NaN"
    assert java(f"send {SIZE}") == "ok"
    assert 300 < float(java("metric produce-throttle-time-max")) < 1000


def test_a_consumer_sees_its_quota(java: Java, broker: KafkaBroker) -> None:
    """Three of the four records are within the quota of a window."""
    limit(broker, "reader", "consumer_byte_rate", 4 * RATE)
    assert java("producer", client_id="free") == "ok"
    for _ in range(4):
        assert java(f"send {SIZE}") == "ok"
    reading = {"client_id": "reader", "group_id": "g", "auto_offset_reset": "earliest"}
    assert java("consumer", **reading) == "ok"
    assert java("poll") == "3"
    java.ask("poll")
    time.sleep(0.3)
    limit(broker, "reader", "consumer_byte_rate", 1e9)
    assert java.response() == "1"
    assert 0 < float(java("metric fetch-throttle-time-max")) < 3000
