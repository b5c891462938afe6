"""The brokers of a process: the one that it was started with, and those that tests create."""

import errno
import itertools
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.control.broker_shapes import NewBroker
from kafka_shim.shim.control.new_broker import config_of
from kafka_shim.shim.control.problem import ControlError
from kafka_shim.shim.control.verbs import Control
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.logs import Log
from kafka_shim.shim.system_clock import EndingClock, SystemClock

FIRST = "first"
"""The id of the broker that the process was started with."""
CREATED_MAX = 256
ABORT_S = 1.0
"""How long a removed broker waits for clients to read their last answers."""
_IN_THE_WAY = (errno.EADDRINUSE, errno.EACCES, errno.EMFILE, errno.ENFILE)

log = Log("shim.control")


def _status(error: ConfigError) -> int:
    """Return 409 if the port or the limit of open files is the reason, 400 for an invalid body."""
    cause = error.__cause__
    return 409 if isinstance(cause, OSError) and cause.errno in _IN_THE_WAY else 400


class Running(msgspec.Struct):
    """A running broker with its control API."""

    broker: Broker
    control: Control
    clock: EndingClock | None = None

    async def stop(self) -> None:
        await self.broker.stop()
        if self.clock is not None:
            self.clock.close()
        await self.broker.abort_connections(ABORT_S)


class Brokers:
    """The brokers by id. The first is not created here, and cannot be removed."""

    def __init__(self, first: Broker) -> None:
        self._first = first
        self._running = {FIRST: Running(first, Control(first))}
        self._starting: set[str] = set()
        self._numbers = itertools.count(1)

    def changing(self) -> AbstractContextManager[None]:
        """Do nothing: creating and removing brokers changes none of them."""
        return nullcontext()

    def control(self, broker_id: str) -> Control:
        return self._known(broker_id).control

    def row(self, broker_id: str) -> dict[str, Any]:
        broker = self._known(broker_id).broker
        return {
            "id": broker_id,
            "path": f"/brokers/{broker_id}",
            "release": broker.cluster.release,
            "bootstrap_servers": {
                listener.name: broker.bootstrap_servers(listener.name)
                for listener in broker.cluster.config.listeners
            },
        }

    def rows(self) -> dict[str, Any]:
        return {"brokers": [self.row(broker_id) for broker_id in self._running]}

    async def create(self, new: NewBroker) -> dict[str, Any]:
        config = config_of(new, self._first.cluster.config)
        clock = None if new.manual_clock else EndingClock()
        try:
            broker = Broker(config, clock or ManualClock(SystemClock().now_ms()))
        except ConfigError as error:
            raise ControlError(400, str(error)) from error
        broker_id = self._new_id(new.id)
        self._starting.add(broker_id)
        try:
            await broker.start()
        except ConfigError as error:
            raise ControlError(_status(error), str(error)) from error
        finally:
            self._starting.discard(broker_id)
        self._running[broker_id] = Running(broker, Control(broker), clock)
        log.info("broker created", broker=broker_id, created=self._created)
        return self.row(broker_id)

    async def remove(self, broker_id: str) -> dict[str, Any]:
        running = self._known(broker_id)
        if broker_id == FIRST:
            raise ControlError(
                409, f"broker `{FIRST}` cannot be removed: it runs as long as its process"
            )
        del self._running[broker_id]
        await running.stop()
        log.info("broker removed", broker=broker_id, created=self._created)
        return {"done": True}

    async def close(self) -> None:
        """Stop all brokers that were created."""
        for broker_id in list(self._running.keys() - {FIRST}):
            await self.remove(broker_id)

    @property
    def _created(self) -> int:
        """The number of brokers without the first."""
        return len(self._running) + len(self._starting) - 1

    def _known(self, broker_id: str) -> Running:
        running = self._running.get(broker_id)
        if running is None:
            raise ControlError(404, f"unknown broker `{broker_id}`; GET /brokers lists all")
        return running

    def _new_id(self, wanted: str | None) -> str:
        if self._created >= CREATED_MAX:
            raise ControlError(
                409,
                f"there are {CREATED_MAX} created brokers already: remove some with"
                " DELETE /brokers/{id}",
            )
        taken = self._running.keys() | self._starting
        if wanted is None:
            generated = (f"b{number}" for number in self._numbers)
            return next(name for name in generated if name not in taken)
        if wanted in taken:
            raise ControlError(409, f"the broker `{wanted}` already exists: choose another id")
        return wanted
