"""One client does not block others: turns, unread responses, held requests."""

import asyncio
import itertools
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import InitialTopic, Limits
from tests.shim.wire import Wire, connected, connections_of, serving, until
from tests.support.record_requests import fetch_request

pytestmark = pytest.mark.asyncio

RECEIVED_BYTES = 256 * 1024  # read from a socket at once


@contextmanager
def dispatched(broker: Broker, *, one_a_turn: bool = False) -> Iterator[list[int]]:
    """Yield a list to which the connection's number is added for each dispatched request."""
    numbers: list[int] = []
    dispatch = broker.dispatcher.dispatch

    def noted(frame: bytes, session: Any) -> Any:
        numbers.append(session.number)
        return dispatch(frame, session)

    broker.dispatcher.dispatch = noted  # type: ignore[method-assign]
    if one_a_turn:
        seconds = itertools.count()
        broker._server.clock_s = lambda: float(next(seconds))
    yield numbers


async def settled(value: Callable[[], int]) -> int:
    """Wait until a number no longer changes, and return it."""
    for _ in range(1000):
        before = value()
        for _ in range(50):
            await asyncio.sleep(0.001)
        if value() == before:
            return before
    raise AssertionError("the number kept changing")


def versions(wire: Wire, count: int) -> bytes:
    return b"".join(
        wire.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()) for _ in range(count)
    )


def large(wire: Wire, names: int) -> bytes:
    """Return a Metadata request with topic names of 30 kB each."""
    topics = [MetadataRequestTopic(name=f"{number:030000}") for number in range(names)]
    return wire.request(ApiKey.METADATA, 1, MetadataRequest(topics=topics))


async def test_pipelined_requests_take_turns_with_those_of_others() -> None:
    async with serving() as broker, connected(broker) as busy, connected(broker) as other:
        with dispatched(broker, one_a_turn=True) as numbers:
            busy.writer.write(versions(busy, 100))
            other.writer.write(versions(other, 3))
            for _ in range(3):
                await other.frame()
            assert numbers.count(1) < 10
            for _ in range(100):
                await busy.frame()
            assert len(numbers) == 103


async def test_a_client_that_resets_gets_no_more_responses() -> None:
    async with serving() as broker, connected(broker) as wire:
        with dispatched(broker, one_a_turn=True) as numbers:
            await wire.send(versions(wire, 1000))
            await wire.frame()
            linger = struct.pack("ii", 1, 0)
            wire.writer.get_extra_info("socket").setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, linger
            )
            wire.writer.transport.abort()
            await until(lambda: broker.connection_count == 0)
            assert len(numbers) < 100


async def test_responses_that_a_client_does_not_read_are_limited() -> None:
    limits = Limits(write_buffer_bytes_max=10_000)
    topics = tuple(InitialTopic(f"topic-{number}") for number in range(500))
    async with serving(limits=limits, topics=topics) as broker, connected(broker) as wire:
        wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
        (connection,) = connections_of(broker)
        assert connection._transport is not None
        for end in (wire.writer.transport, connection._transport):
            for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
                end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, option, 64 * 1024)
        count = 60
        with dispatched(broker) as numbers:
            for _ in range(count):
                wire.writer.write(wire.request(ApiKey.METADATA, 1, MetadataRequest(topics=None)))
            responded = await settled(lambda: len(numbers))
            assert responded < count
            assert connection._transport.get_write_buffer_size() < 200_000
            wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
            for number in range(count):
                assert int.from_bytes((await wire.frame())[:4], "big") == number + 1


async def test_requests_are_read_again_once_the_client_reads_responses() -> None:
    async with serving() as broker, connected(broker) as wire:
        (connection,) = connections_of(broker)
        with dispatched(broker, one_a_turn=True) as numbers:
            wire.writer.write(versions(wire, 500))
            await until(lambda: bool(numbers))
            connection.pause_writing()
            assert 0 < await settled(lambda: len(numbers)) < 500
            broker._server.clock_s = lambda: 0.0
            connection.resume_writing()
            for _ in range(500):
                await wire.frame()
            ask = wire.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
            await asyncio.wait_for(ask, 10)


def long_poll(wire: Wire, wait_ms: int) -> bytes:
    request = fetch_request("orders", max_wait_ms=wait_ms, min_bytes=1)
    return wire.request(ApiKey.FETCH, 4, request)


async def test_during_a_long_poll_only_one_further_request_is_read() -> None:
    topics = (InitialTopic("orders"),)
    async with serving(topics=topics) as broker, connected(broker) as wire:
        (connection,) = connections_of(broker)
        await wire.send(long_poll(wire, 1500))
        await until(lambda: connection._pending is not None)
        count = 30
        for _ in range(count):
            wire.writer.write(large(wire, 10))
        await until(lambda: bool(connection._frames))
        assert len(connection._frames) == 1
        assert broker._server.request_memory.bytes < 310_000
        assert connection._splitter.pending_bytes <= 16 * 1024
        await wire.frame()
        for _ in range(count):
            assert (await wire.response(ApiKey.METADATA, 1)).topics[0].error_code
        assert broker._server.request_memory.bytes == 0


async def test_large_requests_wait_for_memory_and_small_ones_do_not() -> None:
    async with (
        serving(properties={"queued.max.request.bytes": "100000"}) as broker,
        connected(broker) as first,
        connected(broker) as second,
        connected(broker) as small,
    ):
        memory = broker._server.request_memory
        request = large(first, 10)
        await first.send(request[:200_000])
        await until(lambda: memory.bytes == len(request) - 4)
        second.writer.write(large(second, 100))
        response = await small.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
        assert response.error_code == ErrorCode.NONE
        connections = connections_of(broker)
        arrived = await settled(lambda: sum(row._splitter.pending_bytes for row in connections))
        assert arrived <= 200_000 + RECEIVED_BYTES
        assert memory.bytes == len(request) - 4
        await first.send(request[200_000:])
        assert len((await first.response(ApiKey.METADATA, 1)).topics) == 10
        assert len((await second.response(ApiKey.METADATA, 1)).topics) == 100
        assert memory.bytes == 0


async def test_a_client_that_disconnects_within_a_request_frees_its_memory() -> None:
    async with serving() as broker, connected(broker) as wire:
        memory = broker._server.request_memory
        await wire.send(large(wire, 10)[:100_000])
        await until(lambda: memory.bytes > 0)
        wire.writer.close()
        await until(lambda: memory.bytes == 0)
