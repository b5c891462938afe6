"""How librdkafka reacts to faults: it retries, gives up, logs in again, or reports."""

import time
from contextlib import suppress
from typing import Any, Literal

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from kafka_shim.testing import KafkaBroker

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]

QUICK = {
    "retry.backoff.ms": 20,
    "retry.backoff.max.ms": 50,
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 50,
    "log_level": 0,
}


@pytest.fixture
def broker(shared: KafkaBroker) -> KafkaBroker:
    shared.reset()
    shared.topics.create("orders")
    shared.acls.add(principal="alice", allow=["Write", "Describe"], topic="orders")
    return shared


class Sender:
    """A producer that logs in as alice and reports whether its messages were delivered."""

    def __init__(self, broker: KafkaBroker, **config: Any) -> None:
        self.broker = broker
        options = {
            key if key.endswith("_cb") else key.replace("_", "."): value
            for key, value in config.items()
        }
        self.producer = Producer(broker.config("alice") | QUICK | {"linger.ms": 0} | options)

    def send(self, timeout_s: float = 20) -> str | None:
        """Send a message; return None if it was delivered, otherwise the name of the error."""
        outcome: list[KafkaError | None] = []
        self.producer.produce("orders", b"1", on_delivery=lambda error, _: outcome.append(error))
        assert self.producer.flush(timeout_s) == 0
        [error] = outcome
        return None if error is None else error.name()

    @property
    def stored(self) -> int:
        """The number of records in the topic."""
        [topic] = self.broker.topics.list()
        return int(topic.end_offsets[0])


def test_a_retriable_error_is_retried(broker: KafkaBroker) -> None:
    fault = broker.faults.error("NOT_LEADER_OR_FOLLOWER", api="Produce", topic="orders", times=2)
    sender = Sender(broker)
    assert sender.send() is None
    assert (fault.fired, fault.calls, sender.stored) == (2, 3, 1)


def test_an_error_that_is_not_retriable_is_reported(broker: KafkaBroker) -> None:
    fault = broker.faults.error("MESSAGE_TOO_LARGE", api="Produce")
    sender = Sender(broker)
    assert sender.send() == "MSG_SIZE_TOO_LARGE"
    assert (fault.fired, sender.stored) == (1, 0)
    assert sender.send() is None


def test_a_slow_broker_is_waited_for(broker: KafkaBroker) -> None:
    sender = Sender(broker)
    assert sender.send() is None
    broker.faults.delay(400, api="Produce")
    began = time.monotonic()
    assert sender.send() is None
    assert time.monotonic() - began >= 0.4


@pytest.mark.parametrize(("when", "stored"), [("before", 1), ("after", 2)])
def test_a_lost_response_duplicates_a_record(
    broker: KafkaBroker, when: Literal["before", "after"], stored: int
) -> None:
    fault = broker.faults.disconnect(when, api="Produce")
    sender = Sender(broker)
    assert sender.send() is None
    assert (fault.fired, sender.stored) == (1, stored)


def test_an_idempotent_producer_writes_no_duplicate(broker: KafkaBroker) -> None:
    fault = broker.faults.disconnect("after", api="Produce")
    sender = Sender(broker, enable_idempotence=True)
    assert sender.send() is None
    assert (fault.fired, sender.stored) == (1, 1)


def test_deny_is_an_authorization_error(broker: KafkaBroker) -> None:
    fault = broker.faults.deny("Write", topic="orders", api="Produce")
    sender = Sender(broker)
    assert sender.send() == "TOPIC_AUTHORIZATION_FAILED"
    assert fault.fired == 1
    assert Sender(broker).send() is None  # the first sender caches the denial for a while
    [denied] = broker.denials()
    assert (denied.operation, denied.resource_name, denied.principal) == (
        "WRITE", "orders", "User:alice",
    )  # fmt: skip


def test_a_permission_is_revoked_while_writing(broker: KafkaBroker) -> None:
    rule = {"principal": "alice", "allow": ["Write", "Describe"], "topic": "orders"}
    broker.faults.revoke(rule, after=3, api="Produce")
    sender = Sender(broker)
    outcomes = [sender.send() for _ in range(4)]
    assert outcomes == [None, None, None, "TOPIC_AUTHORIZATION_FAILED"]
    assert sender.stored == 3


def test_a_permission_is_granted_while_writing(broker: KafkaBroker) -> None:
    rule = {"principal": "alice", "allow": ["Write", "Describe"], "topic": "orders"}
    broker.acls.remove(rule)
    fault = broker.faults.grant(rule, after=2, api="Metadata")
    refused = delivered = 0
    deadline = time.monotonic() + 20
    while not delivered:
        assert time.monotonic() < deadline
        with suppress(KafkaException):  # raised if the denial arrives while the message is queued
            delivered += Sender(broker).send() is None
        refused += not delivered
    assert refused
    assert (fault.fired, Sender(broker).stored) == (1, 1)


def test_a_lost_sequence_is_fatal_for_an_idempotent_producer(broker: KafkaBroker) -> None:
    fault = broker.faults.error("OUT_OF_ORDER_SEQUENCE_NUMBER", api="Produce", on_call=2)
    sender = Sender(broker, enable_idempotence=True)
    assert sender.send() is None
    with pytest.raises(KafkaException) as caught:
        sender.send()
    assert caught.value.args[0].fatal()
    assert (fault.fired, sender.stored) == (1, 1)


@pytest.mark.parametrize(
    ("trigger", "struck"),
    [
        ({}, [True, False, False, False]),
        ({"on_call": 3}, [False, False, True, False]),
        ({"times": 2}, [True, True, False, False]),
        ({"every_time": True}, [True] * 4),
        ({"with_probability": 0.5, "seed": 10}, [False, True, False, True]),
    ],
    ids=["once", "on_call", "times", "every_time", "with_probability"],
)
def test_triggers_select_requests(
    broker: KafkaBroker, trigger: dict[str, Any], struck: list[bool]
) -> None:
    fault = broker.faults.error("INVALID_REQUIRED_ACKS", api="Produce", partition=0, **trigger)
    sender = Sender(broker)
    outcomes = [sender.send() for _ in struck]
    assert [outcome == "INVALID_REQUIRED_ACKS" for outcome in outcomes] == struck
    assert (fault.calls, fault.fired) == (len(struck), sum(struck))


def test_a_black_hole_ends_in_a_timeout(broker: KafkaBroker) -> None:
    fault = broker.faults.black_hole(api="Produce", every_time=True)
    sender = Sender(broker, message_timeout_ms=800)
    assert sender.send() == "_MSG_TIMED_OUT"
    assert fault.fired >= 1


def test_throttling_is_reported(broker: KafkaBroker) -> None:
    seen: list[float] = []
    broker.faults.throttle(700, api="Produce")
    sender = Sender(broker, throttle_cb=lambda event: seen.append(event.throttle_time))
    assert sender.send() is None
    sender.producer.poll(1)
    assert seen == [0.7]


@pytest.mark.parametrize("effect", [{"truncate": 6}, {"corrupt": True}])
def test_a_client_recovers_from_a_damaged_response(
    broker: KafkaBroker, effect: dict[str, Any]
) -> None:
    fault = broker.faults.add(effect, api="Metadata")
    sender = Sender(broker, socket_timeout_ms=1000)
    assert sender.send() is None
    assert fault.fired == 1


def test_a_failed_login_is_retried(broker: KafkaBroker) -> None:
    errors: list[str] = []
    fault = broker.faults.error("SASL_AUTHENTICATION_FAILED", api="SaslAuthenticate")
    sender = Sender(broker, error_cb=lambda error: errors.append(error.name()))
    assert sender.send() is None
    assert fault.fired == 1
    deadline = time.monotonic() + 5
    while not errors and time.monotonic() < deadline:  # it may arrive after the delivery
        sender.producer.poll(0.1)
    assert "_AUTHENTICATION" in errors


def test_a_lost_login_is_repeated(broker: KafkaBroker) -> None:
    fault = broker.faults.disconnect("after", api="SaslAuthenticate")
    assert Sender(broker).send() is None
    assert fault.fired == 1


def test_a_paused_request_does_not_hold_up_another_client(broker: KafkaBroker) -> None:
    fault = broker.faults.pause(api="Produce")
    outcome: list[KafkaError | None] = []
    producer = Producer(broker.config("alice") | QUICK)
    producer.produce("orders", b"1", on_delivery=lambda error, _: outcome.append(error))
    deadline = time.monotonic() + 20
    while fault.fired == 0:
        assert time.monotonic() < deadline
        producer.poll(0.02)
    assert outcome == []
    assert Sender(broker).send() is None  # other clients are served meanwhile
    assert fault.release() == 1
    producer.flush(20)
    [error] = outcome
    assert error is None  # comparing None by `==` fails in confluent-kafka


def test_a_consumer_loses_its_permission(broker: KafkaBroker) -> None:
    rule = {"principal": "alice", "allow": "Read", "topic": "orders"}
    broker.acls.add(rule, {"principal": "alice", "allow": "Read", "group": "billing"})
    sender = Sender(broker)
    assert sender.send() is None
    options = {"group.id": "billing", "auto.offset.reset": "earliest", "fetch.wait.max.ms": 50}
    consumer = Consumer(broker.config("alice") | options | QUICK)
    consumer.subscribe(["orders"])
    first = next_message(consumer)
    assert first.error() is None
    broker.acls.remove(rule)
    second = next_message(consumer)
    assert second.error().name() == "TOPIC_AUTHORIZATION_FAILED"
    consumer.close()


def next_message(consumer: Consumer) -> Any:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None:
            return message
    raise AssertionError("no message came")


def test_an_admin_client_reports_the_error(broker: KafkaBroker) -> None:
    broker.faults.error("POLICY_VIOLATION", api="DeleteTopics", every_time=True)
    admin = AdminClient(broker.config("admin") | QUICK)
    [future] = admin.delete_topics(["orders"]).values()
    with pytest.raises(Exception, match="POLICY_VIOLATION"):
        future.result(20)
    assert broker.topics.list()[0].name == "orders"
