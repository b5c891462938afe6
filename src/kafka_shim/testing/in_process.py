"""A broker in this process, on a thread with an event loop of its own."""

import asyncio
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kafka_shim.shim.apis import APIS_WITH_HANDLER, import_handler
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.control.broker_control import BrokerControl
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.routes import Call, call_route, find_route
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import (
    RaisingOptionParser,
    add_broker_arguments,
    add_option_arguments,
)
from kafka_shim.shim.settings.options import CONTROL, TRACE
from kafka_shim.shim.settings.trace_storage import storage_of_requested_trace
from kafka_shim.shim.system_clock import ClientsManualClock
from kafka_shim.testing.settings import Settings
from kafka_shim.testing.transport import BrokerError
from kafka_shim.text.message_text import sanitize_message


class InProcessBroker:
    """No start of an interpreter, and breakpoints in the broker work; no control port."""

    control_url: str | None = None

    def __init__(self, settings: Settings) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="kafka-shim-")
        self.folder = Path(self._temporary.name)
        try:
            self._broker = _broker_from_arguments(settings.serve_arguments(self.folder))
            _import_handlers()
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="kafka-shim", daemon=True
            )
            self._thread.start()
            try:
                self._run_on_broker_loop(self._broker.start())
            except BaseException:
                self.stop()
                raise
        except ConfigError as error:
            self._temporary.cleanup()
            raise BrokerError(sanitize_message(str(error))) from error
        except BaseException:
            self._temporary.cleanup()
            raise
        self._control = BrokerControl(self._broker)
        self.listeners: dict[str, list[str]] = {}
        for name, address in self._broker.listener_addresses():
            self.listeners.setdefault(name, []).append(address)

    def call(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        if self._loop.is_closed():
            raise BrokerError("the broker was stopped")
        return self._run_on_broker_loop(self._call_route(method, path, query, body))

    def stop(self) -> None:
        if self._loop.is_closed():
            return
        self._run_on_broker_loop(self._broker.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._temporary.cleanup()

    async def _call_route(self, method: str, path: str, query: Mapping[str, str], body: Any) -> Any:
        try:
            route, path_parameters = find_route(method, path)
            return await call_route(self._control, route, Call(path_parameters, query, body))
        except ControlError as error:
            raise BrokerError(sanitize_message(str(error))) from error

    def _run_on_broker_loop(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


def _broker_from_arguments(argv: Sequence[str]) -> Broker:
    """Return the broker of a command line. Raise ConfigError if there can be none."""
    parser = RaisingOptionParser()
    add_broker_arguments(parser)
    add_option_arguments(parser, TRACE, CONTROL)
    args = parser.parse_args(argv)
    clock = ClientsManualClock() if args.manual_clock else None
    broker = Broker(config_from_arguments(args, {}), clock)
    storage = storage_of_requested_trace(args)
    if storage is not None:
        broker.start_recording(args.record, storage)
    return broker


def _import_handlers() -> None:
    """Import all handlers now; otherwise the broker's thread would import them at first requests.
    pytest parses imported modules, and up to Python 3.12 two threads cannot parse at the same time.
    """
    for key in APIS_WITH_HANDLER:
        import_handler(key)
