import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.cli import main
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.text.logs import NonBlockingHandler
from tests.cli.tested_command import run_tested_command
from tests.support.commands import TESTED

PLAINTEXT = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 0)
SASL = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 0)
USERS = {name: f"{name}-secret" for name in ("admin", "alice")}


class Running:
    """A broker on an event loop in its own thread, since the tested commands block."""

    def __init__(self, config: Config) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._broker = Broker(config)
        self._wait(self._broker.start())

    def _wait(self, coroutine: Any) -> None:
        asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(10)

    @property
    def cluster(self) -> Cluster:
        return self._broker.cluster

    def record(self, directory: Path) -> None:
        self._broker.start_recording(directory)

    def bootstrap(self, listener: str) -> str:
        return self._broker.bootstrap_servers(listener)

    @property
    def plaintext(self) -> str:
        return self.bootstrap("PLAINTEXT")

    @property
    def sasl(self) -> str:
        return self.bootstrap("SASL_PLAINTEXT")

    def stop_node(self, node_id: int) -> None:
        self._wait(self._broker.stop_node(node_id))

    def start_node(self, node_id: int) -> None:
        self._wait(self._broker.start_node(node_id))

    def stop(self) -> None:
        self._wait(self._broker.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@pytest.fixture(autouse=True)
def logs_as_before() -> Iterator[None]:
    """Restore the logging of the process after a command has configured it."""
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    for handler in root.handlers[:]:
        if isinstance(handler, NonBlockingHandler):
            root.removeHandler(handler)


@pytest.fixture(autouse=True)
def tested_command(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run another `kafka-shim` where a test calls `main`."""
    if TESTED and getattr(request.module, "main", None) is main:
        monkeypatch.setattr(request.module, "main", run_tested_command)


@pytest.fixture
def nobody() -> Iterator[str]:
    """Return an address on which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield "{}:{}".format(*taken.getsockname())


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Return a function that starts a broker with fields of Config; it stops after the test."""
    with contextlib.ExitStack() as stack:

        def starting(**settings: Any) -> Running:
            settings.setdefault("listeners", (PLAINTEXT, SASL))
            settings.setdefault("super_users", ("User:ANONYMOUS", "User:admin"))
            running = Running(Config(users=USERS, **settings))
            stack.callback(running.stop)
            return running

        yield starting


@pytest.fixture
def broker(start: Callable[..., Running]) -> Running:
    return start()
