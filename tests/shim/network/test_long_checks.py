"""Records that take long to check block no other client, even in a short request."""

import gzip
import struct

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.records.batches import BatchOptions, encode_batch
from kafka_shim.protocol.records.checksum import crc32c
from kafka_shim.protocol.records.compression import Compression
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, InitialTopic
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.handlers.producing.checks_before_append import takes_long
from kafka_shim.shim.network.large_produces import is_quickly_appended
from kafka_shim.shim.network.large_requests import LargeRequests, LargeRequestWork
from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster
from tests.protocol.record_lists import NOW
from tests.shim.play import Stage
from tests.shim.request.stretches import Stretches
from tests.shim.wire import connected, serving
from tests.support.frames import request_frame
from tests.support.record_requests import produce_request

STRETCH_MAX = 10_000
HEADERS = 30_000


def headers(count: int, compression: Compression = Compression.NONE) -> bytes:
    """Return a batch with one record that has `count` empty headers."""
    batch = encode_batch([Record(0, NOW, None, b"v", ((("", None),) * count))])
    if compression is Compression.NONE:
        return batch
    return compressed(batch)


def compressed(batch: bytes) -> bytes:
    """Compress the records of a batch as gzip."""
    covered = struct.pack(">h", Compression.GZIP) + batch[23:61] + gzip.compress(batch[61:])
    start = struct.pack(">qiibI", 0, len(covered) + 9, 0, 2, crc32c(covered))
    return start + covered


def stretches_of(*records: bytes) -> Stretches:
    frame = request_frame(ApiKey.PRODUCE, 9, produce_request("orders", *records), 7, "c")
    cluster = Cluster(Config(super_users=("User:ANONYMOUS",)), ManualClock(NOW))
    cluster.topics.create_topic("orders", [[1]] * len(records), {})
    found = Stretches(Dispatcher(cluster), frame, session_of(cluster))
    found.run()
    topic = cluster.topics.get("orders")
    assert topic is not None
    assert all(partition.log.end_offset for partition in topic.partitions)
    return found


def session_of(cluster: Cluster) -> Session:
    return Session(cluster.config.listeners[0], 1, "127.0.0.1", 50_000)


@pytest.mark.parametrize("compression", [Compression.NONE, Compression.GZIP])
def test_records_are_checked_beside_other_requests(compression: Compression) -> None:
    stretches_of(headers(1, compression))  # a first request, which may import modules
    found = stretches_of(*[headers(HEADERS, compression)] * 3)
    assert found.lines > 3 * 2 * HEADERS
    assert found.longest < STRETCH_MAX


def test_a_long_batch_is_not_soon_appended() -> None:
    frame = codecs.write_request(produce_request("orders", headers(HEADERS * 4)), 9)
    header = write_request_header(RequestHeader(ApiKey.PRODUCE, 9, 7, "c"))
    assert not is_quickly_appended(header + frame)


@pytest.mark.parametrize(
    ("records", "is_long"),
    [
        ([headers(HEADERS, Compression.GZIP)] * 2, True),
        ([headers(100, Compression.GZIP)] * 2, False),
        ([headers(HEADERS)], False),
        ([encode_batch([Record(0, NOW)]) * 2 + headers(HEADERS, Compression.GZIP)], True),
        ([encode_batch([Record(0, NOW)] * 3)], False),
        ([encode_batch([Record(0, NOW)], BatchOptions(compression=Compression.ZSTD))], False),
        ([b"", b"\0" * 10, b"\0" * 200], False),
        ([headers(100, Compression.GZIP)[:-30] + b"\0" * 30], False),
    ],
)
def test_batches_that_take_long_to_check_are_recognized(
    records: list[bytes], *, is_long: bool
) -> None:
    assert takes_long(produce_request("orders", *records), Stage().cluster) == is_long


@pytest.mark.asyncio
async def test_a_short_request_that_takes_long_is_handled_in_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = LargeRequests.start_or_queue
    bombs = [headers(HEADERS, Compression.GZIP)] * 8
    async with serving(topics=(InitialTopic("orders", 8),)) as broker, connected(broker) as wire:
        large, begun = broker._server.large_requests, []

        def counted(working: LargeRequestWork) -> None:
            begun.append(working)
            begin(large, working)

        monkeypatch.setattr(large, "start_or_queue", counted)
        rows = []
        for _ in range(2):
            response = await wire.ask(ApiKey.PRODUCE, 9, produce_request("orders", *bombs))
            rows += response.responses[0].partition_responses
        assert len(begun) == 2
        assert [row.error_code for row in rows] == [ErrorCode.NONE] * 16
        assert [row.base_offset for row in rows] == [0] * 8 + [1] * 8
