"""One client at full speed, in a process of its own: it writes all records, or reads them.

    python -m benchmarks.against.load CLIENT in|out HOST:PORT TOPIC RECORDS

Prints the seconds from the first record to the last, without the time to connect.
"""

import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType

from benchmarks.against.brokers import PASSWORDS

PARTITIONS = 3
RECORD = b"x" * 1024
_USER = "alice"
_WAIT_S = 60


def librdkafka_in(address: str, topic: str, records: int) -> float:
    from confluent_kafka import Producer  # noqa: PLC0415 - a process needs one client

    producer = Producer({**_librdkafka(address), "linger.ms": 5, "queue.buffering.max.messages": 0})
    producer.list_topics(topic, _WAIT_S)
    began = time.perf_counter()
    for number in range(records):
        producer.produce(topic, RECORD, partition=number % PARTITIONS)
    left = producer.flush(_WAIT_S)
    assert not left, f"{left} records were not written"
    return time.perf_counter() - began


def librdkafka_out(address: str, topic: str, records: int) -> float:
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415 - as above

    consumer = Consumer({**_librdkafka(address), "group.id": "group-load"})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    came = len(consumer.consume(1, _WAIT_S))
    began = time.perf_counter()
    while came < records:
        found = consumer.consume(10_000, 1)
        assert found or time.perf_counter() - began < _WAIT_S, f"only {came} records came"
        came += len(found)
    took = time.perf_counter() - began
    consumer.close()
    return took


def _librdkafka(address: str) -> dict[str, str | int]:
    return {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": _USER,
        "sasl.password": PASSWORDS[_USER],
    }


def kafka_python_in(address: str, topic: str, records: int) -> float:
    from kafka import KafkaProducer  # noqa: PLC0415 - as above

    producer = KafkaProducer(linger_ms=5, batch_size=64 * 1024, **_kafka_python(address))
    producer.partitions_for(topic)
    began = time.perf_counter()
    for number in range(records):
        producer.send(topic, RECORD, partition=number % PARTITIONS)
    producer.flush(_WAIT_S)
    took = time.perf_counter() - began
    producer.close()
    return took


def kafka_python_out(address: str, topic: str, records: int) -> float:
    from kafka import KafkaConsumer, TopicPartition  # noqa: PLC0415 - as above

    consumer = KafkaConsumer(consumer_timeout_ms=_WAIT_S * 1000, **_kafka_python(address))
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    next(consumer)
    began = time.perf_counter()
    for _ in range(records - 1):
        next(consumer)
    took = time.perf_counter() - began
    consumer.close()
    return took


def _kafka_python(address: str) -> dict[str, str]:
    return {
        "bootstrap_servers": address,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": _USER,
        "sasl_plain_password": PASSWORDS[_USER],
    }


LOADS: Mapping[tuple[str, str], Callable[[str, str, int], float]] = MappingProxyType(
    {
        ("librdkafka", "in"): librdkafka_in,
        ("librdkafka", "out"): librdkafka_out,
        ("kafka-python", "in"): kafka_python_in,
        ("kafka-python", "out"): kafka_python_out,
    }
)


if __name__ == "__main__":
    client, direction, broker, name, number = sys.argv[1:]
    print(LOADS[client, direction](broker, name, int(number)))
