"""The errors and log lines of kafka-python in each situation."""

import logging
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from kafka.errors import KafkaError

from tests.docs.error_texts.brokers import UNREACHABLE, Brokers
from tests.docs.error_texts.librdkafka import KeptLines

Config = dict[str, Any]


def printed_by_kafka_python(brokers: Brokers) -> list[str]:
    """Return all texts; the situations run at the same time.

    They run in a process of their own, since clients that fail leave threads and open sockets.
    """
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as process:
        return process.submit(_printed, [*_situations(brokers)]).result()


def _printed(situations: Sequence[Callable[[], object]]) -> list[str]:
    kept = KeptLines()
    logging.getLogger("kafka").addHandler(kept)
    with ThreadPoolExecutor(16) as threads:
        texts = list(threads.map(_text_of_error, situations))
    return kept.lines + texts


def _text_of_error(situation: Callable[[], object]) -> str:
    try:
        return str(situation())
    except KafkaError as error:
        return str(error)


def _situations(brokers: Brokers) -> Iterator[Callable[[], object]]:
    alice = brokers.newest.config("alice", style="kafka-python")
    nobody = brokers.newest.config(style="kafka-python")
    tls = brokers.with_tls.config(style="kafka-python")
    yield partial(_produce, alice, "orders")
    yield partial(_consume, alice, "shared")
    yield partial(_init_transactions, alice)
    yield partial(_create, nobody, "orders", 1)
    yield partial(_create, nobody, "copies", 3)
    yield partial(_produce, alice | {"sasl_plain_password": "wrong"}, "orders")
    yield partial(_produce, {"bootstrap_servers": UNREACHABLE}, "orders")
    yield partial(_produce, tls | {"ssl_cafile": None}, "orders")


def _produce(config: Config, topic: str) -> object:
    patience = {"max_block_ms": 1500, "bootstrap_timeout_ms": 1500}
    producer = KafkaProducer(**(patience | config))
    try:
        return producer.send(topic, b"a").get(5)
    finally:
        producer.close(1)


def _consume(config: Config, topic: str) -> object:
    consumer = KafkaConsumer(topic, group_id="billing", **config)
    try:
        return consumer.poll(3000)
    finally:
        consumer.close()


def _create(config: Config, topic: str, copies: int) -> object:
    admin = KafkaAdminClient(**config)
    try:
        return admin.create_topics([NewTopic(topic, 1, copies)])
    finally:
        admin.close()


def _init_transactions(config: Config) -> None:
    producer = KafkaProducer(transactional_id="python", **config)
    try:
        producer.init_transactions()
    finally:
        producer.close(1)
