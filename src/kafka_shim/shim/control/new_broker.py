"""The configuration in the body of POST /brokers."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.shim.config import Config, parse_listener, with_principals
from kafka_shim.shim.control.broker_shapes import NewBroker
from kafka_shim.shim.control.problem import ControlError
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import default_listeners, default_super_users
from kafka_shim.shim.settings.kafka_properties import (
    advertised,
    parse_racks,
    protocols_by_listener,
    translate,
)
from kafka_shim.shim.settings.state_file import State, StateFileError, parse_state
from kafka_shim.shim.state.authorization import PROPAGATION_DELAY
from kafka_shim.shim.state.settings.static_settings import CLIENT_TELEMETRY

TLS_DIRECTORY = "shim.tls.directory"


def config_of(new: NewBroker, first: Config) -> Config:
    """Return the configuration; ControlError if the body is invalid.

    `first` is that of the process's own broker: code and folders that only the command line may
    name are allowed if they are named there.
    """
    if new.listeners == []:
        raise ControlError(
            400, "listeners is empty: expected at least one, or no key for the default ones"
        )
    directory = first.properties.get(TLS_DIRECTORY)
    if new.properties.get(TLS_DIRECTORY, directory) != directory:
        raise ControlError(
            400, f"properties: {TLS_DIRECTORY} cannot be set here: start the process with --tls-dir"
        )
    try:
        config = _config(new, {} if directory is None else {TLS_DIRECTORY: directory})
    except (ConfigError, StateFileError) as error:
        raise ControlError(400, str(error)) from error
    if ":" in config.authorizer and config.authorizer != first.authorizer:
        raise ControlError(
            400,
            f"authorizer `{config.authorizer}`: expected standard, none, or the class that this"
            " process was started with (--authorizer)",
        )
    return config


def _config(new: NewBroker, inherited: Mapping[str, str]) -> Config:
    translation = translate(new.properties, new.properties, "properties")
    state = parse_state(_state(new))
    fields: dict[str, Any] = {**translation.fields, **_fields(new)}
    fields["users"] = {**fields.get("users", {}), **state.users}
    if state.super_users is not None:
        super_users = (*fields.get("super_users", ()), *state.super_users)
        fields["super_users"] = tuple(dict.fromkeys(super_users))
    fields.setdefault("super_users", default_super_users(fields | {"acls": state.acls}))
    listeners = advertised(fields.get("listeners") or default_listeners(), new.properties)
    fields["listeners"] = with_principals(listeners, new.listener_principals, "listener_principals")
    return Config(
        **fields,
        brokers=new.brokers,
        seed=new.seed,
        topics=state.topics,
        acls=state.acls,
        groups=state.groups,
        client_metrics=state.client_metrics,
        faults=state.faults,
        properties={**inherited, **translation.properties, **_properties(new)},
    )


def _fields(new: NewBroker) -> dict[str, Any]:
    """Return the fields in the body that settings of Kafka can also set."""
    fields: dict[str, Any] = {}
    if new.listeners is not None:
        protocols = protocols_by_listener(new.properties)
        fields["listeners"] = tuple(parse_listener(text, protocols) for text in new.listeners)
    if new.authorizer is not None:
        fields["authorizer"] = new.authorizer
    if new.allow_everyone_if_no_acl_found:
        fields["allow_everyone_if_no_acl_found"] = True
    if new.kafka_version is not None:
        fields["release"] = new.kafka_version
    if new.first_broker_id is not None:
        fields["first_broker_id"] = new.first_broker_id
    if new.racks:
        fields["racks"] = parse_racks(",".join(new.racks), "racks")
    return fields


def _properties(new: NewBroker) -> dict[str, str]:
    """Return the settings of the shim that are keys of the body."""
    properties = {}
    if new.client_telemetry:
        properties[CLIENT_TELEMETRY] = "true"
    if new.acl_propagation_delay is not None:
        properties[PROPAGATION_DELAY] = str(new.acl_propagation_delay)
    return properties


def _state(new: NewBroker) -> dict[str, Any]:
    """Return the part of the body that a state file can have."""
    return {name: getattr(new, name) for name in State.__struct_fields__}
