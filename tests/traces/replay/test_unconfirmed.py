"""Records that were written without a response are no difference, and are counted."""

from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.traces.replay.recorded_clients import replay, shims

RECORDS = 5


def write(servers: str, acks: int) -> None:
    producer = Producer({"bootstrap.servers": servers, "acks": acks, "linger.ms": 100})
    for number in range(RECORDS):
        producer.produce("orders", f"value {acks} {number}")
    producer.flush(10)


def read(servers: str, count: int) -> None:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", "fetch.wait.max.ms": 50})
    consumer.assign([TopicPartition("orders", 0, 0)])
    assert len(consumer.consume(count, 10)) == count
    consumer.close()


def test_records_of_producers_that_want_no_response(tmp_path: Path) -> None:
    with shims(1, seed=1) as recorded:
        recorded.record(tmp_path)
        admin = AdminClient({"bootstrap.servers": recorded.plaintext})
        admin.create_topics([NewTopic("orders", 1, 1)])["orders"].result(10)
        write(recorded.plaintext, 1)
        write(recorded.plaintext, 0)
        read(recorded.plaintext, 2 * RECORDS)
        write(recorded.plaintext, 1)
    with shims(1, seed=2) as target:
        report = replay(tmp_path, target.plaintext, target.sasl)
    found = report.json_fields()
    assert not found["differences"]
    assert found["not_compared"]["records may have been written without a response"] == RECORDS
