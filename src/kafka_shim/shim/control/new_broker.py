"""The configuration in the body of POST /brokers."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.shim.config import Config, parse_listener, with_listener_principals
from kafka_shim.shim.control.broker_bodies import NewBroker
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import default_listeners, default_super_users_if_unrestricted
from kafka_shim.shim.settings.kafka_properties import (
    parse_racks,
    protocols_by_listener,
    translate_settings,
    with_advertised_addresses,
)
from kafka_shim.shim.settings.state_file import StateFileContent, StateFileError, parse_state
from kafka_shim.shim.state.authorization import PROPAGATION_DELAY
from kafka_shim.shim.state.settings.static_settings import CLIENT_TELEMETRY

TLS_DIRECTORY = "shim.tls.directory"


def config_for_new_broker(body: NewBroker, process_config: Config) -> Config:
    """Return the configuration. Raise ControlError if the body is invalid.

    `process_config` is that of the process's first broker: code and folders that only the command
    line may name are allowed if they are named there.
    """
    if body.listeners == []:
        raise ControlError(
            400, "listeners is empty: expected at least one, or no key for the default ones"
        )
    directory = process_config.properties.get(TLS_DIRECTORY)
    if body.properties.get(TLS_DIRECTORY, directory) != directory:
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


def _build_config(body: NewBroker, inherited_properties: Mapping[str, str]) -> Config:
    translation = translate_settings(body.properties, body.properties, "properties")
    state = parse_state(_state_fields_of_body(body))
    fields: dict[str, Any] = {**translation.config_fields, **_config_fields_of_body(body)}
    fields["users"] = {**fields.get("users", {}), **state.users}
    if state.super_users is not None:
        super_users = (*fields.get("super_users", ()), *state.super_users)
        fields["super_users"] = tuple(dict.fromkeys(super_users))
    fields.setdefault(
        "super_users", default_super_users_if_unrestricted(fields | {"acls": state.distinct_acls})
    )
    listeners = with_advertised_addresses(
        fields.get("listeners") or default_listeners(), body.properties
    )
    fields["listeners"] = with_listener_principals(
        listeners, body.listener_principals, "listener_principals"
    )
    return Config(
        **fields,
        brokers=body.brokers,
        seed=body.seed,
        topics=state.topics,
        acls=state.distinct_acls,
        groups=state.groups,
        client_metrics=state.client_metrics,
        faults=state.faults,
        properties={
            **inherited_properties,
            **translation.other_settings,
            **_shim_properties_of_body(body),
        },
    )


def _config_fields_of_body(body: NewBroker) -> dict[str, Any]:
    """Return the fields in the body that settings of Kafka can also set."""
    fields: dict[str, Any] = {}
    if body.listeners is not None:
        protocols = protocols_by_listener(body.properties)
        fields["listeners"] = tuple(parse_listener(text, protocols) for text in body.listeners)
    if body.authorizer is not None:
        fields["authorizer"] = body.authorizer
    if body.allow_everyone_if_no_acl_found:
        fields["allow_everyone_if_no_acl_found"] = True
    if body.kafka_version is not None:
        fields["release"] = body.kafka_version
    if body.first_broker_id is not None:
        fields["first_broker_id"] = body.first_broker_id
    if body.racks:
        fields["racks"] = parse_racks(",".join(body.racks), "racks")
    return fields


def _shim_properties_of_body(body: NewBroker) -> dict[str, str]:
    """Return the settings of the shim that are keys of the body."""
    properties = {}
    if body.client_telemetry:
        properties[CLIENT_TELEMETRY] = "true"
    if body.acl_propagation_delay is not None:
        properties[PROPAGATION_DELAY] = str(body.acl_propagation_delay)
    return properties


def _state_fields_of_body(body: NewBroker) -> dict[str, Any]:
    """Return the part of the body that a state file can have."""
    return {name: getattr(body, name) for name in StateFileContent.__struct_encode_fields__}
