"""Real clients push their metrics when the broker has a subscription for them (KIP-714)."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kafka_shim.testing import KafkaBroker, start
from tests.clients.toolchains import java_program
from tests.recordings.peers.socket_peer import Connection
from tests.shim.faults.test_java_under_faults import Java

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

FAULTS = Path(__file__).parents[1] / "faults"
WAIT_S = 20


@pytest.fixture(scope="module")
def broker() -> Iterator[KafkaBroker]:
    with start(properties={"shim.client.telemetry": "true"}) as started:
        settings = {"metrics": "org.apache.kafka.", "interval.ms": "100"}
        configs = [AlterableConfig(name=name, value=value) for name, value in settings.items()]
        resource = AlterConfigsResource(
            resource_type=ConfigResourceType.CLIENT_METRICS, resource_name="all", configs=configs
        )
        connection = Connection(started.bootstrap_servers)
        request = IncrementalAlterConfigsRequest(resources=[resource])
        response = connection.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, request)
        assert response.responses[0].error_code == 0
        connection.close()
        yield started


def software_of(broker: KafkaBroker, client_id: str) -> str | None:
    """Wait for a push of this client; return the name of its software."""
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        for push in broker.telemetry_pushes():
            if push.client_id == client_id:
                assert push.compression == "zstd"
                assert push.bytes_decompressed > push.bytes_sent > 0
                return str(push.client_software_name)
        time.sleep(0.1)
    return None


def test_librdkafka_pushes_its_metrics(broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"client.id": "rdkafka", "log_level": 0})
    producer.produce("orders", b"one")
    assert producer.flush(WAIT_S) == 0
    assert software_of(broker, "rdkafka") == "confluent-kafka-python"


def test_java_pushes_its_metrics(broker: KafkaBroker) -> None:
    command = java_program(FAULTS / "java", "Sender")
    java = Java(command, broker.config(style="java"))
    try:
        assert java("producer", client_id="java") == "ok"
        assert java("send") == "ok"
        assert software_of(broker, "java") == "apache-kafka-java"
    finally:
        java.end()


def test_clients_push_nothing_if_the_broker_accepts_no_metrics() -> None:
    with start() as broker:
        producer = Producer(broker.config())
        producer.produce("orders", b"one")
        assert producer.flush(WAIT_S) == 0
        assert broker.requests("GetTelemetrySubscriptions") == []
