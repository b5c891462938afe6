"""How tests assert denials, of clients that repeat their requests."""

from collections import Counter
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafka_shim.testing import KafkaBroker, start


@pytest.fixture(scope="module")
def denied_broker() -> Iterator[KafkaBroker]:
    """Return a broker that denied alice topics and a group."""
    with start(in_process=True, topics=["orders", "payments"]) as broker:
        client = AdminClient(broker.config("alice"))
        for topic in ("orders", "orders", "payments"):
            client.list_topics(topic, timeout=20)
        [future] = client.describe_consumer_groups(["billing"]).values()
        with pytest.raises(KafkaException):
            future.result(20)
        yield broker


def test_equal_denials_are_one_with_a_count(denied_broker: KafkaBroker) -> None:
    every = denied_broker.decisions(api="Metadata", allowed=False, logged=True)
    rows = [row for row in denied_broker.denials() if row.api == "Metadata"]
    assert Counter({row.resource_name: row.count for row in rows}) == Counter(
        row.resource_name for row in every for _ in range(row.count)
    )
    assert {row.resource_name for row in rows} == {"orders", "payments"}
    assert len(rows) == 2 < len(every)


@pytest.mark.parametrize("principal", ["alice", "User:alice"])
def test_denials_are_asserted(denied_broker: KafkaBroker, principal: str) -> None:
    denied_broker.assert_denied(principal, "Describe", topic="orders")
    denied_broker.assert_denied(principal, "Describe", group="billing")


def test_a_denial_that_there_was_not_fails_with_those_that_there_were(
    denied_broker: KafkaBroker,
) -> None:
    for principal, operation, topic in [
        ("bob", "Describe", "orders"),
        ("alice", "Write", "orders"),
        ("alice", "Describe", "ordres"),
        ("admin", "Describe", "orders"),
    ]:
        with pytest.raises(AssertionError) as caught:
            denied_broker.assert_denied(principal, operation, topic=topic)  # type: ignore[arg-type]
        assert f"User:{principal} was not denied {operation.upper()} on TOPIC {topic}" in str(
            caught.value
        )
        assert "User:alice was denied DESCRIBE on TOPIC orders" in str(caught.value)
    with start(in_process=True) as broker, pytest.raises(AssertionError, match="denied:\nnothing"):
        broker.assert_denied("alice", "Alter", cluster=None)


def test_misspellings_are_errors(denied_broker: KafkaBroker) -> None:
    with pytest.raises(TypeError, match="keyword `topc`; did you mean `topic`"):
        denied_broker.assert_denied("alice", "Describe", topc="orders")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="expected one of topic, group"):
        denied_broker.assert_denied("alice", "Describe")
    with pytest.raises(Exception, match="Descrbe"):
        denied_broker.assert_denied("alice", "Descrbe", topic="orders")  # type: ignore[arg-type]
