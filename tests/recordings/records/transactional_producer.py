"""A transactional producer of a scenario, and requests of others about its transactions."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.end_txn import EndTxnRequest
from kafka_shim.protocol.messages.fetch import FetchPartition
from tests.recordings.records.batches import TRANSACTIONAL, batch
from tests.recordings.records.offset_scenarios import list_request
from tests.recordings.records.play import Play

CLIENT_ADDS_UP_TO = 3
"""The last version of AddPartitionsToTxn for clients; later versions are for brokers."""
VERSION_1 = {"end": 4, "produce": 11, "offsets": 4}
VERSION_2 = {"end": 5, "produce": 99, "offsets": 5}


class Producer:
    """A transactional producer; `suite` has the highest version of each API that it uses."""

    def __init__(self, play: Play, name: str, suite: dict[str, int]) -> None:
        self.play = play
        self.name = play.text(name)
        self.suite = suite
        play.producer(self.name)  # so that an older epoch exists
        self.producer_id, self.epoch = play.producer(self.name)
        self.sequences: dict[tuple[str, int], int] = {}

    @property
    def implies_partitions(self) -> bool:
        return self.suite is VERSION_2

    def add(self, label: str, *partitions: tuple[str, int], **changes: Any) -> Any:
        version = self.play.newest(ApiKey.ADD_PARTITIONS_TO_TXN, CLIENT_ADDS_UP_TO)
        version = changes.pop("version", version)
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=changes.get("name", self.name),
            v3_and_below_producer_id=changes.get("producer_id", self.producer_id),
            v3_and_below_producer_epoch=changes.get("epoch", self.epoch),
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=topic, partitions=[index])
                for topic, index in partitions
            ],
        )
        return self.play.call_when_idle(label, ApiKey.ADD_PARTITIONS_TO_TXN, version, request)

    def send(self, label: str, topic: str, index: int = 0, **changes: Any) -> Any:
        at = (topic, index)
        sequence = changes.get("sequence", self.sequences.get(at, 0))
        self.sequences[at] = sequence + 1
        who = (changes.get("producer_id", self.producer_id), changes.get("epoch", self.epoch))
        records = batch([label.encode()], producer=(*who, sequence), attributes=TRANSACTIONAL)
        version = self.play.newest(ApiKey.PRODUCE, self.suite["produce"])
        version = changes.get("version", version)
        request = self.play.produce_request([(topic, [(index, records)])], -1, self.name)
        return self.play.call_when_idle(label, ApiKey.PRODUCE, version, request)

    def end(self, label: str, *, commit: bool, **changes: Any) -> Any:
        version = self.play.newest(ApiKey.END_TXN, self.suite["end"])
        version = changes.get("version", version)
        request = EndTxnRequest(
            transactional_id=changes.get("name", self.name),
            producer_id=changes.get("producer_id", self.producer_id),
            producer_epoch=changes.get("epoch", self.epoch),
            committed=commit,
        )
        response = self.play.call_when_idle(label, ApiKey.END_TXN, version, request)
        if version >= 5 and response.error_code == 0:
            self.producer_id, self.epoch = response.producer_id, response.producer_epoch
            self.sequences.clear()
        return response


def suites(play: Play) -> list[tuple[str, dict[str, int]]]:
    found = [("v1", VERSION_1)]
    if play.newest(ApiKey.END_TXN) >= 5:
        found.append(("v2", VERSION_2))
    return found


def settle(play: Play, topic: str, index: int = 0) -> None:
    """Wait until no transaction is open on a partition."""
    for _ in range(100):
        wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1)]
        request = play.fetch_request([(topic, wanted)], 1)
        response = play.ask(ApiKey.FETCH, play.newest(ApiKey.FETCH, 12), request)
        found = response.responses[0].partitions[0]
        if found.last_stable_offset == found.high_watermark:
            return
        play.peer.pause(50)


def wait_for_ends(play: Play, request: DescribeTransactionsRequest) -> None:
    """Wait until no transaction is prepared but not complete."""
    for _ in range(100):
        response = play.ask(ApiKey.DESCRIBE_TRANSACTIONS, 0, request)
        states = [state.transaction_state for state in response.transaction_states]
        if not any(state.startswith("Prepare") for state in states):
            return
        play.peer.pause(50)


def look(play: Play, label: str, topic: str, *names: str) -> None:
    """Record what consumers and administrators see now."""
    for level in (0, 1):
        play.fetch(f"{label}: isolation {level}", topic, isolation=level)
        request = list_request(topic, -1)
        request.isolation_level = level
        version = play.newest(ApiKey.LIST_OFFSETS)
        play.call(f"{label}: end, isolation {level}", ApiKey.LIST_OFFSETS, version, request)
    if play.has(ApiKey.DESCRIBE_TRANSACTIONS):
        described = DescribeTransactionsRequest(transactional_ids=list(names))
        wait_for_ends(play, described)
        play.call(f"{label}: described", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    if play.has(ApiKey.DESCRIBE_PRODUCERS):
        topics = [TopicRequest(name=topic, partition_indexes=[0])]
        producers = DescribeProducersRequest(topics=topics)
        play.call(f"{label}: producers", ApiKey.DESCRIBE_PRODUCERS, 0, producers)
