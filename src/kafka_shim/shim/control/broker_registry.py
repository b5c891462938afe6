"""The brokers of a process: the one that it was started with, and those that tests create."""

import errno
import itertools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.control.broker_bodies import BrokerBody
from kafka_shim.shim.control.broker_control import BrokerControl
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.new_broker import config_for_new_broker
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.text.logs import Log

FIRST = "first"
"""The id of the broker that the process was started with."""
CREATED_MAX = 256
ABORT_S = 1.0
"""How long a removed broker waits for clients to read their last responses."""
_OCCUPIED_ERRNOS = (errno.EADDRINUSE, errno.EACCES, errno.EMFILE, errno.ENFILE)

log = Log("shim.control")


def _http_status_of_start_error(error: ConfigError) -> int:
    """Return 409 if the port or the limit of open files is the reason, 400 for an invalid body."""
    cause = error.__cause__
    return 409 if isinstance(cause, OSError) and cause.errno in _OCCUPIED_ERRNOS else 400


class RunningBroker(msgspec.Struct):
    """A running broker with its control API."""

    broker: Broker
    control: BrokerControl
    clock: SystemClock | None = None

    async def stop(self) -> None:
        await self.broker.stop()
        if self.clock is not None:
            self.clock.close()
        await self.broker.abort_connections(ABORT_S)


class BrokerRegistry:
    """The brokers by id. The first is not created here, and cannot be removed."""

    def __init__(self, first: Broker) -> None:
        self._first = first
        self._running = {FIRST: RunningBroker(first, BrokerControl(first))}
        self._starting: set[str] = set()
        self._numbers = itertools.count(1)

    def persisting_changes(self) -> AbstractContextManager[None]:
        """Return a context that does nothing: creating a broker changes no other broker."""
        return nullcontext()

    def control_of_broker(self, broker_id: str) -> BrokerControl:
        return self._running_broker_or_404(broker_id).control

    def broker_row(self, broker_id: str) -> dict[str, Any]:
        broker = self._running_broker_or_404(broker_id).broker
        return {
            "id": broker_id,
            "path": f"/brokers/{broker_id}",
            "release": broker.cluster.release,
            "bootstrap_servers": {
                listener.name: broker.bootstrap_servers(listener.name)
                for listener in broker.cluster.config.listeners
            },
        }

    def list_brokers(self) -> dict[str, Any]:
        return {"brokers": [self.broker_row(broker_id) for broker_id in self._running]}

    async def create_broker(self, new: BrokerBody) -> dict[str, Any]:
        values = new.values()
        config = config_for_new_broker(values, self._first.cluster.config)
        clock = None if values["manual_clock"] else SystemClock()
        try:
            broker = Broker(config, clock or ManualClock(SystemClock().now_ms()))
        except ConfigError as error:
            raise ControlError(400, str(error)) from error
        broker_id = self._allocate_broker_id(values["id"])
        self._starting.add(broker_id)
        try:
            await broker.start()
        except ConfigError as error:
            raise ControlError(_http_status_of_start_error(error), str(error)) from error
        finally:
            self._starting.discard(broker_id)
        control = BrokerControl(broker)
        self._running[broker_id] = RunningBroker(broker, control, clock)
        log.info("broker created", broker=broker_id, created=self._created_count)
        warnings = control.setup.add_test_acls(config.acls)
        return {**self.broker_row(broker_id), "warnings": warnings}

    async def remove_broker(self, broker_id: str) -> dict[str, Any]:
        running = self._running_broker_or_404(broker_id)
        if broker_id == FIRST:
            raise ControlError(
                409, f"broker `{FIRST}` cannot be removed: it runs as long as its process"
            )
        del self._running[broker_id]
        report = running.control.setup.report()
        await running.stop()
        log.info("broker removed", broker=broker_id, created=self._created_count)
        return report

    async def remove_created_brokers(self) -> None:
        """Stop all brokers that were created."""
        for broker_id in list(self._running.keys() - {FIRST}):
            await self.remove_broker(broker_id)

    @property
    def _created_count(self) -> int:
        """The number of brokers without the first."""
        return len(self._running) + len(self._starting) - 1

    def _running_broker_or_404(self, broker_id: str) -> RunningBroker:
        running = self._running.get(broker_id)
        if running is None:
            raise ControlError(404, f"unknown broker `{broker_id}`; GET /brokers lists all")
        return running

    def _allocate_broker_id(self, requested_id: str | None) -> str:
        if self._created_count >= CREATED_MAX:
            raise ControlError(
                409,
                f"there are {CREATED_MAX} created brokers already: remove some with"
                " DELETE /brokers/{id}",
            )
        used_ids = self._running.keys() | self._starting
        if requested_id is None:
            generated = (f"b{number}" for number in self._numbers)
            return next(name for name in generated if name not in used_ids)
        if requested_id in used_ids:
            raise ControlError(
                409, f"the broker `{requested_id}` already exists: choose another id"
            )
        return requested_id
