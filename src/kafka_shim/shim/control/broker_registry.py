"""The brokers of a process: the one that it was started with, and those that tests create.

The body of POST /brokers has the configuration of a new one.
"""

import errno
import itertools
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.config import NEWEST, Config, minor_release, with_listener_principals
from kafka_shim.shim.control import broker_bodies as bodies
from kafka_shim.shim.control.bodies import SetupReport
from kafka_shim.shim.control.broker_bodies import BrokerBody
from kafka_shim.shim.control.broker_control import BrokerControl
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.routes import Route
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import merge_initial_state
from kafka_shim.shim.settings.defaults import default_listeners, default_super_users
from kafka_shim.shim.settings.kafka_properties import (
    listeners_of_old_addresses,
    protocols_by_listener,
    require_broker_role,
    require_client_listeners,
    translate_settings,
    with_advertised_addresses,
)
from kafka_shim.shim.settings.option_values import config_fields, option_settings
from kafka_shim.shim.settings.options import TLS_DIRECTORY, Place, options_of_place
from kafka_shim.shim.settings.setting_effects import (
    reject_java_classes,
    without_empty_java_classes,
)
from kafka_shim.shim.settings.state_file import StateFileContent, StateFileError, parse_state
from kafka_shim.shim.system_clock import ClientsManualClock, SystemClock
from kafka_shim.text.logs import Log

_STATE_KEYS = StateFileContent.__struct_encode_fields__
"""The part of the body that a state file can have."""


def config_for_new_broker(body: Mapping[str, Any], process_config: Config) -> Config:
    """Return the configuration. Raise ControlError if the body is invalid.

    `process_config` is that of the process's first broker: code and folders that only the command
    line may name are allowed if they are named there.
    """
    if body["listeners"] == []:
        raise ControlError(
            400, "listeners is empty: expected at least one, or no key for the default ones"
        )
    directory = process_config.properties.get(TLS_DIRECTORY)
    if body["properties"].get(TLS_DIRECTORY, directory) != directory:
        raise ControlError(
            400, f"properties: {TLS_DIRECTORY} cannot be set here: start the process with --tls-dir"
        )
    try:
        config = _build_config(body, {} if directory is None else {TLS_DIRECTORY: directory})
    except (ConfigError, StateFileError) as error:
        raise ControlError(400, str(error)) from error
    if ":" in config.authorizer and config.authorizer != process_config.authorizer:
        raise ControlError(
            400,
            f"authorizer `{config.authorizer}`: expected standard, none, or the class that this"
            " process was started with (--authorizer)",
        )
    return config


def _build_config(body: Mapping[str, Any], inherited_properties: Mapping[str, str]) -> Config:
    properties = body["properties"]
    reject_java_classes(properties)
    require_broker_role(properties)
    release = minor_release(body.get("kafka_version") or NEWEST)
    properties = {**properties, **listeners_of_old_addresses(properties, release)}
    translation = translate_settings(properties, properties, "properties")
    state = parse_state({name: body[name] for name in _STATE_KEYS})
    options = [option for option in options_of_place(Place.BODY) if option.key not in _STATE_KEYS]
    protocols = protocols_by_listener(properties)
    fields = {**translation.config_fields, **config_fields(body, options, protocols, "racks")}
    users_of_properties = fields.pop("users", {})
    merge_initial_state(fields, state)
    fields["users"] = {**users_of_properties, **fields["users"]}
    fields.setdefault("super_users", default_super_users(fields))
    require_client_listeners(fields.get("listeners"), properties)
    listeners = with_advertised_addresses(
        fields.get("listeners") or default_listeners(), properties
    )
    fields["listeners"] = with_listener_principals(
        listeners, body["listener_principals"], "listener_principals"
    )
    return Config(
        **fields,
        properties={
            **inherited_properties,
            **without_empty_java_classes(translation.other_settings),
            **option_settings(body, options),
        },
    )


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
            broker = Broker(config, clock or ClientsManualClock())
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


BASE_PATH = "/brokers/{broker}"
"""Below it is the control API of one broker."""

BROKER_ROUTES: tuple[Route[BrokerRegistry], ...] = (
    Route("GET", "/brokers", "list_brokers", "All brokers of this process",
          lambda brokers, _: brokers.list_brokers(), bodies.BrokerRows),
    Route("POST", "/brokers", "create_broker", "Create a broker with ports and state of its own",
          lambda brokers, call: brokers.create_broker(call.body), bodies.CreatedBroker,
          bodies.NewBroker),
    Route("GET", BASE_PATH, "broker", "One broker, and where it listens",
          lambda brokers, call: brokers.broker_row(call.path["broker"]), bodies.BrokerRow),
    Route("DELETE", BASE_PATH, "remove_broker",
          "Stop a created broker, close its connections, and delete it",
          lambda brokers, call: brokers.remove_broker(call.path["broker"]), SetupReport),
)  # fmt: skip
