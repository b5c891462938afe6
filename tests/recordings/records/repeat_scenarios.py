"""Batches of a transaction that a producer sends again after the transaction's marker."""

from itertools import product

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import (
    VERSION_1,
    Producer,
    settle,
    wait_for_ends,
)


def ended_transactions(play: Play) -> None:
    """Repeat batches before and after the end of a transaction, and in the next transaction."""
    for count, commits in product((1, 2), (True, False)):
        label = f"{count} {'committed' if commits else 'aborted'}"
        topic = play.topic(f"{count}{commits}")
        producer = Producer(play, f"{count}{commits}", VERSION_1)
        producer.add(f"{label}: begin", (topic, 0))
        _send(f"{label}: before", producer, topic, 0, 1)
        _send(f"{label}: first", producer, topic, 1, count)
        _send(f"{label}: within", producer, topic, 1, count)
        producer.end(f"{label}: end", commit=commits)
        _wait(play, producer, topic)
        _send(f"{label}: after", producer, topic, 1, count)
        _send(f"{label}: the last record after", producer, topic, count, 1)
        _send(f"{label}: the one before after", producer, topic, 0, 1)
        producer.add(f"{label}: begin again", (topic, 0))
        _send(f"{label}: in the next", producer, topic, 1, count)
        _send(f"{label}: new", producer, topic, count + 1, count)
        _send(f"{label}: new again", producer, topic, count + 1, count)
        producer.end(f"{label}: end again", commit=commits)
        _wait(play, producer, topic)
        play.fetch(f"{label}: what remains", topic)


def _wait(play: Play, producer: Producer, topic: str) -> None:
    """Wait until the marker is written, even if the transaction has no records."""
    settle(play, topic)
    if play.has(ApiKey.DESCRIBE_TRANSACTIONS):
        wait_for_ends(play, DescribeTransactionsRequest(transactional_ids=[producer.name]))


def _send(label: str, producer: Producer, topic: str, sequence: int, count: int) -> None:
    values = [b"a", b"b"][:count]
    owner = (producer.producer_id, producer.epoch, sequence)
    records = batch(values, producer=owner, attributes=TRANSACTIONAL)
    request = producer.play.produce_request([(topic, [(0, records)])], -1, producer.name)
    version = producer.play.newest(ApiKey.PRODUCE, VERSION_1["produce"])
    producer.play.call_when_idle(label, ApiKey.PRODUCE, version, request)


SCENARIOS = (ended_transactions,)
