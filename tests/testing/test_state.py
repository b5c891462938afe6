"""Records, groups, transactions and permissions from Python."""

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_shim.testing import KafkaBroker, start
from kafka_shim.testing.transport import BrokerError


@pytest.fixture(scope="module")
def running() -> Iterator[KafkaBroker]:
    with start(in_process=True, topics={"orders": 3, "many": 1}) as broker:
        yield broker


@pytest.fixture
def broker(running: KafkaBroker) -> KafkaBroker:
    running.reset()
    return running


def test_records_of_all_partitions_are_returned(broker: KafkaBroker) -> None:
    first = broker.topics.produce("orders", "one", key="a", headers={"h": "x"})
    broker.topics.produce("orders", b"\xff", partition=2)
    broker.topics.produce("orders", None, key="gone", partition=1)
    rows = broker.topics.records("orders")
    assert {(row.partition, row.offset, row.value) for row in rows} >= {
        (first.partition, first.offset, "one"),
        (2, 0, None),
    }
    assert len(rows) == 3
    [one] = [row for row in rows if row.key == "a"]
    assert one.headers[0].value == "x"
    assert broker.topics.records("orders", partition=2)[0].value_hex == "ff"


def test_more_records_than_a_page_has_are_returned(broker: KafkaBroker) -> None:
    producer = Producer(broker.config())
    for number in range(2_500):
        producer.produce("many", str(number))
    producer.flush()
    values = [row.value for row in broker.topics.records("many")]
    assert values == [str(number) for number in range(2_500)]
    assert len(broker.topics.records("many", from_offset=2_499)) == 1
    assert not broker.topics.records("many", from_offset=2_500)


def test_records_of_a_missing_topic_are_an_error(broker: KafkaBroker) -> None:
    with pytest.raises(BrokerError, match="nope"):
        broker.topics.records("nope")


def test_groups_and_their_offsets(broker: KafkaBroker) -> None:
    for _ in range(5):
        broker.topics.produce("many", "x")
    consumer = Consumer(broker.config() | {"group.id": "g"})
    consumer.commit(offsets=[TopicPartition("many", 0, 3)], asynchronous=False)
    consumer.close()
    [group] = broker.groups.list()
    assert (group.group_id, group.lag, group.offsets[0].offset) == ("g", 2, 3)
    assert broker.groups.reset_offsets("g", "latest", dry_run=True).changes[0].after == 5
    assert broker.groups.get("g").lag == 2
    broker.groups.reset_offsets("g", shift=-1)
    assert broker.groups.get("g").offsets[0].offset == 2
    broker.groups.delete("g")
    assert broker.groups.list() == []


def test_transactions_and_producers(broker: KafkaBroker) -> None:
    producer = Producer(broker.config() | {"transactional.id": "t"})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("many", "x")
    producer.flush()
    [transaction] = broker.transactions()
    assert (transaction.transactional_id, transaction.state) == ("t", "Ongoing")
    assert transaction.partitions[0].topic == "many"
    assert broker.producers()[0].producer_id == transaction.producer_id
    producer.abort_transaction()


def test_who_can_and_the_matrix(broker: KafkaBroker) -> None:
    for number in range(150):
        broker.acls.add(principal=f"u{number}", allow="Write", topic="orders")
    allowed = {row.principal: row for row in broker.who_can("Write", "orders").allowed}
    assert allowed.keys() >= {"User:u0", "User:u149"}
    assert allowed["User:u7"].acls[0].operation == "WRITE"
    matrix = broker.matrix()
    assert "WRITE" in matrix["User:u149"]["orders"]
    assert matrix["User:u7"]["many"] == []


def test_acls_are_exported_and_imported(broker: KafkaBroker) -> None:
    broker.acls.add(principal="alice", allow="Read", topic="orders")
    text = broker.acls.export_text("csv")
    broker.reset()
    assert broker.acls.list() == []
    broker.acls.import_text(text)
    assert broker.acls.list()[0].operation == "READ"
    assert "User:alice" in broker.acls.export_text()
