"""Clients that a test leaves behind, and the tests that follow it."""

from pathlib import Path

import pytest

from tests.testing.plugin.nested import run_pytest

pytestmark = pytest.mark.timeout(300, func_only=True)

LEAKED = """
import time
from confluent_kafka import Producer

LEAKED = []
QUICK = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 20}

def test_leaves_a_queued_record_and_a_client_with_a_wrong_password(kafka_broker):
    kafka_broker.topics.create("orders")
    queued = Producer(kafka_broker.config() | QUICK | {"linger.ms": 500})
    queued.produce("orders", b"leaked")
    kafka_broker.users.add("mallory", "right")
    config = kafka_broker.config("mallory") | QUICK | {"sasl.password": "wrong"}
    LEAKED.extend([queued, Producer(config)])
    deadline = time.monotonic() + 20
    while not kafka_broker.requests("Metadata") or not kafka_broker.authentications():
        assert time.monotonic() < deadline
        poll()

def test_has_its_topic_for_itself(kafka_broker):
    kafka_broker.topics.create("orders")
    deadline = time.monotonic() + 1.5
    while time.monotonic() < deadline:
        poll()
    LEAKED[0].purge()
    assert kafka_broker.topics.records("orders") == []
    assert kafka_broker.authentications() == []
    assert kafka_broker.requests() == []
    assert kafka_broker.health().connections == 0

def poll():
    for client in LEAKED:
        client.poll(0.02)
"""

PORTS = """
import socket
import pytest

BEFORE = []

@pytest.mark.kafka_broker(brokers=2)
def test_first(kafka_broker):
    BEFORE.append(dict(kafka_broker.listeners))
    kafka_broker.reset()
    kafka_broker.restore(kafka_broker.snapshot())
    assert kafka_broker.listeners == BEFORE[0]

@pytest.mark.kafka_broker(brokers=2)
@pytest.mark.parametrize("again", [1, 2])
def test_second(kafka_broker, again):
    assert set(kafka_broker.listeners) == set(BEFORE[0])
    for before in BEFORE:
        for name, addresses in before.items():
            for address in addresses.split(","):
                with pytest.raises(ConnectionRefusedError):
                    connect(address)
    for addresses in kafka_broker.listeners.values():
        for address in addresses.split(","):
            connect(address)
    BEFORE.append(dict(kafka_broker.listeners))

def connect(address):
    host, _, port = address.rpartition(":")
    socket.create_connection((host, int(port)), 5).close()
"""


@pytest.mark.parametrize("in_process", ["true", "false"])
def test_clients_of_a_test_do_not_reach_the_next_one(tmp_path: Path, in_process: str) -> None:
    done = run(tmp_path, LEAKED, in_process)
    assert "2 passed" in done, done


@pytest.mark.parametrize("in_process", ["true", "false"])
def test_only_between_tests_do_ports_change(tmp_path: Path, in_process: str) -> None:
    done = run(tmp_path, PORTS, in_process)
    assert "3 passed" in done, done


def test_a_configured_port_stays(tmp_path: Path, unused_tcp_port: int) -> None:
    text = f"""
import pytest

@pytest.mark.kafka_broker(listeners=["PLAINTEXT://127.0.0.1:{unused_tcp_port}"])
@pytest.mark.parametrize("again", [1, 2])
def test_it(kafka_broker, again):
    assert kafka_broker.bootstrap_servers == "127.0.0.1:{unused_tcp_port}"
    assert kafka_broker.health().status == "ok"
"""
    done = run(tmp_path, text, "false")
    assert "2 passed" in done, done


def run(folder: Path, text: str, in_process: str) -> str:
    (folder / "test_it.py").write_text(text)
    (folder / "pytest.ini").write_text(f"[pytest]\nkafka_broker_in_process = {in_process}\n")
    return run_pytest(folder).stdout
