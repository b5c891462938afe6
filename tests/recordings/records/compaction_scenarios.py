"""Compacted topics: the remaining records, tombstones, transactions and producers."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.recordings.records.batches import GZIP, T0, TRANSACTIONAL, batch
from tests.recordings.records.offset_scenarios import list_request
from tests.recordings.records.play import DAY_MS, Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer, settle, suites

HOUR_MS = 3_600_000
SETTINGS: dict[str, Any] = {
    "cleanup_policy": "compact",
    "min_cleanable_dirty_ratio": "0.0",
    "segment_ms": str(HOUR_MS),
    "delete_retention_ms": str(HOUR_MS),
}


class Compacted:
    """A compacted topic to write, compact and read; its timestamps begin at `origin`."""

    def __init__(self, play: Play, name: str = "a", origin: int = T0, **settings: Any) -> None:
        self.play = play
        if play.topic_has("message.timestamp.after.max.ms"):
            settings["message_timestamp_after_max_ms"] = str(DAY_MS)
        self.name = play.topic(name, **SETTINGS | settings)
        self.origin = origin
        self._rolls = 0
        self._puts = 0

    def put(self, rows: str, attributes: int = 0, **options: Any) -> None:
        """Produce a batch: `a=1 b=2 c` are two records and a tombstone, each 1 ms later."""
        pairs = [row.partition("=") for row in rows.split()]
        keys = [key.encode() for key, _, _ in pairs]
        values = [value.encode() if given else None for _, given, value in pairs]
        times = options.pop("times", None)
        if times is None:
            times = [self.origin + 1000 * self._puts + at for at in range(len(keys))]
        self._puts += 1
        records = batch(values, keys=keys, times=times, attributes=attributes, **options)
        self._send(records)

    def clean(self) -> None:
        """Roll the segment and compact the log."""
        self.play.peer.compact(self.name, self._roll)

    def look(self, label: str) -> None:
        """Record the records that consumers read."""
        play, topic = self.play, self.name
        for level in (0, 1):
            play.read_on(f"{label}: isolation {level}", topic, isolation=level)
        response = play.fetch(f"{label}: a batch", topic, bytes_max=1)
        for offset in range(1, response.responses[0].partitions[0].high_watermark + 1):
            play.fetch(f"{label}: a batch from {offset}", topic, offset, bytes_max=1)
        version = play.newest(ApiKey.LIST_OFFSETS)
        times = {str(special): special for special in (-1, -2, -3)}
        times |= {f"T0+{delta}": T0 + delta for delta in (0, 1, 1000, 2000, 2001, 4000)}
        for name, time in times.items():
            request = list_request(topic, time)
            play.call(f"{label}: {name}", ApiKey.LIST_OFFSETS, version, request)

    def _roll(self) -> None:
        """Append a record that begins a new segment, since it is more than an hour later."""
        self._rolls += 1
        times = [self.origin + 2 * HOUR_MS * self._rolls]
        self._send(batch([b"roll"], keys=[b"roll%d" % self._rolls], times=times))

    def _send(self, records: bytes) -> None:
        request = self.play.produce_request([(self.name, [(0, records)])])
        response = self.play.settled(ApiKey.PRODUCE, self.play.newest(ApiKey.PRODUCE), request)
        found = response.responses[0].partition_responses[0]
        assert found.error_code == 0, found


def superseded(play: Play) -> None:
    """The last record of each key remains, in its batch and at its offset."""
    log = Compacted(play)
    log.put("a=1 b=2 a=3")
    log.put("a=4")
    log.put("c=5 b=6 c=7", GZIP)
    log.put("d=8 e=9")
    log.put("a=10")
    log.put("f=11 f=12 f=13")
    log.clean()
    log.look("once")
    log.put("a=14")
    log.put("e=15 g=16")
    log.put("g=17")
    log.clean()
    log.look("twice")
    for version in play.versions(ApiKey.FETCH):
        for offset in (0, 1, 5, 6):
            label = f"a batch from {offset}, {version}"
            play.fetch(label, log.name, offset, version=version, partition_bytes_max=80)


def emptied(play: Play) -> None:
    """No record remains of the first batch, and of the last batch of a segment."""
    log = Compacted(play)
    log.put("a=1 b=2")
    log.put("a=3")
    log.put("b=4 a=5")
    log.put("c=6 d=7")
    log.clean()
    log.look("once")
    log.put("c=8")
    log.put("d=9")
    log.put("c=10 d=11 b=12")
    log.put("a=13", times=[T0 + 500])
    log.put("a=14", times=[T0 + 400])
    log.clean()
    log.look("twice")


def tombstones(play: Play) -> None:
    """Tombstones remain for delete.retention.ms after the first compaction."""
    for name, retention in (("kept", HOUR_MS), ("gone", 0)):
        log = Compacted(play, name, delete_retention_ms=str(retention))
        log.put("a=1 b=2 c=3")
        log.put("a b=4")
        log.put("d", GZIP)
        log.put("c d=5 e=6 c")
        for round_ in ("first", "second", "third"):
            log.clean()
            log.look(f"{name}, {round_}")
            log.put(f"x=1 {round_}=2")
        log.put("a=7 e")
        log.clean()
        log.look(f"{name}, last")


def aged(play: Play) -> None:
    """Records younger than min.compaction.lag.ms remain, and all records after them."""
    origin = play.now() - 12 * HOUR_MS
    young = origin + 5 * HOUR_MS // 2
    log = Compacted(play, "a", origin, min_compaction_lag_ms=str(39 * HOUR_MS // 4))
    log.put("a=1")
    log.put("a=2 b=3")
    log.clean()
    log.put("a=4", times=[young])
    log.put("a=5 b=6")
    log.clean()
    log.look("young")


def transactions(play: Play) -> None:
    """Aborted records are removed at once, markers when no record of their transaction remains."""
    for label, suite in suites(play):
        log = Compacted(play, label, play.now(), delete_retention_ms="0")
        producers = [Producer(play, f"{name}{label}", suite) for name in ("one", "two")]
        for round_ in ("first", "second", "third"):
            for producer, commits in zip(producers, (True, False), strict=True):
                if not producer.implies_partitions:
                    producer.add(f"{label}: add {producer.name} {round_}", (log.name, 0))
                _send_keyed(producer, log, f"a={round_} b={commits}")
                _send_keyed(producer, log, f"a={round_}2")
                producer.end(f"{label}: end {producer.name} {round_}", commit=commits)
                settle(play, log.name)
            log.put(f"b={round_}")
            log.clean()
            log.look(f"{label}, {round_}")


def _send_keyed(producer: Producer, log: Compacted, rows: str) -> None:
    at = (log.name, 0)
    sequence = producer.sequences.get(at, 0)
    producer.sequences[at] = sequence + len(rows.split())
    pairs = [row.partition("=") for row in rows.split()]
    records = batch(
        [value.encode() for _, _, value in pairs],
        keys=[key.encode() for key, _, _ in pairs],
        producer=(producer.producer_id, producer.epoch, sequence),
        attributes=TRANSACTIONAL,
        times=[log.origin] * len(pairs),
    )
    version = producer.play.newest(ApiKey.PRODUCE, producer.suite["produce"])
    request = producer.play.produce_request([(log.name, [(0, records)])], -1, producer.name)
    label = f"{rows} of {producer.name} from {sequence}"
    producer.play.call_when_idle(label, ApiKey.PRODUCE, version, request)


def open_transaction(play: Play) -> None:
    """Records after the last stable offset are not compacted, and do not replace older ones."""
    log = Compacted(play, "a", play.now())
    producer = Producer(play, "one", VERSION_1)
    log.put("a=1")
    log.put("a=2 b=3")
    log.clean()
    producer.add("add", (log.name, 0))
    _send_keyed(producer, log, "b=4")
    log.put("a=5")
    log.put("a=6")
    log.clean()
    log.look("open")
    producer.end("abort", commit=False)
    settle(play, log.name)
    log.clean()
    log.look("aborted")


def producers(play: Play) -> None:
    """The last batch of each producer remains, maybe empty, so that its sequence continues."""
    log = Compacted(play)
    first, second = play.producer(), play.producer()
    for sequence in range(3):
        log.put("a=1", producer=(*first, sequence))
    log.put("b=1 b=2", producer=(*second, 0))
    log.put("c=1", producer=(*second, 2))
    log.put("a=2 b=3 c=4")
    log.clean()
    log.look("superseded")
    for version in play.versions(ApiKey.FETCH):
        label = f"what has no records, {version}"
        play.fetch(label, log.name, version=version, partition_bytes_max=130)
    for label, who, sequence in (
        ("the last again", first, 2),
        ("one before it", first, 1),
        ("the next", first, 3),
        ("one too far", second, 5),
        ("the next of the other", second, 3),
    ):
        records = batch([b"5"], keys=[b"a"], producer=(*who, sequence))
        play.produce(label, log.name, records)
    log.clean()
    log.look("later")


def deleted_too(play: Play) -> None:
    """cleanup.policy=compact,delete: records may be deleted, and the rest is compacted."""
    log = Compacted(play, cleanup_policy="compact,delete")
    log.put("a=1 b=2 c=3")
    log.put("d=4 a=5")
    log.put("b=6 e=7")
    log.put("d=8")
    partition = DeleteRecordsPartition(partition_index=0, offset=2)
    topics = [DeleteRecordsTopic(name=log.name, partitions=[partition])]
    request = DeleteRecordsRequest(topics=topics, timeout_ms=5000)
    play.call("delete", ApiKey.DELETE_RECORDS, play.newest(ApiKey.DELETE_RECORDS), request)
    log.clean()
    play.read_on("what is left", log.name, 2)
    for offset in range(9):
        play.fetch(f"a batch from {offset}", log.name, offset, bytes_max=1)
    for time in (-1, -2, -3, T0, T0 + 1000):
        version = play.newest(ApiKey.LIST_OFFSETS)
        play.call(f"at {time - T0}", ApiKey.LIST_OFFSETS, version, list_request(log.name, time))


def append_times(play: Play) -> None:
    """Batches with log append time keep their timestamps."""
    log = Compacted(play, segment_ms="1500", message_timestamp_type="LogAppendTime")
    log.put("a=1 b=2")
    log.put("a=3 c", GZIP)
    play.peer.pause(2000)
    log.clean()
    play.read_on("cleaned", log.name)


def keyless(play: Play) -> None:
    """Records without a key are rejected in every version, alone and among others."""
    for version in play.versions(ApiKey.PRODUCE):
        if version < 3:
            continue
        topic = play.topic(f"t{version}", **SETTINGS)
        for label, keys in (("alone", [None]), ("second", [b"k", None, None])):
            for attributes in (0, GZIP):
                records = batch([b"v"] * len(keys), keys=keys, attributes=attributes)
                play.produce(f"{label} {attributes} {version}", topic, records, version=version)


SCENARIOS = (
    superseded,
    emptied,
    tombstones,
    aged,
    transactions,
    open_transaction,
    producers,
    deleted_too,
    append_times,
    keyless,
)
