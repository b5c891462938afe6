"""Produce in every version: formats, limits and rejected requests."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.records.batches import (
    APPEND_TIME,
    CONTROL,
    GZIP,
    LZ4,
    SNAPPY,
    T0,
    ZSTD,
    batch,
    message,
    wrapper,
)
from tests.recordings.records.play import Play
from tests.recordings.records.producer_identities import (
    first_sequences,
    producer_ids,
    sequences,
    transactional_without_transaction,
)

DAY_MS = 86_400_000


def every_version(play: Play) -> None:
    """Produce in each version with its record format; fetch in every version."""
    topic = play.topic()
    for version in play.versions(ApiKey.PRODUCE):
        value = f"p{version}".encode()
        if version < 3:
            magic = 1 if version == 2 else 0
            records = message(value, magic=magic, key=b"k") + message(b"x", magic=magic, offset=1)
        else:
            records = batch([value, b"x"], keys=[b"k", None], times=[T0 + 5, T0 + 2])
        play.produce(f"produce {version}", topic, records, version=version)
    for version in play.versions(ApiKey.FETCH):
        play.fetch(f"fetch {version}", topic, version=version)


def compressed_old_messages(play: Play) -> None:
    topic = play.topic()
    for version in [version for version in play.versions(ApiKey.PRODUCE) if version < 3]:
        magic = 1 if version == 2 else 0
        records = wrapper([b"a", b"b", b"c"], magic=magic)
        play.produce(f"wrapped {version}", topic, records, version=version)
    for version in play.versions(ApiKey.FETCH):
        play.fetch(f"fetch {version}", topic, version=version)


def compressed_batches(play: Play) -> None:
    topic = play.topic()
    play.produce("gzip", topic, batch([b"a", b"b"], attributes=GZIP))
    for version in play.versions(ApiKey.FETCH):
        play.fetch(f"fetch {version}", topic, version=version)


def old_formats_in_new_versions(play: Play) -> None:
    topic = play.topic()
    for version in [version for version in play.versions(ApiKey.PRODUCE) if version >= 3]:
        for magic in (0, 1):
            records = message(b"old", magic=magic)
            play.produce(f"format {magic} in {version}", topic, records, version=version)
    for version in [version for version in play.versions(ApiKey.PRODUCE) if version < 3]:
        play.produce(f"format 2 in {version}", topic, batch([b"new"]), version=version)
        other = message(b"other", magic=0 if version == 2 else 1)
        play.produce(f"the other old format in {version}", topic, other, version=version)
        play.produce(f"nothing in {version}", topic, b"", version=version)
        bad = message(b"bad", magic=1, damage=True)
        play.produce(f"damaged in {version}", topic, bad, version=version)
    play.fetch("all", topic)


def codecs_of_old_messages(play: Play) -> None:
    """Old messages with unknown compressions, and with bits that have no meaning."""
    versions = [version for version in play.versions(ApiKey.PRODUCE) if version < 3]
    if not versions:
        return
    topic = play.topic()
    for version in versions:
        magic = 1 if version == 2 else 0
        for attributes in (ZSTD, 5, 6, 7, 0x10, 0x40, 0xFF):
            signed = attributes - 0x100 if attributes > 0x7F else attributes
            records = message(b"x", magic=magic, attributes=signed)
            play.produce(f"attributes {attributes} in {version}", topic, records, version=version)
    play.fetch("what remains", topic)


def malformed(play: Play) -> None:
    topic = play.topic()
    good = batch([b"good"])
    cases = {
        "empty records": b"",
        "two batches": good + good,
        "bad crc": batch([b"x"], damage=True),
        "cut short": good[:-1],
        "header cut": good[:40],
        "a few bytes": good[:10],
        "trailing bytes": good + b"\0\0\0",
        "magic 3": batch([b"x"], magic=3),
        "count too high": batch([b"x"], count=2),
        "count too low": batch([b"x", b"y"], count=1),
        "count and delta too high": batch([b"x"], count=2, last_delta=1),
        "count 0": batch([b"x"], count=0),
        "count -1": batch([b"x"], count=-1),
        "no record": batch([]),
        "base offset not 0": batch([b"x"], base_offset=77),
        "append time": batch([b"x"], attributes=APPEND_TIME),
        "control": batch([b"x"], attributes=CONTROL),
        "codec 5": batch([b"x"], attributes=5),
        "codec 7": batch([b"x"], attributes=7),
        "snappy that is none": batch([b"x"], attributes=SNAPPY),
        "lz4 that is none": batch([b"x"], attributes=LZ4),
        "unused attribute": batch([b"x"], attributes=0x100),
        "negative time": batch([b"x"], times=[-5]),
        "no time": batch([b"x"], times=[-1]),
    }
    if play.newest(ApiKey.PRODUCE) >= 6:  # such a batch damages the log of older brokers
        cases["delta too high"] = batch([b"x"], last_delta=5)
    for name, records in cases.items():
        for version in sorted(
            {3, 7, play.newest(ApiKey.PRODUCE)} & set(play.versions(ApiKey.PRODUCE))
        ):
            play.produce(f"{name}, {version}", topic, records, version=version)
    play.fetch("what remains", topic)


def zstd_by_version(play: Play) -> None:
    topic = play.topic()
    for version in play.versions(ApiKey.PRODUCE):
        if version >= 3:
            records = batch([b"x"], attributes=ZSTD)
            play.produce(f"zstd in {version}", topic, records, version=version)


def sizes(play: Play) -> None:
    topic = play.topic(max_message_bytes="200")
    play.produce("fits", topic, batch([b"x" * 100]))
    play.produce("is too large", topic, batch([b"x" * 200]))
    play.produce("shrinks", topic, batch([b"x" * 300], attributes=GZIP))
    for size in (130, 131, 132):
        play.produce(f"{size} bytes of value", topic, batch([b"x" * size]))
    if 0 in play.versions(ApiKey.PRODUCE):
        play.produce("old format too large", topic, message(b"x" * 200, magic=0), version=0)
        play.produce("old format fits", topic, message(b"x" * 120, magic=0), version=0)
    small = play.topic("small", segment_bytes="1048576", max_message_bytes="3000000")
    play.produce("larger than a segment", small, batch([b"x" * 1_048_576]))
    play.fetch("what remains", topic)


def places(play: Play) -> None:
    """Errors for partitions to which records cannot be appended."""
    topic = play.topic(partitions=2)
    good = batch([b"x"])
    for version in play.versions(ApiKey.PRODUCE):
        if version < 3:
            continue
        play.produce(f"no topic {version}", play.unknown(), good, version=version)
        play.produce(f"no partition {version}", topic, good, version=version, index=2)
        play.produce(f"partition -1 {version}", topic, good, version=version, index=-1)
    play.topic_ids["__consumer_offsets"] = bytes(16)
    version = play.newest(ApiKey.PRODUCE, 12)
    play.produce("internal topic", "__consumer_offsets", good, version=version)
    mixed = [(topic, [(0, good), (5, good), (1, good)]), (play.unknown(), [(0, good)])]
    play.call("mixed", ApiKey.PRODUCE, version, play.produce_request(mixed))
    twice = [(topic, [(0, good), (0, batch([b"y", b"z"]))])]
    play.call("twice the same", ApiKey.PRODUCE, version, play.produce_request(twice))
    split = [(topic, [(0, good)]), (play.unknown(), [(0, good)]), (topic, [(1, good)])]
    play.call("topic twice", ApiKey.PRODUCE, version, play.produce_request(split))
    play.call("nothing at all", ApiKey.PRODUCE, version, play.produce_request([]))
    play.call("no partitions", ApiKey.PRODUCE, version, play.produce_request([(topic, [])]))
    play.fetch("what remains", topic)


def nulls(play: Play) -> None:
    """Null records; a later row of the same partition may replace them."""
    versions = {3, play.newest(ApiKey.PRODUCE, 9), play.newest(ApiKey.PRODUCE, 12)}
    blobs = {"good": batch([b"x"]), "null": None}
    for version in sorted({*versions, play.newest(ApiKey.PRODUCE)}):
        for first, second in (("good", "null"), ("null", "good")):
            topic = play.topic(f"{first}-{second}-{version}", partitions=2)
            rows = [(1, blobs["good"]), (0, blobs[first]), (0, blobs[second])]
            label = f"{first}, {second}, {version}"
            request = play.produce_request([(topic, rows)])
            play.call(label, ApiKey.PRODUCE, version, request)
            for index in (0, 1):
                play.fetch(f"{label}: partition {index}", topic, index=index)


def nulls_without_acks(play: Play) -> None:
    """Null records in a request whose acks are wrong; which check comes first."""
    topic, internal = play.topic(partitions=2), "__consumer_offsets"
    for version in sorted({3, 5, play.newest(ApiKey.PRODUCE)}):
        for acks in (2, 1):
            for records in (batch([b"x"]), None):
                rows = [(0, None), (1, records), (7, None)]
                request = play.produce_request([(topic, rows), (internal, rows)], acks)
                good = "null" if records is None else "good"
                play.call(f"{version}, acks {acks}, {good}", ApiKey.PRODUCE, version, request)


def acks(play: Play) -> None:
    topic = play.topic()
    good = batch([b"x"])
    for value in (1, 0, 2, -2, 5, -1):
        if value:
            play.produce(f"acks {value}", topic, good, acks=value)
    unknown = play.unknown()
    play.produce("bad acks, unknown topic", unknown, good, acks=5)
    silent = {
        "silent": play.produce_request([(topic, [(0, good)])], 0),
        "silent, unknown topic": play.produce_request([(unknown, [(0, good)])], 0),
        "silent, damaged": play.produce_request([(topic, [(0, batch(damage=True))])], 0),
        "silent, mixed": play.produce_request([(topic, [(0, good), (3, good)])], 0),
        "silent, nothing": play.produce_request([], 0),
    }
    for label, request in silent.items():
        play.call(label, ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), request)
    play.fetch("what remains", topic)


def min_insync(play: Play) -> None:
    topic = play.topic(min_insync_replicas="2")
    for value in (1, -1):
        play.produce(f"acks {value}", topic, batch([b"x"]), acks=value)


def append_time(play: Play) -> None:
    topic = play.topic(message_timestamp_type="LogAppendTime")
    play.produce("append time", topic, batch([b"a", b"b"], times=[T0, T0 + 9]))
    play.produce("compressed", topic, batch([b"a", b"b"], attributes=GZIP))
    play.produce("says append time itself", topic, batch([b"a"], attributes=APPEND_TIME))
    both = APPEND_TIME | GZIP
    play.produce("says so, compressed", topic, batch([b"a", b"b"], attributes=both))
    plain = play.topic("plain")
    play.produce("says so elsewhere", plain, batch([b"a"], attributes=APPEND_TIME))
    play.produce("says so elsewhere, compressed", plain, batch([b"a", b"b"], attributes=both))
    play.fetch("elsewhere", plain)
    if 0 in play.versions(ApiKey.PRODUCE):
        for version in (0, 1, 2):
            records = message(b"old", magic=1 if version == 2 else 0)
            play.produce(f"old format {version}", topic, records, version=version)
    for version in play.versions(ApiKey.FETCH):
        play.fetch(f"fetch {version}", topic, version=version)


def compacted(play: Play) -> None:
    topic = play.topic(cleanup_policy="compact")
    version = play.newest(ApiKey.PRODUCE)
    play.produce("no key", topic, batch([b"a"]))
    play.produce("some without", topic, batch([b"a", b"b", b"c"], keys=[b"k", None, None]))
    play.produce("keys", topic, batch([b"a", b"b"], keys=[b"k", b"k2"]))
    play.produce("tombstone", topic, batch([None], keys=[b"k"]))
    play.produce("compressed, no key", topic, batch([b"a"], attributes=GZIP))
    if version >= 8:
        play.produce("no key, 7", topic, batch([b"a"]), version=7)
    if 0 in play.versions(ApiKey.PRODUCE):
        play.produce("old format, no key", topic, message(b"x", magic=0), version=0)


def odd_times(play: Play) -> None:
    plain = play.topic()
    far = play.now() + 2 * DAY_MS
    play.produce("two days ahead", plain, batch([b"a"], times=[far]))
    play.produce("half an hour ahead", plain, batch([b"a"], times=[play.now() + 1_800_000]))
    play.produce("one of two ahead", plain, batch([b"a", b"b"], times=[T0, far]))
    limits: dict[str, Any] = {"message_timestamp_difference_max_ms": "1000"}
    if play.topic_has("message.timestamp.before.max.ms"):
        limits = {
            "message_timestamp_before_max_ms": "1000",
            "message_timestamp_after_max_ms": "1000",
        }
    strict = play.topic("strict", **limits)
    play.produce("too old", strict, batch([b"a"]))
    play.produce("second too old", strict, batch([b"a", b"b"], times=[play.now(), T0]))
    play.produce("now", strict, batch([b"a"], times=[play.now()]))
    play.produce("ahead", strict, batch([b"a"], times=[play.now() + 60_000]))
    play.produce("no time", strict, batch([b"a"], times=[-1]))


SCENARIOS = (
    every_version,
    compressed_old_messages,
    compressed_batches,
    old_formats_in_new_versions,
    codecs_of_old_messages,
    malformed,
    zstd_by_version,
    sizes,
    places,
    nulls,
    nulls_without_acks,
    acks,
    min_insync,
    append_time,
    compacted,
    odd_times,
    sequences,
    first_sequences,
    transactional_without_transaction,
    producer_ids,
)
