"""The control port: opening it in the broker's own event loop, and closing it."""

import asyncio
import contextlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from shim.broker import Broker
from shim.control.verbs import Control
from shim.errors import ConfigError

if TYPE_CHECKING:
    import uvicorn

START_POLL_S = 0.001


class ControlServer:
    """One HTTP server beside a broker; `address` is `host:port` once it has started."""

    def __init__(self, broker: Broker, where: str, token: str | None = None) -> None:
        self._host, self._port = parse_address(where)
        if token is None and not _is_loopback(self._host):
            raise ConfigError(f"--control {where} can be reached by others: give a --control-token")
        self._control = Control(broker)
        self._token = token
        self._server: uvicorn.Server | None = None
        self._task: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        """Bind, and answer from then on; ConfigError if that cannot be."""
        listening = self._bind()
        self._server = _server(self._control, self._token)
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started:
            if self._task.done():
                await self._task
            await asyncio.sleep(START_POLL_S)
        host, port = listening.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def stop(self) -> None:
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            await self._task

    def _bind(self) -> socket.socket:
        try:
            family, kind, _, _, address = socket.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            # named as TCP, so that asyncio sends answers without waiting to send more (Nagle)
            listening = socket.socket(family, kind, socket.IPPROTO_TCP)
            if os.name == "posix":
                listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen()
        except OSError as error:
            raise ConfigError(
                f"--control: cannot listen on {self._host}:{self._port}: {error.strerror or error}"
            ) from error
        return listening


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`; ConfigError if it is not."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit() or int(port) > 65_535:
        raise ConfigError(f"--control `{text}`: expected HOST:PORT, as in 127.0.0.1:8082")
    return host.strip("[]"), int(port)


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _server(control: Control, token: str | None) -> "uvicorn.Server":
    """Uvicorn, in a loop that is not its own: signals are the broker's, logs are off."""
    try:
        import uvicorn  # noqa: PLC0415 - brokers without a control port need none of this

        from shim.control.app import application  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"--control needs `{error.name}`: pip install 'kafka-shim[control]'"
        ) from error

    class _Embedded(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        application(control, token),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
    )
    return _Embedded(config)
