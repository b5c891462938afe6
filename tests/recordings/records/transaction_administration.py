"""Transactions that administrators list, describe and end by markers."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer, look


def markers(play: Play) -> None:
    """WriteTxnMarkers, as coordinators on other brokers send it."""
    for version in play.versions(ApiKey.WRITE_TXN_MARKERS):
        topic = play.topic(f"t{version}", partitions=2)
        producer = Producer(play, f"one{version}", VERSION_1)
        producer.add(f"add {version}", (topic, 0))
        producer.send(f"s{version}", topic)

        def mark(
            label: str,
            where: str = topic,
            at: int = version,
            by: Producer = producer,
            **changes: Any,
        ) -> None:
            marker = WritableTxnMarker(
                producer_id=by.producer_id,
                producer_epoch=by.epoch,
                transaction_result=True,
                topics=[WritableTxnMarkerTopic(name=where, partition_indexes=[0])],
            )
            for name, value in changes.items():
                setattr(marker, name, value)
            request = WriteTxnMarkersRequest(markers=[marker])
            play.call(f"{label}, {at}", ApiKey.WRITE_TXN_MARKERS, at, request)

        mark("no topic", play.unknown())
        mark("older epoch", producer_epoch=-1)
        mark("good", coordinator_epoch=5)
        look(play, f"marked {version}", topic, producer.name)
        mark("again", coordinator_epoch=5)
        mark("older coordinator", coordinator_epoch=4)
        mark("unknown producer", producer_id=7_000_000)
        mark("newer epoch", producer_epoch=producer.epoch + 3, coordinator_epoch=6)
        mark("then an older one", coordinator_epoch=6)
        mark("no partition", topics=[WritableTxnMarkerTopic(name=topic, partition_indexes=[9])])
        mark("nowhere", topics=[])
        request = WriteTxnMarkersRequest(markers=[])
        play.call(f"no markers, {version}", ApiKey.WRITE_TXN_MARKERS, version, request)
        look(play, f"at last {version}", topic, producer.name)


def listed(play: Play) -> None:
    """ListTransactions and DescribeTransactions with filters."""
    if not play.has(ApiKey.LIST_TRANSACTIONS):
        return
    topic = play.topic()
    idle = Producer(play, "idle", VERSION_1)
    busy = Producer(play, "busy", VERSION_1)
    done = Producer(play, "done", VERSION_1)
    for producer in (busy, done):
        producer.add(f"add {producer is done}", (topic, 0))
        producer.send(f"send {producer is done}", topic)
    done.end("done", commit=True)
    play.peer.pause(400)
    _list(play, busy)
    wanted = [busy.name, play.text("nobody"), idle.name, done.name, busy.name, ""]
    described = DescribeTransactionsRequest(transactional_ids=wanted)
    play.call("described", ApiKey.DESCRIBE_TRANSACTIONS, 0, described)
    places = [
        TopicRequest(name=topic, partition_indexes=[0, 9]),
        TopicRequest(name=play.unknown(), partition_indexes=[0]),
        TopicRequest(name="not a name!", partition_indexes=[0]),
        TopicRequest(name="", partition_indexes=[0]),
    ]
    producers = DescribeProducersRequest(topics=places)
    play.call("producers", ApiKey.DESCRIBE_PRODUCERS, 0, producers)
    busy.end("end", commit=False)


def _list(play: Play, busy: Producer) -> None:
    """Use every filter of ListTransactions in every version that supports it."""
    filters: dict[str, dict[str, Any]] = {
        "everything": {},
        "ongoing": {"state_filters": ["Ongoing"]},
        "two states": {"state_filters": ["Empty", "CompleteCommit"]},
        "unknown state": {"state_filters": ["Nonsense", "Empty"]},
        "wrong case": {"state_filters": ["ongoing"]},
        "producer": {"producer_id_filters": [busy.producer_id]},
        "producer and state": {
            "producer_id_filters": [busy.producer_id],
            "state_filters": ["Empty"],
        },
        "unknown producer": {"producer_id_filters": [55_555_555]},
        "duration 0": {"duration_filter": 0},
        "duration long": {"duration_filter": 3_600_000},
        "pattern": {"transactional_id_pattern": ".*busy"},
        "pattern of a part": {"transactional_id_pattern": "busy"},
        "bad pattern": {"transactional_id_pattern": "(["},
        "empty pattern": {"transactional_id_pattern": ""},
    }
    for version in play.versions(ApiKey.LIST_TRANSACTIONS):
        for label, fields in filters.items():
            if version < 1 and "duration_filter" in fields:
                continue
            if version < 2 and "transactional_id_pattern" in fields:
                continue
            request = ListTransactionsRequest(**fields)
            play.call(f"{label}, {version}", ApiKey.LIST_TRANSACTIONS, version, request)
