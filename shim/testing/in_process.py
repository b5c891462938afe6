"""A broker in this process, on a thread with an event loop of its own."""

import argparse
import asyncio
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shim.apis import HANDLED, handler_of
from shim.broker import Broker
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.clock import ManualClock, SystemClock
from shim.control.problem import ControlError
from shim.control.routes import Call, call_route, find
from shim.control.verbs import Control
from shim.errors import ConfigError
from shim.testing.settings import Settings
from shim.testing.transport import BrokerError


class InProcess:
    """No start of an interpreter, and breakpoints in the broker work; no control port."""

    control_url: str | None = None

    def __init__(self, settings: Settings) -> None:
        _import_handlers()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="kafka-shim", daemon=True
        )
        self._thread.start()
        try:
            self._broker = self._run(self._start(settings))
        except ConfigError as error:
            self._end_thread()
            raise BrokerError(str(error)) from error
        self._control = Control(self._broker)
        self.listeners: dict[str, list[str]] = {}
        for name, address in self._broker.addresses():
            self.listeners.setdefault(name, []).append(address)

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        return self._run(self._call(method, path, query, body))

    def stop(self) -> None:
        self._run(self._broker.stop())
        self._end_thread()

    async def _start(self, settings: Settings) -> Broker:
        parser = argparse.ArgumentParser()
        add_broker_arguments(parser)
        parser.add_argument("--manual-clock", action="store_true")
        with tempfile.TemporaryDirectory(prefix="kafka-shim-") as folder:
            args = parser.parse_args(settings.words(Path(folder)))
            config = config_from(args, {})
        clock = ManualClock(SystemClock().now_ms()) if settings.manual_clock else None
        broker = Broker(config, clock)
        await broker.start()
        return broker

    async def _call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        try:
            route, named = find(method, path)
            return await call_route(self._control, route, Call(named, query, body))
        except ControlError as error:
            raise BrokerError(str(error)) from error

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _import_handlers() -> None:
    """All of them, now: at their first requests they would be imported on the broker's thread.
    pytest parses what is imported, and up to Python 3.12 two threads cannot parse at once.
    """
    for key in HANDLED:
        handler_of(key)
