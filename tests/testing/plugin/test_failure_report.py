"""What pytest prints of the brokers of a failed test, wherever the test failed."""

from pathlib import Path

import pytest

from tests.testing.plugin.test_pytest_plugin import run

pytestmark = pytest.mark.timeout(300, func_only=True)

SCOPES = """
import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

def describe(broker, topic):
    with pytest.raises(KafkaException):
        client = AdminClient(broker.config("alice"))
        [future] = client.describe_configs(resources(topic)).values()
        future.result(20)

def resources(topic):
    from confluent_kafka.admin import ConfigResource
    return [ConfigResource("TOPIC", topic)]

@pytest.fixture
def set_up(kafka_broker):
    kafka_broker.topics.create("orders")
    describe(kafka_broker, "orders")
    assert kafka_broker is None

def test_of_set_up(set_up):
    pass

@pytest.fixture
def torn_down(kafka_broker_factory):
    broker = kafka_broker_factory(topics=["payments"])
    yield broker
    describe(broker, "payments")
    assert broker is None

def test_of_tear_down(torn_down):
    pass

@pytest.fixture(scope="module")
def shared(kafka_broker_module):
    kafka_broker_module.topics.create("audit")
    return kafka_broker_module

def test_passes_in_module(shared):
    describe(shared, "audit")

def test_fails_in_module(shared):
    shared.topics.create("shipments")
    describe(shared, "shipments")
    assert shared is None

def test_fails_in_session(kafka_broker_session):
    kafka_broker_session.topics.create("refunds")
    describe(kafka_broker_session, "refunds")
    assert kafka_broker_session is None
"""


def test_a_failure_of_a_fixture_reports_denials_too(tmp_path: Path) -> None:
    done = run(tmp_path, SCOPES)
    assert "2 failed, 2 passed, 2 errors" in done.stdout, done.stdout
    for topic in ("orders", "payments", "shipments", "refunds"):
        line = f"User:alice was denied DESCRIBE_CONFIGS on TOPIC {topic} (DescribeConfigs v"
        assert done.stdout.count(line) == 1, done.stdout
    assert "TOPIC audit" not in done.stdout
    assert "unknown: " not in done.stdout


UNLOGGED = """
from kafka import KafkaProducer

def test_it(kafka_broker):
    config = kafka_broker.config("alice", style="kafka-python")
    producer = KafkaProducer(**config, enable_idempotence=True)
    kafka_broker.topics.create("orders")
    kafka_broker.acls.add(principal="alice", allow="Describe", topic="orders")
    producer.send("orders", b"one").get(5)
"""


def test_denials_without_a_log_line_are_reported_if_there_is_no_other(tmp_path: Path) -> None:
    done = run(tmp_path, UNLOGGED)
    assert "1 failed" in done.stdout, done.stdout
    assert "Denied by the Kafka broker, without a line in Kafka's audit log" in done.stdout
    assert "User:alice was denied" in done.stdout
    assert "(InitProducerId v" in done.stdout


MODULES = """
import pytest

PORTS = set()
pytestmark = pytest.mark.parametrize(
    "kafka_broker_module", [{"topics": ["orders"]}], indirect=True, scope="module"
)

@pytest.mark.parametrize("again", [1, 2])
def test_of_module(kafka_broker_module, again):
    assert [topic.name for topic in kafka_broker_module.topics.list()] == ["orders", "t1"][:again]
    kafka_broker_module.topics.create(f"t{again}")
    PORTS.add(kafka_broker_module.bootstrap_servers)
    assert len(PORTS) == 1
"""


def test_a_broker_of_a_module_keeps_its_state_within_it(tmp_path: Path) -> None:
    (tmp_path / "test_another.py").write_text(MODULES)
    done = run(tmp_path, MODULES)
    assert "4 passed" in done.stdout, done.stdout
