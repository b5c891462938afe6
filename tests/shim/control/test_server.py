"""The control port: simultaneous first calls, closing, and imports at the first call."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, parse_listener
from kafka_shim.shim.control.http_server import ControlServer
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text import extras
from tests.support.commands import split

ROOT = Path(__file__).parents[3]
PORT = "127.0.0.1:0"
_REQUEST = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


def broker() -> Broker:
    return Broker(Config(listeners=(parse_listener("PLAINTEXT://127.0.0.1:0"),)))


async def call(address: str) -> bytes:
    reader, writer = await asyncio.open_connection(*split(address))
    writer.write(_REQUEST)
    response = await reader.read()
    writer.close()
    await writer.wait_closed()
    return response


@pytest.mark.asyncio
async def test_simultaneous_first_calls_are_all_answered() -> None:
    control = ControlServer(broker(), PORT)
    await control.start()
    responses = await asyncio.gather(*(call(control.address) for _ in range(5)))
    assert all(response.startswith(b"HTTP/1.1 200") for response in responses)
    await control.stop()
    with pytest.raises(ConnectionRefusedError):
        await call(control.address)


@pytest.mark.asyncio
async def test_a_port_without_calls_is_closed_too() -> None:
    control = ControlServer(broker(), PORT)
    await control.start()
    await control.stop()
    with pytest.raises(ConnectionRefusedError):
        await call(control.address)


def test_the_server_is_imported_at_the_first_call() -> None:
    script = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.shim.control.test_server import PORT, ControlServer, broker, call

def has_http():
    return "uvicorn" in sys.modules and "starlette" in sys.modules

async def main():
    control = ControlServer(broker(), PORT)
    await control.start()
    assert not has_http()
    assert b'"status":"ok"' in await call(control.address)
    assert has_http()
    await control.stop()

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], env=os.environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "uvicorn" else name)
    with pytest.raises(ConfigError, match="--control requires the extra `control`"):
        ControlServer(broker(), PORT)
