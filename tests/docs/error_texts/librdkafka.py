"""The errors and log lines of librdkafka, through confluent-kafka, in each situation."""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.docs.error_texts.brokers import UNREACHABLE, UNRESOLVABLE, Brokers

TIMEOUT_S = 8
PATIENCE = {"message.timeout.ms": 1500, "reconnect.backoff.ms": 200}
Config = dict[str, Any]


class KeptLines(logging.Handler):
    """Keeps what clients log."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def printed_by_librdkafka(brokers: Brokers) -> list[str]:
    """Return all texts; the situations run at the same time."""
    kept = KeptLines()
    logger = logging.getLogger("tests.librdkafka")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(kept)
    with ThreadPoolExecutor(32) as threads:
        texts = list(threads.map(_text_of_error, _situations(brokers, logger)))
    return kept.lines + texts


def _text_of_error(situation: Callable[[], object]) -> str:
    try:
        return str(situation())
    except KafkaException as error:
        return str(error.args[0])


def _situations(brokers: Brokers, logger: logging.Logger) -> Iterator[Callable[[], object]]:
    log = {"logger": logger}
    alice = brokers.newest.config("alice") | log
    nobody = brokers.newest.config() | log
    tls = brokers.with_tls.config() | log
    yield lambda: _produce(alice, "orders")
    yield lambda: _consume(alice, "shared")
    yield lambda: _consume(alice | {"group.id": "x"}, "orders")
    yield lambda: _create(alice, NewTopic("new", 1))
    yield lambda: _init_transactions(alice)
    yield lambda: _consume(nobody, "missing")
    for wrong in (
        {"sasl.password": "wrong"},
        {"sasl.password": "wrong", "sasl.mechanism": "SCRAM-SHA-512"},
        {"sasl.mechanism": "OAUTHBEARER", "oauth_cb": lambda _: ("token", 4_000_000_000.0)},
        {"bootstrap.servers": nobody["bootstrap.servers"]},
        {"security.protocol": "PLAINTEXT"},
    ):
        yield partial(_produce, alice | wrong, "orders")
    for address in (UNREACHABLE, UNRESOLVABLE):
        yield partial(_produce, {"bootstrap.servers": address} | log, "orders")
    yield lambda: _list_topics({"bootstrap.servers": UNREACHABLE} | log)
    yield lambda: _produce({name: tls[name] for name in tls if name != "ssl.ca.location"}, "t")
    yield lambda: _produce(nobody | {"security.protocol": "SSL"}, "orders")
    yield lambda: _create(nobody, NewTopic("orders", 1))
    yield lambda: _create(nobody, NewTopic("copies", 1, 3))
    yield lambda: _fence(nobody)
    yield lambda: _produce(nobody | {"message.max.bytes": 5_000_000}, "orders", b"a" * 2_000_000)
    yield lambda: _read_past_the_end(nobody)
    yield lambda: _describe_scram(brokers.oldest.config() | log)


def _produce(config: Config, topic: str, value: bytes = b"a") -> object:
    errors: list[Any] = []
    producer = Producer(PATIENCE | config)
    producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    producer.flush(TIMEOUT_S)
    return errors


def _consume(config: Config, topic: str) -> object:
    consumer = Consumer({"group.id": "billing"} | config)
    consumer.subscribe([topic])
    message = consumer.poll(TIMEOUT_S)
    consumer.close()
    return message and message.error()


def _read_past_the_end(config: Config) -> object:
    consumer = Consumer(config | {"group.id": "end", "auto.offset.reset": "error"})
    consumer.assign([TopicPartition("orders", 0, 1000)])
    message = consumer.poll(TIMEOUT_S)
    consumer.close()
    return message and message.error()


def _create(config: Config, topic: NewTopic) -> object:
    admin = AdminClient(config)
    created = admin.create_topics([topic])[topic.topic]
    return created.result(TIMEOUT_S)


def _list_topics(config: Config) -> object:
    return AdminClient(config).list_topics(timeout=1)


def _describe_scram(config: Config) -> object:
    admin = AdminClient(config)
    described: Any = admin.describe_user_scram_credentials(["alice"])
    return described["alice"].result(TIMEOUT_S)


def _init_transactions(config: Config) -> None:
    Producer(config | {"transactional.id": "payments"}).init_transactions(TIMEOUT_S)


def _fence(config: Config) -> None:
    first, second = (Producer(config | {"transactional.id": "fenced"}) for _ in range(2))
    first.init_transactions(TIMEOUT_S)
    second.init_transactions(TIMEOUT_S)
    first.begin_transaction()
    first.produce("orders", b"a")
    first.commit_transaction(TIMEOUT_S)
