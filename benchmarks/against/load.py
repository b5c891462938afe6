"""One client at full speed, in a process of its own: it writes all records, or reads them.

    python -m benchmarks.against.load CLIENT in|out HOST:PORT TOPIC RECORDS

Prints the seconds from the first record to the last, without the time to connect, and the client's
processor seconds in this time.
"""

import sys
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.against.brokers import PASSWORDS

PARTITIONS = 3
RECORD = b"x" * 1024
_USER = "alice"
_WAIT_S = 60


class Times(NamedTuple):
    """Seconds: elapsed, and of the processor."""

    elapsed_s: float
    processor_s: float

    @classmethod
    def now(cls) -> "Times":
        return cls(time.perf_counter(), time.process_time())

    def until_now(self) -> "Times":
        now = Times.now()
        return Times(now.elapsed_s - self.elapsed_s, now.processor_s - self.processor_s)


def librdkafka_in(address: str, topic: str, records: int) -> Times:
    from confluent_kafka import Producer  # noqa: PLC0415 - a process needs one client

    producer = Producer({**_librdkafka(address), "linger.ms": 5, "queue.buffering.max.messages": 0})
    producer.list_topics(topic, _WAIT_S)
    began = Times.now()
    for number in range(records):
        producer.produce(topic, RECORD, partition=number % PARTITIONS)
    left = producer.flush(_WAIT_S)
    assert not left, f"{left} records were not written"
    return began.until_now()


def librdkafka_out(address: str, topic: str, records: int) -> Times:
    from confluent_kafka import Consumer, TopicPartition  # noqa: PLC0415 - as above

    queue = {"queued.min.messages": records, "queued.max.messages.kbytes": 1024 * 1024}
    consumer = Consumer({**_librdkafka(address), "group.id": "group-load", **queue})
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    came = len(consumer.consume(1, _WAIT_S))
    began = Times.now()
    while came < records:
        found = consumer.consume(min(10_000, records - came), 1)  # it waits for all of them
        assert found or began.until_now().elapsed_s < _WAIT_S, f"only {came} records came"
        came += len(found)
    took = began.until_now()
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


def kafka_python_in(address: str, topic: str, records: int) -> Times:
    from kafka import KafkaProducer  # noqa: PLC0415 - as above

    producer = KafkaProducer(linger_ms=5, batch_size=64 * 1024, **_kafka_python(address))
    producer.partitions_for(topic)
    began = Times.now()
    for number in range(records):
        producer.send(topic, RECORD, partition=number % PARTITIONS)
    producer.flush(_WAIT_S)
    took = began.until_now()
    producer.close()
    return took


def kafka_python_out(address: str, topic: str, records: int) -> Times:
    from kafka import KafkaConsumer, TopicPartition  # noqa: PLC0415 - as above

    consumer = KafkaConsumer(consumer_timeout_ms=_WAIT_S * 1000, **_kafka_python(address))
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    consumer.seek_to_beginning(*partitions)
    next(consumer)
    began = Times.now()
    for _ in range(records - 1):
        next(consumer)
    took = began.until_now()
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


LOADS: Mapping[tuple[str, str], Callable[[str, str, int], Times]] = MappingProxyType(
    {
        ("librdkafka", "in"): librdkafka_in,
        ("librdkafka", "out"): librdkafka_out,
        ("kafka-python", "in"): kafka_python_in,
        ("kafka-python", "out"): kafka_python_out,
    }
)


if __name__ == "__main__":
    client, direction, broker, name, number = sys.argv[1:]
    print(*LOADS[client, direction](broker, name, int(number)))
