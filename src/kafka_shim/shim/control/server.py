"""The control port: opening it in the broker's own event loop, and closing it."""

import asyncio
import contextlib
import ipaddress
import os
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kafka_shim.extras import requires
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import parse_address
from kafka_shim.shim.errors import ConfigError, UnavailableError

if TYPE_CHECKING:
    import uvicorn

    from kafka_shim.shim.control.brokers import Brokers

KNOWS_CALLERS = os.name == "posix"
"""Whether the event loop can tell that somebody is there; Windows' cannot."""
NEEDED = ("starlette", "uvicorn", "prometheus_client")


class ControlServer:
    """One HTTP server beside a broker, and the brokers that it creates on demand.

    `address` is `host:port` once it has started.
    """

    def __init__(self, broker: Broker, where: str, token: str | None = None) -> None:
        self._host, self._port = parse_address(where, "--control")
        if token is None and not _is_loopback(self._host):
            raise ConfigError(
                f"--control {where} is not a loopback address: add --control-token TOKEN"
            )
        _require_extra()
        self._broker = broker
        broker.keep_history()
        self._token = token
        self._listening: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._brokers: Brokers | None = None
        self._task: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        """Bind and serve; ConfigError if that fails.

        Importing the server takes a third of the broker's startup time, so it is done at the first
        call, whose connection waits in the socket's queue.
        """
        self._listening = self._bind()
        host, port = self._listening.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if KNOWS_CALLERS:
            asyncio.get_running_loop().add_reader(self._listening, self._serve, self._listening)
        else:
            self._serve(self._listening)

    def _serve(self, listening: socket.socket) -> None:
        """Start to answer, including calls that have already arrived."""
        if KNOWS_CALLERS:
            asyncio.get_running_loop().remove_reader(listening)
        from kafka_shim.shim.control.brokers import Brokers  # noqa: PLC0415 - see start()

        self._brokers = Brokers(self._broker)
        self._server = _server(self._brokers, self._token)
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]))

    async def stop(self) -> None:
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            await self._task
            if self._brokers is not None:
                await self._brokers.close()
        elif self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()

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
            raise UnavailableError(
                f"--control: cannot listen on {self._host}:{self._port}: {error.strerror or error}"
            ) from error
        return listening


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _require_extra() -> None:
    if any(find_spec(name) is None for name in NEEDED):
        raise ConfigError(requires("--control", "control"))


def _server(brokers: "Brokers", token: str | None) -> "uvicorn.Server":
    """Return a Uvicorn server for the broker's event loop, without signal handlers and logs."""
    import uvicorn  # noqa: PLC0415 - see start()

    from kafka_shim.shim.control.app import application  # noqa: PLC0415 - as above

    class _Embedded(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        application(brokers, token),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
    )
    return _Embedded(config)
