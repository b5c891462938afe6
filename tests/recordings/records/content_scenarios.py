"""Batches with a correct checksum and damaged contents, short and long ones."""

import gzip
from collections.abc import Iterator, Sequence
from random import Random

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.records.batches import GZIP, batch, record, zigzag
from tests.recordings.records.play import Play

LONG = 6000
"""Bytes of a value that makes a batch larger than 4 KiB, which brokers decode differently."""
DEEP = (" noise", "length negative in gzip", "gzip damaged inside")


LIMIT = "max.decompressed.message.bytes"
BESIDE = 7
"""Size of a record without key and headers, less its value of 64 to 8191 bytes."""


def damaged(play: Play) -> None:
    """Produce each kind of damaged batch to its own topic."""
    for name, records in cases():
        if not name.endswith(DEEP):
            play.produce(name, play.topic(name.replace(" ", "-")), records)
    good = play.topic("good")
    play.produce("good", good, batch([b"x"]))
    play.fetch("good", good)


def noise(play: Play) -> None:
    """Damage with an error that depends on how much of the batch the broker has decoded."""
    for name, records in cases():
        if name.endswith(DEEP):
            play.produce(name, play.topic(name.replace(" ", "-")), records)


def holding(content: bytes, attributes: int = 0, values: Sequence[bytes] = (b"a", b"b")) -> bytes:
    """Return a batch whose header is that of `values`, with `content` in place of the records."""
    return batch(values, attributes=attributes, packs=lambda _: content)


def cases() -> Iterator[tuple[str, bytes]]:
    for size in (1, LONG):
        kind = "long" if size > 1 else "short"
        value = Random(size).randbytes(size)
        for name, content in _contents(value):
            yield f"{kind} {name}", holding(content)
            yield f"{kind} {name} in gzip", holding(gzip.compress(content, mtime=0), GZIP)
        packed = gzip.compress(record(0, value, None, 0) + record(1, value, None, 0), mtime=0)
        broken = bytearray(packed)
        broken[len(packed) // 2] ^= 0xFF
        for name, content in (
            ("gzip damaged inside", bytes(broken)),
            ("gzip cut short", packed[:-9]),
            ("gzip with another checksum", packed[:-8] + bytes(4) + packed[-4:]),
            ("gzip and more bytes", packed + b"more"),
            ("no gzip", value),
        ):
            yield f"{kind} {name}", holding(content, GZIP)


def _contents(value: bytes) -> Iterator[tuple[str, bytes]]:
    first, second = record(0, value, None, 0), record(1, value, None, 0)
    yield "noise", Random(7).randbytes(len(first) * 2)
    yield "trailing bytes", first + second + b"\0\0\0"
    yield "one record of two", first
    yield "equal offsets", first + record(0, value, None, 0)
    yield "offsets with a gap", first + record(5, value, None, 0)
    yield "offsets backwards", second + first
    yield "negative offset", first + record(-1, value, None, 0)
    yield "length too large", first + zigzag(len(second) + 50) + second[1:]
    yield "length negative", first + zigzag(-5) + second[1:]
    yield "no header but one told", first + _with_headers(value, 1)
    yield "negative number of headers", first + _with_headers(value, -1)


def _with_headers(value: bytes, count: int) -> bytes:
    body = b"\0" + zigzag(0) + zigzag(1) + zigzag(-1) + zigzag(len(value)) + value + zigzag(count)
    return zigzag(len(body)) + body


def decompressed(play: Play) -> None:
    """A topic limits the decompressed size of batches (4.4), by the size in their records."""
    if not play.topic_has(LIMIT):
        return
    topic = play.topic("limited", max_decompressed_message_bytes="100")
    for size in (99, 100, 101, 200):
        value = b"v" * (size - BESIDE)
        for number in (1, 3):
            rows = [b"x"] * (number - 1) + [value]
            label = f"{number} of {size}"
            play.produce(label, topic, batch(rows))
            play.produce(f"{label} in gzip", topic, batch(rows, attributes=GZIP))
    for size in (100, 101):
        content = zigzag(size) + record(0, b"v", None, 0)[1:]
        packed = holding(gzip.compress(content, mtime=0), GZIP, [b"v"])
        play.produce(f"says {size}", topic, packed)
    play.produce("many alike", topic, batch([b"v" * 98] * 40, attributes=GZIP))
    play.produce("large keys", topic, batch([b"v"], keys=[b"k" * 120], attributes=GZIP))
    play.fetch("limited", topic)
    for limit in ("0", "1", "-1", "2147483647", "2147483648", "x", ""):
        config = {"name": LIMIT, "config_operation": 0, "value": limit}
        resource = {"resource_type": 2, "resource_name": topic, "configs": [config]}
        api = ApiKey.INCREMENTAL_ALTER_CONFIGS
        play.call(f"limit {limit}, set", api, 1, {"resources": [resource]})
        play.produce(f"limit {limit}", topic, batch([b"v" * 98], attributes=GZIP))


SCENARIOS = (damaged, noise, decompressed)
