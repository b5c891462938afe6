"""A client that sends and receives frames over a real socket, and notices disconnections."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.headers import RequestHeader, read_response_header, write_request_header
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config, Limits, ListenerConfig, SecurityProtocol
from kafka_shim.shim.network.connection import Connection
from tests.support.commands import split
from tests.support.frames import sized

PLAIN = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0)
SASL = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 0)
USERS = {"admin": "admin-secret", "alice": "alice-secret"}


class Wire:
    """A connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.correlation_id = 0

    def request(self, api: ApiKey, version: int, message: Any) -> bytes:
        """Return a framed request with the next correlation id."""
        self.correlation_id += 1
        header = RequestHeader(api, version, self.correlation_id, "wire")
        payload = write_request_header(header)
        payload += codecs.write_request(message, version)
        return sized(payload)

    async def ask(self, api: ApiKey, version: int, message: Any) -> Any:
        await self.send(self.request(api, version, message))
        return await self.response(api, version)

    async def response(self, api: ApiKey, version: int) -> Any:
        frame = await self.frame()
        header, at = read_response_header(api, version, frame)
        assert 1 <= header.correlation_id <= self.correlation_id
        return codecs.read_response(api, version, frame, at)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def frame(self) -> bytes:
        size = int.from_bytes(await self.reader.readexactly(4), "big")
        return await self.reader.readexactly(size)

    async def is_closed(self) -> bool:
        """Return whether the peer closes the connection without sending another byte."""
        with contextlib.suppress(ConnectionError):
            return await asyncio.wait_for(self.reader.read(1), 5) == b""
        return True


@contextlib.asynccontextmanager
async def serving(*, clock: Clock | None = None, **settings: Any) -> AsyncIterator[Broker]:
    """Run a broker on loopback with a PLAINTEXT and a SASL_PLAINTEXT listener."""
    settings.setdefault("listeners", (PLAIN, SASL))
    settings.setdefault("super_users", ("User:ANONYMOUS", "User:admin"))
    settings.setdefault("users", USERS)
    broker = Broker(Config(**settings), clock)
    broker.dispatcher.raise_errors = True
    await broker.start()
    try:
        yield broker
    finally:
        await broker.stop()


@contextlib.asynccontextmanager
async def wired(address: str, context: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
    reader, writer = await asyncio.open_connection(*split(address), ssl=context)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def connections_of(broker: Broker) -> list[Connection]:
    """Return the connections that a broker serves."""
    return [found for found in broker._server._connections if isinstance(found, Connection)]


def connected(
    broker: Broker, listener: str = "PLAINTEXT"
) -> contextlib.AbstractAsyncContextManager[Wire]:
    return wired(broker.bootstrap_servers(listener))


SMALL = Limits(frame_bytes_max=2_000, unauthenticated_frame_bytes_max=500, connections_max=3)


async def until(happened: Callable[[], bool]) -> None:
    """Let the event loop run until the condition is true, at most for 20 seconds."""
    ends = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < ends, "the condition did not become true"
        await asyncio.sleep(0)
