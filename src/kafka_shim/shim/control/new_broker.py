"""The configuration in the body of POST /brokers."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.shim.config import NEWEST, Config, minor_release, with_listener_principals
from kafka_shim.shim.control.control_error import ControlError
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
