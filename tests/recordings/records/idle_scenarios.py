"""What brokers do by themselves while nobody asks: old records go, and idle producers."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.recordings.records.batches import T0, batch
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer

EARLIEST, LATEST = -2, -1
VALUE = b"x" * 600_000
"""Two of them are more than a segment of 1 MiB, the smallest that 4.x has."""


def retention(play: Play) -> None:
    now_ms = play.now()
    old, young = T0, now_ms
    kept = {
        "old": ({"retention_ms": "3600000"}, [old, old]),
        "aging": ({"retention_ms": "3600000"}, [old, young, young]),
        "large": ({"retention_bytes": "700000"}, [young, young, young]),
        "both": ({"retention_bytes": "1300000", "retention_ms": "3600000"}, [old, young, young]),
        "endless": ({}, [old, young]),
        "compacted": ({"retention_ms": "3600000", "cleanup_policy": "compact"}, [old, young]),
    }
    for name, (configs, times) in kept.items():
        topic = play.topic(name, 1, segment_bytes=str(1 << 20), **configs)
        for time in times:
            records = batch([VALUE], times=[time], keys=[b"k"])
            produced = play.produce_request([(topic, [(0, records)])])
            play.settled(ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), produced)
    play.peer.pause(5_000)
    for name in kept:
        for when in (EARLIEST, LATEST):
            row = ListOffsetsPartition(0, timestamp=when)
            request = ListOffsetsRequest(
                replica_id=-1, topics=[ListOffsetsTopic(play.text(name), [row])]
            )
            play.call(f"{name} {when}", ApiKey.LIST_OFFSETS, 1, request)


def producers(play: Play) -> None:
    """Who has written nothing for long is forgotten, unless its transaction is open."""
    if not play.has(ApiKey.DESCRIBE_PRODUCERS):
        return
    topic = play.topic()
    producer_id, epoch = play.producer()
    records = batch([b"a"], producer=(producer_id, epoch, 0), times=[play.now()])
    play.produce("idempotent", topic, records)
    busy = Producer(play, "busy", VERSION_1)
    busy.add("add", (topic, 0))
    busy.send("in a transaction", topic)
    request = DescribeProducersRequest(topics=[TopicRequest(topic, [0])])
    play.call("both", ApiKey.DESCRIBE_PRODUCERS, 0, request)
    play.peer.pause(8_000)
    play.call("one is left", ApiKey.DESCRIBE_PRODUCERS, 0, request)
    busy.end("end", commit=True)
    play.peer.pause(8_000)
    play.call("nobody is left", ApiKey.DESCRIBE_PRODUCERS, 0, request)


SCENARIOS = (retention, producers)

OWN_SETTINGS = {
    "idle-retention": {
        "log.retention.check.interval.ms": "300",
        "log.initial.task.delay.ms": "0",
        "log.cleaner.enable": "false",
    },
    "idle-producers": {
        "producer.id.expiration.ms": "4000",
        "producer.id.expiration.check.interval.ms": "300",
    },
}
