"""Limits of the control port, and clients that are served during long calls."""

import asyncio

import pytest

from kafka_shim.shim.control import http_app, http_limits
from kafka_shim.shim.control.http_server import ControlServer
from tests.shim.control.test_server import PORT, broker, call
from tests.support.commands import split


@pytest.mark.asyncio
async def test_half_sent_headers_are_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "HEADERS_TIMEOUT_S", 0.2)
    control = ControlServer(broker(), PORT)
    await control.start()
    reader, writer = await asyncio.open_connection(*split(control.address))
    writer.write(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    async with asyncio.timeout(10):
        assert (await reader.read()).startswith(b"HTTP/1.1 408 ")
    writer.close()
    assert (await call(control.address)).startswith(b"HTTP/1.1 200")
    await control.stop()


@pytest.mark.asyncio
async def test_connections_above_the_limit_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_limits, "CONNECTIONS_MAX", 3)
    control = ControlServer(broker(), PORT)
    await control.start()
    opened = [await asyncio.open_connection(*split(control.address)) for _ in range(3)]
    assert (await call(control.address)).startswith(b"HTTP/1.1 503 ")
    for _, writer in opened:
        writer.close()
        await writer.wait_closed()
    await asyncio.sleep(0.2)  # until the server has noticed
    assert (await call(control.address)).startswith(b"HTTP/1.1 200 ")
    await control.stop()


@pytest.mark.asyncio
async def test_a_half_sent_body_is_rejected_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_app, "BODY_TIMEOUT_S", 0.2)
    control = ControlServer(broker(), PORT)
    await control.start()
    reader, writer = await asyncio.open_connection(*split(control.address))
    writer.write(b"POST /topics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{")
    async with asyncio.timeout(10):
        assert (await reader.readline()).startswith(b"HTTP/1.1 408 ")
    writer.close()
    await control.stop()
