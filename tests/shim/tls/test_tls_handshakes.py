"""Clients of a TLS listener that do not complete the handshake, or only slowly."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, Limits, ListenerConfig, SecurityProtocol
from tests.shim.wire import Wire, connected

pytestmark = pytest.mark.asyncio

TLS = ListenerConfig("SSL", SecurityProtocol.SSL, "127.0.0.1", 0)
HELLO = bytes([22, 3, 1, 2, 0])
"""The header of the first TLS record of a handshake, for 512 bytes."""


@contextlib.asynccontextmanager
async def serving(
    folder: Path, settings: dict[str, str] | None = None, **more: Any
) -> AsyncIterator[tuple[Broker, ManualClock]]:
    """Run a broker with a TLS listener and a manual clock."""
    clock = ManualClock()
    properties = {"shim.tls.directory": str(folder), **(settings or {})}
    broker = Broker(Config(listeners=(TLS,), properties=properties, **more), clock)
    await broker.start()
    try:
        yield broker, clock
    finally:
        await broker.stop()


@contextlib.asynccontextmanager
async def shaken(broker: Broker, folder: Path) -> AsyncIterator[Wire]:
    """Open a connection and complete its handshake."""
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    host, _, port = broker.bootstrap_servers("SSL").rpartition(":")
    reader, writer = await asyncio.open_connection(
        host, int(port), ssl=context, server_hostname="localhost"
    )
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.wait_closed()


async def is_responded(wire: Wire) -> bool:
    response = await wire.ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
    return bool(response.api_keys)


async def accepted(broker: Broker, count: int) -> None:
    """Wait until the broker has this number of connections."""
    for _ in range(1000):
        if broker.connection_count == count:
            return
        await asyncio.sleep(0.001)
    assert broker.connection_count == count


@pytest.mark.parametrize("begins", [b"", HELLO])
async def test_a_slow_handshake_is_closed_when_idle(tmp_path: Path, begins: bytes) -> None:
    settings = {"connections.max.idle.ms": "5000"}
    async with (
        serving(tmp_path, settings) as (broker, clock),
        connected(broker, "SSL") as slow,
        shaken(broker, tmp_path) as quick,
    ):
        await slow.send(begins)
        clock.advance(4_000)
        assert await is_responded(quick)
        clock.advance(2_000)
        broker._server._enforce_limits_periodically()
        assert await slow.is_closed()
        assert await is_responded(quick)
        await accepted(broker, 1)


async def test_a_slow_handshake_is_closed_after_the_time_for_a_log_in(tmp_path: Path) -> None:
    settings = {"connections.max.idle.ms": "-1"}
    async with (
        serving(tmp_path, settings, limits=Limits(authentication_ms_max=3_000)) as (broker, clock),
        connected(broker, "SSL") as slow,
    ):
        await accepted(broker, 1)
        clock.advance(4_000)
        broker._server._enforce_limits_periodically()
        assert await slow.is_closed()


async def test_simultaneous_handshakes_are_limited_and_other_clients_served(tmp_path: Path) -> None:
    """A handshake above the limit closes the oldest one."""
    async with (
        serving(tmp_path, limits=Limits(handshakes_max=3)) as (broker, _),
        contextlib.AsyncExitStack() as stack,
        shaken(broker, tmp_path) as before,
    ):
        silent = [await stack.enter_async_context(connected(broker, "SSL")) for _ in range(6)]
        for oldest in silent[:3]:
            assert await oldest.is_closed()
        await accepted(broker, 4)
        async with shaken(broker, tmp_path) as after:
            assert await is_responded(after)
        assert await is_responded(before)
        assert len(broker._server.handshakes) == 2


async def test_handshakes_count_as_connections_of_their_address(tmp_path: Path) -> None:
    """A real 4.3.1 also closes the third connection before sending any TLS bytes."""
    settings = {"max.connections.per.ip": "2"}
    async with (
        serving(tmp_path, settings) as (broker, _),
        connected(broker, "SSL") as first,
        connected(broker, "SSL"),
        connected(broker, "SSL") as third,
    ):
        assert await third.is_closed()
        first.writer.close()
        await first.writer.wait_closed()
        await accepted(broker, 1)
        async with shaken(broker, tmp_path) as wire:
            assert await is_responded(wire)


async def test_connections_above_max_connections_wait_before_the_handshake(tmp_path: Path) -> None:
    async with (
        serving(tmp_path, {"max.connections": "1"}) as (broker, _),
        connected(broker, "SSL") as silent,
    ):
        await accepted(broker, 1)
        waiting = asyncio.create_task(_ask(broker, tmp_path))
        await accepted(broker, 2)
        assert len(broker._server.handshakes) == 1
        silent.writer.close()
        await silent.writer.wait_closed()
        assert await asyncio.wait_for(waiting, 10)


async def _ask(broker: Broker, folder: Path) -> bool:
    async with shaken(broker, folder) as wire:
        return await is_responded(wire)


async def test_an_invalid_handshake_ends_only_its_connection(tmp_path: Path) -> None:
    async with serving(tmp_path) as (broker, _), connected(broker, "SSL") as wrong:
        await wrong.send(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")
        with contextlib.suppress(ConnectionError):
            await asyncio.wait_for(wrong.reader.read(), 5)
        await accepted(broker, 0)
        assert broker.cluster.counters.closed == 1
        assert len(broker._server.handshakes) == 0
        assert await _ask(broker, tmp_path)


async def test_a_request_sent_with_the_end_of_the_handshake_is_answered(
    tmp_path: Path,
) -> None:
    """The client sends both in one write."""
    async with serving(tmp_path) as (broker, _):
        host, _, port = broker.bootstrap_servers("SSL").rpartition(":")
        assert await asyncio.to_thread(_ask_at_once, (host, int(port)), tmp_path)


def _ask_at_once(address: tuple[str, int], folder: Path) -> bool:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with socket.create_connection(address, 5) as peer:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                peer.sendall(outgoing.read())
                incoming.write(peer.recv(65536))
        tls.write(b"\0\0\0\x0a\0\x12\0\0\0\0\0\1\xff\xff")
        peer.sendall(outgoing.read())
        while True:
            try:
                return tls.read(4) != b""
            except ssl.SSLWantReadError:
                incoming.write(peer.recv(65536))


async def test_a_broker_stops_during_a_handshake(tmp_path: Path) -> None:
    async with serving(tmp_path) as (broker, _), connected(broker, "SSL") as silent:
        await accepted(broker, 1)
        await broker.stop()
        assert await silent.is_closed()
        await accepted(broker, 0)
