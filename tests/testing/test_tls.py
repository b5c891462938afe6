"""With `tls=True` certificates are made at startup, and `config()` refers each client to them."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiokafka import AIOKafkaProducer  # type: ignore[import-untyped]
from confluent_kafka import Producer
from kafka import KafkaProducer

from kafka_shim.testing import BrokerError, KafkaBroker, start

pytestmark = [pytest.mark.client, pytest.mark.timeout(120, func_only=True)]


@pytest.fixture(scope="module")
def shared() -> Iterator[KafkaBroker]:
    with start(topics=["orders"], tls=True, in_process=True) as broker:
        yield broker


def by_confluent_kafka(config: dict[str, Any]) -> None:
    failures: list[object] = []
    producer = Producer(config)
    producer.produce("orders", b"one", on_delivery=lambda error, _: failures.append(error))
    assert producer.flush(30) == 0
    assert failures == [None]


def by_kafka_python(config: dict[str, Any]) -> None:
    with contextlib.closing(KafkaProducer(**config)) as producer:
        producer.send("orders", b"one").get(30)


def by_aiokafka(config: dict[str, Any]) -> None:
    async def produce() -> None:
        async with AIOKafkaProducer(**config) as producer:
            await producer.send_and_wait("orders", b"one")

    asyncio.run(asyncio.wait_for(produce(), 30))


CLIENTS: dict[str, Callable[[dict[str, Any]], None]] = {
    "confluent-kafka": by_confluent_kafka,
    "kafka-python": by_kafka_python,
    "aiokafka": by_aiokafka,
}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize("style", CLIENTS)
def test_users_log_in_over_sasl_ssl(broker: KafkaBroker, style: str, mechanism: str) -> None:
    broker.acls.add(principal="alice", allow="Write", topic="orders")
    config = broker.config("alice", style, mechanism)
    assert "SASL_SSL" in config.values()
    assert broker.listeners["SASL_SSL"] in config.values()
    CLIENTS[style](config)
    assert {row.principal for row in broker.requests(api="Produce")} == {"User:alice"}


@pytest.mark.parametrize("style", CLIENTS)
def test_clients_without_certificates_connect_over_ssl(broker: KafkaBroker, style: str) -> None:
    config = broker.config(style=style)
    assert "SSL" in config.values()
    assert broker.listeners["SSL"] in config.values()
    CLIENTS[style](config)
    assert {row.principal for row in broker.requests(api="Produce")} == {"User:ANONYMOUS"}


@pytest.mark.parametrize("style", CLIENTS)
def test_a_client_certificate_is_configured_if_the_broker_requires_one(style: str) -> None:
    properties = {
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
    }
    rule = {"principal": "client", "allow": "Write", "topic": "orders"}
    with start(
        listeners=["SSL://127.0.0.1:0"], topics=["orders"], tls=True, properties=properties,
        in_process=True, acls=[rule],
    ) as broker:  # fmt: skip
        CLIENTS[style](broker.config(style=style))
        assert {row.principal for row in broker.requests(api="Produce")} == {"User:client"}


def test_the_configuration_for_java_has_pem_stores(broker: KafkaBroker) -> None:
    config = broker.config("alice", "java")
    assert config["security.protocol"] == "SASL_SSL"
    assert config["ssl.truststore.type"] == "PEM"
    assert "BEGIN CERTIFICATE" in Path(config["ssl.truststore.location"]).read_text()


def test_a_listener_can_be_chosen(broker: KafkaBroker) -> None:
    config = broker.config("alice", listener="SASL_PLAINTEXT")
    assert config["security.protocol"] == "SASL_PLAINTEXT"
    assert not any(key.startswith("ssl.") for key in config)
    by_confluent_kafka(broker.config(listener="PLAINTEXT"))
    with pytest.raises(BrokerError, match="unknown listener SASL; expected PLAINTEXT, SASL_PL"):
        broker.config("alice", listener="SASL")
    with pytest.raises(BrokerError, match="alice cannot log in on listener SSL, which is SSL"):
        broker.config("alice", listener="SSL")


def test_a_missing_listener_is_reported() -> None:
    with (
        start(listeners=["PLAINTEXT://127.0.0.1:0"], in_process=True) as broker,
        pytest.raises(BrokerError) as caught,
    ):
        broker.config("alice")
    said = "the broker has no listener SASL_PLAINTEXT or SASL_SSL, only PLAINTEXT"
    assert str(caught.value) == said


@pytest.mark.parametrize("keyword", ["tls", "tls_dir", "property"])
def test_a_directory_keeps_its_authority(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keyword: str
) -> None:
    """Two brokers with two TLS listeners each run at once; clients of one trust the other."""
    monkeypatch.chdir(tmp_path)
    options: Any = {
        "tls": {"tls": "certificates"},
        "tls_dir": {"tls_dir": "certificates"},
        "property": {"properties": {"shim.tls.directory": str(tmp_path / "certificates")}},
    }[keyword]
    options |= {"topics": ["orders"], "listeners": ["SASL_SSL://127.0.0.1:0", "SSL://127.0.0.1:0"]}
    with start(**options) as first:
        before = first.config()
        authority = Path(before["ssl.ca.location"])
        trusted = authority.read_text()
        assert authority.parent == tmp_path / "certificates"
        with start(in_process=True, **options) as second:
            by_confluent_kafka(second.config())
            by_confluent_kafka(second.config("admin"))
        by_confluent_kafka(first.config("admin"))
        by_confluent_kafka(before)
        assert authority.read_text() == trusted
    assert authority.stat().st_mode & 0o777 == 0o644
    assert (authority.parent / "authority.pem").stat().st_mode & 0o777 == 0o600
