"""Limits on connections, their rate, and the time to log in."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping

import pytest

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config
from tests.shim.wire import PLAIN, SASL, Wire, connected, serving

pytestmark = pytest.mark.asyncio


@contextlib.asynccontextmanager
async def limited(settings: Mapping[str, str]) -> AsyncIterator[tuple[Broker, ManualClock]]:
    """Start a broker with these settings and a frozen clock."""
    clock = ManualClock()
    broker = Broker(Config(listeners=(PLAIN, SASL), properties=settings), clock)
    await broker.start()
    try:
        yield broker, clock
    finally:
        await broker.stop()


@contextlib.asynccontextmanager
async def several(
    broker: Broker, count: int, listener: str = "PLAINTEXT"
) -> AsyncIterator[list[Wire]]:
    async with contextlib.AsyncExitStack() as stack:
        yield [await stack.enter_async_context(connected(broker, listener)) for _ in range(count)]


async def is_responded(wire: Wire) -> bool:
    """Return whether a request is answered now; otherwise it keeps waiting."""
    if not wire.correlation_id:
        await wire.send(wire.request(ApiKey.API_VERSIONS, 0, ApiVersionsRequest()))
    for _ in range(200):
        await asyncio.sleep(0.0005)
        if wire.reader._buffer:  # type: ignore[attr-defined]
            wire.correlation_id = 0
            await wire.frame()
            return True
    return False


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"max.connections.per.ip": "2"}, 2),
        ({"max.connections.per.ip.overrides": "10.9.9.9:1,127.0.0.1:3"}, 3),
        ({"max.connections.per.ip": "1", "max.connections.per.ip.overrides": "localhost:2"}, 2),
    ],
)
async def test_too_many_connections_of_one_address_are_closed(
    settings: dict[str, str], allowed: int
) -> None:
    async with limited(settings) as (broker, _):
        async with several(broker, allowed) as wires, connected(broker) as late:
            assert await late.is_closed()
            for wire in wires:
                assert await is_responded(wire)
        for _ in range(1000):
            if not broker.connection_count:
                break
            await asyncio.sleep(0.001)
        async with connected(broker) as wire:
            assert await is_responded(wire)


@pytest.mark.parametrize("listener", ["", "listener.name.plaintext."])
async def test_connections_above_max_connections_wait_until_others_close(listener: str) -> None:
    async with (
        limited({f"{listener}max.connections": "2"}) as (broker, _),
        several(broker, 2) as (first, _second),
        several(broker, 2) as (third, fourth),
    ):
        assert not await is_responded(third)
        assert not await is_responded(fourth)
        first.writer.close()
        await first.writer.wait_closed()
        assert await is_responded(third)
        assert not await is_responded(fourth)
        async with connected(broker, "SASL_PLAINTEXT") as other:
            assert await is_responded(other) == bool(listener)


@pytest.mark.parametrize("listener", ["", "listener.name.plaintext."])
async def test_connections_above_the_creation_rate_wait(listener: str) -> None:
    """The rate is 1 connection a second, measured over 10 s."""
    async with (
        limited({f"{listener}max.connection.creation.rate": "1"}) as (broker, clock),
        several(broker, 10) as wires,
        several(broker, 2) as (eleventh, twelfth),
    ):
        for wire in wires:
            assert await is_responded(wire)
        assert not await is_responded(eleventh)
        clock.advance(1000)
        assert await is_responded(eleventh)
        assert not await is_responded(twelfth)
        clock.advance(1000)
        assert await is_responded(twelfth)


async def test_the_inter_broker_listener_accepts_connections_above_max_connections() -> None:
    """The least recently used connection of another listener is closed."""
    async with (
        limited({"max.connections": "2"}) as (broker, clock),
        several(broker, 2, "SASL_PLAINTEXT") as (used, idle),
    ):
        assert await is_responded(idle)
        clock.advance(1)
        assert await is_responded(used)
        async with connected(broker) as other:
            assert await is_responded(other)
            assert await idle.is_closed()
            assert broker.connection_count == 2


async def test_changed_limits_apply_to_existing_connections() -> None:
    async with (
        limited({"max.connections": "3"}) as (broker, clock),
        several(broker, 3, "SASL_PLAINTEXT") as (first, *others),
        connected(broker, "SASL_PLAINTEXT") as late,
    ):
        assert not await is_responded(late)
        for wire in (first, *others):
            assert await is_responded(wire)
            clock.advance(1)
        broker.cluster.configs.all_brokers["max.connections"] = "2"
        broker._server._enforce_limits_periodically()
        assert await first.is_closed()
        broker.cluster.configs.all_brokers["max.connections"] = "4"
        broker._server._enforce_limits_periodically()
        assert await is_responded(late)


async def test_connections_above_the_rate_of_their_address_are_closed_with_a_delay() -> None:
    async with limited({}) as (broker, clock):
        rate = {"connection_creation_rate": 1.0}
        broker.cluster.quotas.alter_limits([({"ip": "127.0.0.1"}, rate)])
        async with several(broker, 10) as wires, connected(broker) as late:
            for wire in wires:
                assert await is_responded(wire)
            assert not await is_responded(late)
            clock.advance(1000)
            assert await late.is_closed()


async def test_releases_without_a_limit_ignore_its_setting() -> None:
    listeners = (PLAIN, SASL)
    config = Config(listeners=listeners, release="2.2", properties={"max.connections": "1"})
    broker = Broker(config, ManualClock())
    await broker.start()
    try:
        async with several(broker, 3) as wires:
            for wire in wires:
                assert await is_responded(wire)
    finally:
        await broker.stop()


async def test_a_connection_that_does_not_log_in_in_time_is_closed() -> None:
    async with (
        limited({}) as (broker, clock),
        connected(broker) as plain,
        connected(broker, "SASL_PLAINTEXT") as slow,
    ):
        assert await is_responded(slow)
        clock.advance(50_000)
        handshake = SaslHandshakeRequest(mechanism="PLAIN")  # the connection is not idle
        assert (await slow.ask(ApiKey.SASL_HANDSHAKE, 1, handshake)).error_code == 0
        clock.advance(11_000)
        broker._server._enforce_limits_periodically()
        assert await slow.is_closed()
        assert await is_responded(plain)


async def test_idle_connections_are_closed_after_connections_max_idle_ms() -> None:
    async with (
        limited({"connections.max.idle.ms": "30000"}) as (broker, clock),
        several(broker, 2) as (idle, used),
    ):
        assert await is_responded(idle)
        clock.advance(20_000)
        assert await is_responded(used)
        clock.advance(11_000)
        broker._server._enforce_limits_periodically()
        assert await idle.is_closed()
        assert await is_responded(used)


async def test_request_sizes_are_limited_by_kafkas_settings() -> None:
    settings = {"sasl.server.max.receive.size": "500", "socket.request.max.bytes": "2000"}
    async with serving(properties=settings) as broker:
        for listener, size in (("SASL_PLAINTEXT", 501), ("PLAINTEXT", 2001)):
            async with connected(broker, listener) as wire:
                await wire.send(size.to_bytes(4, "big"))
                assert await wire.is_closed()
