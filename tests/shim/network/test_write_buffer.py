"""Long responses are sent in pieces, as fast as the client reads them."""

import asyncio
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import FetchResponse
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.records.batches import encode_batch
from kafka_shim.protocol.records.record_codec import Record
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import InitialTopic
from kafka_shim.shim.network import write_buffer
from kafka_shim.shim.network.write_buffer import WriteBuffer
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.logs.log import StoredBatch
from tests.protocol.record_lists import NOW
from tests.shim.network.test_fairness import settled
from tests.shim.wire import Wire, connected, connections_of, serving
from tests.support.record_requests import fetch_request

BATCHES, VALUE = 60, b"v" * 200_000
FETCH_VERSION = 11


class Transport:
    """A transport that sends as many bytes as `drain` allows, and buffers the rest."""

    def __init__(self) -> None:
        self.taken, self.buffer = b"", b""
        self.room = self.longest = 0
        self.high = 0

    def set_write_buffer_limits(self, high: int) -> None:
        self.high = high

    def get_write_buffer_size(self) -> int:
        return len(self.buffer)

    def is_closing(self) -> bool:
        return False

    def write(self, content: bytes | memoryview) -> None:
        self.buffer += bytes(content)
        self.longest = max(self.longest, len(self.buffer))
        self.drain(0)

    def drain(self, room: int) -> None:
        self.room += room
        now, self.buffer = self.buffer[: self.room], self.buffer[self.room :]
        self.taken += now
        self.room -= len(now)


@given(
    st.lists(st.lists(st.binary(max_size=30), max_size=9), min_size=1, max_size=4),
    st.lists(st.integers(1, 60), min_size=1),
)
def test_pieces_are_sent_in_their_order(frames: list[list[bytes]], rooms: list[int]) -> None:
    transport: Any = Transport()
    out = WriteBuffer(transport, 1000)
    at_once, write_buffer.AT_ONCE_BYTES = write_buffer.AT_ONCE_BYTES, 16
    try:
        for number, rest in enumerate(frames):
            out.following_chunks += rest
            out.send_in_chunks([b"<", b"%d" % number, b">"])
            while transport.buffer:
                transport.drain(rooms[len(transport.taken) % len(rooms)])
                out.send_waiting_chunks()
            assert transport.high == 1000 or not rest
        out.following_chunks.append(b"last")
        out.send_in_chunks([b"<>"])
        out.flush()
    finally:
        write_buffer.AT_ONCE_BYTES = at_once
    expected = [b"<%d>" % number + b"".join(rest) for number, rest in enumerate(frames)]
    assert transport.taken + transport.buffer == b"".join(expected) + b"<>last"
    assert transport.longest <= 32 + len(b"<>last")


def filled(broker: Broker) -> list[bytes]:
    """Append batches to partition 0 of `orders`; return them."""
    partition = broker.cluster.topics.led_partition("orders", 0)
    assert partition is not None
    stored = []
    for at in range(BATCHES):
        payload = encode_batch([Record(at, NOW, b"%d" % at, VALUE)])
        partition.log.append_batch(StoredBatch(at, at, NOW, payload), 0)
        stored.append(payload)
    return stored


def fetch(wire: Wire, bytes_max: int = 1 << 30, wait_ms: int = 0) -> bytes:
    request = fetch_request("orders", max_wait_ms=wait_ms, min_bytes=1, max_bytes=bytes_max)
    request.topics[0].partitions[0].partition_max_bytes = bytes_max
    return wire.request(ApiKey.FETCH, FETCH_VERSION, request)


def records_of(frame: bytes) -> bytes:
    response = codecs.read_response(ApiKey.FETCH, FETCH_VERSION, frame, 4)
    assert isinstance(response, FetchResponse)
    return response.responses[0].partitions[0].records or b""


@pytest.mark.asyncio
async def test_batches_are_not_copied_until_the_client_reads() -> None:
    seeds = (InitialTopic("orders"),)
    async with serving(topics=seeds) as broker, connected(broker) as wire:
        stored = filled(broker)
        (connection,) = connections_of(broker)
        assert connection._transport is not None
        wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        wire.writer.write(fetch(wire) + wire.request(ApiKey.METADATA, 1, MetadataRequest()))
        await settled(connection._transport.get_write_buffer_size)
        assert 0 < connection._transport.get_write_buffer_size() <= write_buffer.AT_ONCE_BYTES
        wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert records_of(await wire.frame()) == b"".join(stored)
        assert (await wire.frame())[:4] == (2).to_bytes(4, "big")


@pytest.mark.asyncio
@pytest.mark.parametrize("bytes_max", [100, 70_000, 250_000, 500_000, 900_001])
async def test_a_limited_response_has_the_first_bytes_of_the_log(bytes_max: int) -> None:
    async with serving(topics=(InitialTopic("orders"),)) as broker, connected(broker) as wire:
        stored = filled(broker)
        await wire.send(fetch(wire, bytes_max))
        found = records_of(await wire.frame())
        assert found == b"".join(stored)[: max(bytes_max, len(stored[0]))]


@pytest.mark.asyncio
async def test_a_history_that_begins_during_a_long_poll_records_no_pieces() -> None:
    async with serving(topics=(InitialTopic("orders"),)) as broker, connected(broker) as wire:
        await wire.send(fetch(wire, wait_ms=30_000))
        await settled(lambda: broker.cluster.counters.requests)
        broker.dispatcher.set_history(History())
        stored = filled(broker)
        assert records_of(await wire.frame())[: len(stored[0])] == stored[0]


@pytest.mark.asyncio
async def test_a_broker_that_stops_completes_the_response_being_sent() -> None:
    async with serving(topics=(InitialTopic("orders"),)) as broker, connected(broker) as wire:
        stored = filled(broker)
        await wire.send(fetch(wire))
        (connection,) = connections_of(broker)
        await settled(lambda: broker.cluster.counters.requests)
        connection.cancel_requests_and_close()
        frame = await asyncio.wait_for(wire.frame(), 30)
        assert records_of(frame) == b"".join(stored)
