"""The control port: opening it in the broker's own event loop, and closing it."""

import asyncio
import contextlib
import os
import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import parse_address
from kafka_shim.shim.control.loopback import is_loopback
from kafka_shim.shim.errors import ConfigError, UnavailableError
from kafka_shim.text.extras import is_installed, requires

if TYPE_CHECKING:
    import uvicorn

    from kafka_shim.shim.control.broker_registry import BrokerRegistry

_TOKEN = re.compile(r"[!-~]+")

LOOP_REPORTS_PENDING_CONNECTIONS = os.name == "posix"
"""Whether the event loop reports pending connections; the one on Windows cannot."""


class ControlServer:
    """One HTTP server beside a broker, and the brokers that it creates on demand.

    `address` is `host:port` once it has started.
    """

    def __init__(self, broker: Broker, where: str, token: str | None = None) -> None:
        self._host, self._port = parse_address(where, "--control")
        if token is None and not is_loopback(self._host):
            raise ConfigError(
                f"--control {where} is not a loopback address: add --control-token TOKEN"
            )
        if token is not None and not _TOKEN.fullmatch(token):
            raise ConfigError(
                "--control-token: expected visible ASCII characters without spaces, since it is"
                " sent in a header"
            )
        if not is_installed("control"):
            raise ConfigError(requires("--control", "control"))
        self._broker = broker
        broker.enable_history()
        self._token = token
        self._listening: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._brokers: BrokerRegistry | None = None
        self._task: asyncio.Task[None] | None = None
        self.address = ""

    async def start(self) -> None:
        """Bind and serve. Raise ConfigError if that fails.

        Importing the server takes a third of the broker's startup time, so it is done at the first
        call, whose connection waits in the socket's queue.
        """
        self._listening = self._bind_listening_socket()
        host, port = self._listening.getsockname()[:2]
        self.address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        if LOOP_REPORTS_PENDING_CONNECTIONS:
            asyncio.get_running_loop().add_reader(
                self._listening, self._start_serving, self._listening
            )
        else:
            self._start_serving(self._listening)

    def _start_serving(self, listening: socket.socket) -> None:
        """Start the HTTP server, which also serves connections that have already arrived."""
        if LOOP_REPORTS_PENDING_CONNECTIONS:
            asyncio.get_running_loop().remove_reader(listening)
        from kafka_shim.shim.control.broker_registry import BrokerRegistry  # noqa: PLC0415 - see start()

        self._brokers = BrokerRegistry(self._broker)
        self._server = _create_embedded_uvicorn(self._brokers, self._token)
        self._task = asyncio.create_task(self._server.serve(sockets=[listening]))

    async def stop(self) -> None:
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            self._server.force_exit = True
            await self._task
            if self._brokers is not None:
                await self._brokers.remove_created_brokers()
        elif self._listening is not None:
            asyncio.get_running_loop().remove_reader(self._listening)
            self._listening.close()

    def _bind_listening_socket(self) -> socket.socket:
        try:
            family, kind, _, _, address = socket.getaddrinfo(
                self._host, self._port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            # named as TCP, so that asyncio sends responses without waiting to send more (Nagle)
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


def _create_embedded_uvicorn(brokers: "BrokerRegistry", token: str | None) -> "uvicorn.Server":
    """Return a Uvicorn server for the broker's event loop, without signal handlers and logs."""
    import uvicorn  # noqa: PLC0415 - see start()

    from kafka_shim.shim.control.http_app import create_http_app  # noqa: PLC0415 - as above
    from kafka_shim.shim.control.http_limits import LimitedHttpProtocol  # noqa: PLC0415 - as above

    class _Embedded(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    config = uvicorn.Config(
        create_http_app(brokers, token),
        http=LimitedHttpProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
    )
    return _Embedded(config)
