"""A broker's invalid responses end only their connection through the proxy."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, write_request_header
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.protocol.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
)
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.proxy import proxy as proxy_module
from kafka_shim.traces.proxy.proxy import Proxy
from tests.shim.observing.test_recorder import entries
from tests.shim.wire import Wire
from tests.support.commands import split
from tests.support.frames import sized

pytestmark = pytest.mark.asyncio

Behaviour = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def proxied(
    response: Behaviour, folder: Path, left: asyncio.Event | None = None
) -> AsyncIterator[str]:
    """Run a proxy whose broker calls `answer` for each frame, and sets `left` when disconnected."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                size = int.from_bytes(await reader.readexactly(4), "big")
                await response(await reader.readexactly(size), writer)
                await writer.drain()
        writer.close()
        if left is not None:
            left.set()

    upstream = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = upstream.sockets[0].getsockname()[1]
    proxy = Proxy(("127.0.0.1", port), ("127.0.0.1", 0), TraceRecorder(folder, SystemClock()))
    try:
        yield await proxy.start()
    finally:
        await proxy.stop()
        upstream.close()


async def endless(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write((100 * 1024 * 1024).to_bytes(4, "big"))
    for _chunk in range(200):
        writer.write(b"\0" * 1024)
        await writer.drain()
    writer.close()


async def oversized(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x7f\xff\xff\xff" + b"\0" * 1000)


async def negative(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\xff\xff\xff\xff")


async def truncated(frame: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write((500).to_bytes(4, "big") + frame[4:8])
    writer.close()


async def wrong_correlation_id(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(sized(b"\x7f\0\0\0" + b"\0" * 20))


async def noise(frame: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(sized(frame[4:8] + b"\xff" * 50))


async def tiny(_: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(sized(b"x"))


CLOSED = (endless, oversized, negative, truncated)
PASSED = (wrong_correlation_id, noise, tiny)


@pytest.mark.parametrize("response", [*CLOSED, *PASSED], ids=lambda response: response.__name__)
async def test_invalid_frames_of_a_broker_are_forwarded_or_end_the_connection(
    response: Behaviour, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with proxied(response, tmp_path) as address:
        wire = Wire(*await asyncio.open_connection(*split(address)))
        await wire.send(wire.request(ApiKey.METADATA, 12, MetadataRequest(topics=[])))
        if response in PASSED:
            assert await asyncio.wait_for(wire.frame(), 10)
        else:
            assert await wire.is_closed()
        wire.writer.close()
    assert [row for row in caplog.records if row.levelno >= logging.ERROR] == []
    _, damage = entries(tmp_path)
    assert damage == []


def with_metadata(respond: Callable[[], MetadataResponse]) -> Behaviour:
    """Return the behaviour of a broker that sends these responses to Metadata version 12."""

    async def behaviour(frame: bytes, writer: asyncio.StreamWriter) -> None:
        body = codecs.write_response(ApiKey.METADATA, 12, respond())
        writer.write(sized(frame[4:8] + b"\0" + body))

    return behaviour


async def metadata(wire: Wire) -> MetadataResponse:
    await wire.send(wire.request(ApiKey.METADATA, 12, MetadataRequest(topics=[])))
    frame = await asyncio.wait_for(wire.frame(), 20)
    found, _ = read_response_with_version(ApiKey.METADATA, 12, frame)
    assert isinstance(found, MetadataResponse)
    return found


INVALID = [("127.0.0.1", 99999), ("127.0.0.1", -5), ("", 9092), ("a\0b", 9092), ("a" * 70, 9092)]


@pytest.mark.parametrize("address", INVALID)
async def test_an_invalid_address_of_a_broker_is_forwarded_unchanged(
    address: tuple[str, int], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    response = MetadataResponse(brokers=[MetadataResponseBroker(1, *address)])
    async with proxied(with_metadata(lambda: response), tmp_path) as bootstrap:
        wire = Wire(*await asyncio.open_connection(*split(bootstrap)))
        for _ in range(2):
            [broker] = (await metadata(wire)).brokers
            assert (broker.host, broker.port) == address
        wire.writer.close()
    assert [row for row in caplog.records if row.levelno >= logging.ERROR] == []
    assert len([row for row in caplog.records if "address is invalid" in row.getMessage()]) == 1


async def test_a_broker_that_moves_keeps_its_listener(tmp_path: Path) -> None:
    hosts = iter(f"h{number}" for number in range(100))
    behaviour = with_metadata(
        lambda: MetadataResponse(brokers=[MetadataResponseBroker(1, next(hosts), 9092)])
    )
    async with proxied(behaviour, tmp_path) as bootstrap:
        wire = Wire(*await asyncio.open_connection(*split(bootstrap)))
        addresses = set()
        for _ in range(100):
            [broker] = (await metadata(wire)).brokers
            addresses.add((broker.host, broker.port))
        wire.writer.close()
    assert len(addresses) == 1


async def test_the_number_of_listeners_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_module, "BROKERS_MAX", 3)
    brokers = [MetadataResponseBroker(number, f"h{number}", 9092) for number in range(20)]
    async with proxied(
        with_metadata(lambda: MetadataResponse(brokers=brokers)), tmp_path
    ) as bootstrap:
        wire = Wire(*await asyncio.open_connection(*split(bootstrap)))
        found = (await metadata(wire)).brokers
        wire.writer.close()
    assert [broker.host == f"h{broker.node_id}" for broker in found] == [False] * 3 + [True] * 17


async def test_responses_to_a_disconnected_client_are_still_recorded(tmp_path: Path) -> None:
    """The broker answers once the client has left."""
    count, gone, left = 20, asyncio.Event(), asyncio.Event()

    async def late(frame: bytes, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.write(sized(frame[4:8] + b"\0" * 20))

    async with proxied(late, tmp_path, left) as address:
        _, writer = await asyncio.open_connection(*split(address))
        for number in range(count):
            header = RequestHeader(ApiKey.METADATA, 4, number, "c")
            request = codecs.write_request(MetadataRequest(topics=[]), 4)
            writer.write(sized(write_request_header(header) + request))
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        gone.set()
        async with asyncio.timeout(10):
            await left.wait()  # the proxy disconnects once it has all responses
    found, _ = entries(tmp_path)
    assert len([entry for _, entry in found if isinstance(entry, Response)]) == count
