"""Changes without requests: old records and idle producers expire."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.describe_producers import (
    DescribeProducersRequest,
    TopicRequest,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from tests.recordings.records.batches import T0, batch
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer

EARLIEST, LATEST = -2, -1
HOUR_MS = 3_600_000
HOUR = str(HOUR_MS)
FIRST_CHECK_MS = 35_000
"""Brokers check retention 30 seconds after their start, if they lack a setting for this."""
VALUE = b"x" * 600_000
"""Two such values exceed a segment of 1 MiB, the minimum in 4.x."""


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
        _list_ends(play, name)


def segments(play: Play) -> None:
    """Only whole segments are deleted, oldest first; the active one if all its records are old."""
    kept: dict[str, tuple[dict[str, str], list[float]]] = {
        "size": ({"retention_bytes": "700000"}, [0] * 8),
        "two segments": ({"retention_bytes": "590000"}, [0] * 8),
        "no bytes": ({"retention_bytes": "0"}, [0] * 4),
        "one segment": ({"retention_ms": HOUR}, [2, 2, 0]),
        "old segment": ({"retention_ms": HOUR}, [2, 2]),
        "old behind young": ({"retention_ms": HOUR}, [0, 0, 0, 2, 2, 2]),
        "rolled by time": (
            {"retention_ms": str(2 * HOUR_MS), "segment_ms": HOUR},
            [5, 4.5, 3.5, 3, 0.5, 0],
        ),
        "rolled before its first": (
            {"retention_ms": str(2 * HOUR_MS), "segment_ms": HOUR},
            [0, 3, 5, 0, 0.9],
        ),
        "both": ({"retention_ms": HOUR, "retention_bytes": "700000"}, [2, 2, 2, 2, 0, 0, 0, 0]),
    }
    for name, (configs, hours) in kept.items():
        topic = play.topic(name.replace(" ", "_"), 1, segment_bytes=str(1 << 20), **configs)
        for at in hours:
            _fill(play, topic, play.now() - int(at * HOUR_MS))
    topic = play.topic("trimmed", 1, segment_bytes=str(1 << 20), retention_bytes="700000")
    for _ in range(4):
        _fill(play, topic, play.now())
    _delete_records(play, topic, 2)
    play.peer.pause(4_000 if play.has(ApiKey.PUSH_TELEMETRY) else FIRST_CHECK_MS)
    for name in (*kept, "trimmed"):
        _list_ends(play, name.replace(" ", "_"))
    for name in ("no_bytes", "old_segment", "trimmed"):
        _fill(play, play.text(name), play.now())
    play.peer.pause(2_000)
    for name in ("no_bytes", "old_segment", "trimmed"):
        _list_ends(play, name)


def _fill(play: Play, topic: str, time_ms: int) -> None:
    """Produce a batch; three of them fit into a segment."""
    records = batch([b"x" * 300_000], times=[time_ms])
    produced = play.produce_request([(topic, [(0, records)])])
    play.settled(ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), produced)


def _delete_records(play: Play, topic: str, offset: int) -> None:
    rows = [DeleteRecordsPartition(0, offset)]
    request = DeleteRecordsRequest(topics=[DeleteRecordsTopic(topic, rows)], timeout_ms=5000)
    play.ask(ApiKey.DELETE_RECORDS, play.newest(ApiKey.DELETE_RECORDS), request)


def _list_ends(play: Play, name: str) -> None:
    for when in (EARLIEST, LATEST):
        row = ListOffsetsPartition(0, timestamp=when)
        topics = [ListOffsetsTopic(play.text(name), [row])]
        request = ListOffsetsRequest(replica_id=-1, topics=topics)
        play.call(f"{name} {when}", ApiKey.LIST_OFFSETS, 1, request)


def producers(play: Play) -> None:
    """Idle producers expire, unless they have an open transaction."""
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


SCENARIOS = (retention, segments, producers)

_CHECKED_SOON = {
    "log.retention.check.interval.ms": "300",
    "log.initial.task.delay.ms": "0",
    "log.cleaner.enable": "false",
}
OWN_SETTINGS = {
    "idle-retention": _CHECKED_SOON,
    "idle-segments": _CHECKED_SOON | {"log.segment.delete.delay.ms": "1"},
    "idle-producers": {
        "producer.id.expiration.ms": "4000",
        "producer.id.expiration.check.interval.ms": "300",
    },
}
