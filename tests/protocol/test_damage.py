"""Damaged bytes raise only DecodeError, quickly and with little memory."""

import os
import tracemalloc
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from kafka_shim.protocol.codec.codecs import (
    message_reader,
    message_writer,
    read_request,
    request_reader,
    write_request,
)
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.codec.resource_names import names_reader
from kafka_shim.protocol.errors import DecodeError
from kafka_shim.protocol.messages.fetch import FetchRequest
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.protocol.interpreted import DamagedError, Interpreted
from tests.protocol.values import ALL_NAMES, Values, versions_of

pytestmark = pytest.mark.deep

ROUNDS = int(os.environ.get("KAFKA_SHIM_FUZZ_ROUNDS", "1"))
"""Rounds of the fuzzers over all messages."""

REFUSED = object()
HUGE = (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff\x07", b"\xff\xff\xff\xff", b"\x80\x80\x80\x80\x08")


def damage(data: bytes, random: Random) -> bytes:
    kind = random.randrange(5)
    at = random.randrange(len(data)) if data else 0
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([random.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + random.choice(HUGE) + data[at:]
    if kind == 3:
        end = random.randrange(at, len(data)) if data else 0
        return data[:at] + data[end:]
    return data[:at] + random.randbytes(random.randrange(1, 9)) + data[at + 4 :]


def outcome(read: Callable[[bytes, int], Any], data: bytes, prefix: str) -> Any:
    """Return the message, or REFUSED for a DecodeError; other exceptions fail the test."""
    try:
        return read(data, 0)
    except DecodeError as error:
        said = str(error)
    assert said.startswith(prefix)
    return REFUSED


@pytest.mark.parametrize("name", ALL_NAMES)
def test_both_implementations_read_or_refuse_damaged_bytes_alike(name: str) -> None:
    spec = load_message_spec(name)
    for version in versions_of(name):
        read, twin = message_reader(name, version), Interpreted(spec, version)
        for turn in range(8 * ROUNDS):
            random = Random(f"{name} {version} {turn}")
            values = Values(random.random())
            data = damage(message_writer(name, version)(values.message(spec, version)), random)
            message = outcome(read, data, f"{name} v{version}: ")
            if message is REFUSED:
                with pytest.raises(DamagedError):
                    twin.read(data)
            else:
                assert repr(twin.read(data)) == repr(message)  # not ==, as nan is not nan


@pytest.mark.parametrize("name", [name for name in ALL_NAMES if name.endswith("Request")])
def test_skimming_damaged_bytes(name: str) -> None:
    spec = load_message_spec(name)
    for version in versions_of(name):
        skim = names_reader(name, version)
        for turn in range(4 * ROUNDS):
            random = Random(f"skim {name} {version} {turn}")
            data = message_writer(name, version)(Values(random.random()).message(spec, version))
            outcome(skim, damage(data, random), f"{name} v{version}: ")


@pytest.mark.parametrize("name", ["ProduceRequest", "FetchRequest", "MetadataResponse"])
def test_noise_is_refused_or_read(name: str) -> None:
    random = Random(name)
    for version in versions_of(name):
        for _ in range(200 * ROUNDS):
            noise = random.randbytes(random.randrange(200))
            outcome(message_reader(name, version), noise, f"{name} v{version}: ")


def topics(*names: bytes) -> bytes:
    said = b"".join(len(name).to_bytes(2, "big") + name for name in names)
    return len(names).to_bytes(4, "big") + said


# The results are those of real brokers; 4.3.1 and 2.7.2 agree except where a comment says so.


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"a\xffb", "a\ufffdb"),
        (b"\xed\xa0\x80", "\ufffd"),
        (b"\xed\xb0", "\ufffd"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xe2\x82", "\ufffd"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xf8\x88\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd\ufffd"),
        (b"\xe1\xed\x8f\xed\xa0\xc8", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xe9\xf5\xed\xa0\xe0", "\ufffd\ufffd\ufffd\ufffd"),
        (b"\xed\xbf\xc2\x8f\xa0", "\ufffd\x8f\ufffd"),
    ],
)
def test_malformed_utf8_is_replaced_as_a_broker_does(raw: bytes, text: str) -> None:
    request = read_request(3, 1, topics(raw, b"fine"), 0)
    assert [topic.name for topic in request.topics] == [text, "fine"]
    long = b"x" * 200 + raw
    data = b"\2" + (len(long) + 1 - 128 & 127 | 128).to_bytes(1, "big") + b"\1" + long + b"\0" * 5
    assert read_request(3, 9, data, 0).topics[0].name == "x" * 200 + text


def test_malformed_utf8_with_damage_behind_it_is_refused() -> None:
    with pytest.raises(DecodeError):
        read_request(3, 1, topics(b"a\xff", b"b")[:-1], 0)


def test_any_negative_length_is_null() -> None:
    assert read_request(3, 1, b"\xff\xff\xff\xff", 0).topics is None
    assert read_request(3, 1, b"\xff\xff\xff\xfe", 0).topics is None
    assert read_request(3, 9, b"\0\0\0\0\0", 0).topics is None
    # 2.7.2 rejects these two
    assert read_request(3, 9, b"\xff\xff\xff\xff\x0f\0\0\0\0", 0).topics is None
    assert read_request(3, 9, b"\xff\xff\xff\xff\x7f\0\0\0\0", 0).topics is None


@pytest.mark.parametrize(
    ("key", "version", "data"),
    [
        (3, 1, b"\0\0\0\1\xff\xff"),
        (3, 1, b"\0\0\0\1\xff\xfe"),
        (15, 0, b"\xff\xff\xff\xff"),
        (12, 0, b"\0\1g\0\0\0\1\xff\xff"),
        (12, 4, b"\2g\0\0\0\1\0\0\0"),
        (30, 2, b"\0\0"),
    ],
)
def test_null_where_it_must_not_be_is_refused(key: int, version: int, data: bytes) -> None:
    with pytest.raises(DecodeError, match="is null, which is not allowed, at byte"):
        read_request(key, version, data, 0)


def test_varints() -> None:
    rest = b"\2x\0\0\0\0\0"
    assert read_request(3, 9, b"\x82\x80\x80\x80\0" + rest, 0).topics[0].name == "x"
    with pytest.raises(DecodeError, match="varint is longer than 5 bytes"):
        read_request(3, 9, b"\x82\x80\x80\x80\x80\0" + rest, 0)
    with pytest.raises(DecodeError, match="claims 2147483647 elements"):
        read_request(3, 9, b"\x80\x80\x80\x80\x08\0\0\0\0", 0)


def test_longest_string() -> None:
    longest = MetadataRequest([MetadataRequestTopic(name="x" * 32767)])
    data = write_request(longest, 9)
    assert read_request(3, 9, data, 0) == longest
    longer = data.replace(b"\x80\x80\2", b"\x81\x80\2")
    with pytest.raises(DecodeError, match="claims 32768 bytes, more than a string can have"):
        read_request(3, 9, longer[:4] + b"x" + longer[4:], 0)


def test_the_stated_size_of_a_known_tag_is_ignored() -> None:
    start = write_request(FetchRequest(), 12)[:-1]
    assert read_request(1, 12, start + b"\1\0\5\2c", 0).cluster_id == "c"
    # 2.7.2 rejects duplicate tags
    assert read_request(1, 12, start + b"\2\0\2\2c\0\2\2d", 0).cluster_id == "d"


def test_unknown_tags_twice_and_out_of_order_are_kept() -> None:
    # 2.7.2 rejects such tags
    start = write_request(HeartbeatRequest("g"), 4)[:-1]
    read = read_request(12, 4, start + b"\3\7\1a\5\1b\5\0", 0)
    assert read.unknown_tags == ((7, b"a"), (5, b"b"), (5, b""))


def test_many_unknown_tags() -> None:
    start = write_request(HeartbeatRequest("g"), 4)[:-1]
    tags = b"\xac\2" + b"".join(b"\x80\x01\1x" for _ in range(300))
    assert len(read_request(12, 4, start + tags, 0).unknown_tags) == 300


@pytest.mark.parametrize(
    ("key", "version", "data"),
    [
        (3, 1, b"\x7f\xff\xff\xff"),
        (3, 9, b"\xff\xff\xff\xff\7"),
        (3, 12, b"\xff\xff\xff\xff\7" + bytes(10_000)),
        (9, 7, b"\2g\2\2t\xff\xff\xff\xff\7"),
        (9, 1, b"\0\1g\0\0\0\1\0\1t\x7f\xff\xff\xff"),
        (36, 2, b"\xff\xff\xff\xff\7"),
        (36, 0, b"\x7f\xff\xff\xff"),
        (12, 4, b"\2g\0\0\0\1\2m\0\1\5\xff\xff\xff\xff\7"),
        (12, 4, b"\2g\0\0\0\1\2m\0\xff\xff\xff\xff\7"),
        (
            73,
            0,
            b"\0\0\0\1" + bytes(8) + b"\2" + bytes(16) + b"\2" + bytes(16) + b"\xff\xff\xff\xff\7",
        ),
    ],
)
def test_announced_lengths_do_not_allocate_memory(key: int, version: int, data: bytes) -> None:
    request_reader(key, version)
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError):
            read_request(key, version, data, 0)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 200_000
