"""The Config of a broker, from the options of a command, the environment and files.

The command line takes precedence over the environment (KAFKA_*, as in the container images), and
the environment over the --config file. The contents of --state are added to all of these.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.shim.config import (
    NEWEST,
    PORT_MAX,
    Config,
    ListenerConfig,
    minor_release,
    parse_initial_topic,
    with_listener_principals,
)
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import default_listeners, default_super_users
from kafka_shim.shim.settings.kafka_properties import (
    LISTENERS,
    OLD_ADDRESSES,
    TRANSLATED,
    additional_advertised_listeners,
    describes_whole_broker,
    image_variables_without_effect,
    listeners_of_old_addresses,
    misspelt_variables_with_corrections,
    nearest_known_setting,
    protocols_by_listener,
    require_broker_role,
    require_client_listeners,
    settings_in_environment,
    settings_of_other_releases,
    translate_settings,
    unadvertised_listeners,
    unknown_advertised_listeners,
    unknown_listeners_of_users,
    unknown_setting_names,
    users_unknown_to_kafka,
    with_advertised_addresses,
)
from kafka_shim.shim.settings.option_values import (
    config_fields,
    option_settings,
    option_values_by_key,
)
from kafka_shim.shim.settings.options import OPTIONS
from kafka_shim.shim.settings.setting_locations import SettingLocations
from kafka_shim.shim.state.settings.config_definitions import known_setting_names
from kafka_shim.shim.state.settings.static_settings import validate_static_values
from kafka_shim.text.message_text import print_note

if TYPE_CHECKING:  # modules that read files are imported only if a file is given
    from kafka_shim.shim.settings.config_file import ConfigFileContent

_SETTINGS_OPTION = "broker_config"
"""The option whose values are settings of Kafka."""


class MergedConfig(msgspec.Struct, frozen=True):
    """The merged options, as fields of Config and as settings by Kafka's names.

    `all_settings` are those of all sources, translated or not. `describes_whole_broker` is whether
    file or environment describe a whole broker.
    """

    config_fields: dict[str, Any]
    broker_settings: dict[str, str]
    all_settings: Mapping[str, str]
    describes_whole_broker: bool


def set_missing_options(args: argparse.Namespace, other_options: argparse.Namespace) -> None:
    """Take options without a setting of Kafka from elsewhere unless the command line has them."""
    layered = {option.name for option in OPTIONS if option.has_kafka_setting} | {_SETTINGS_OPTION}
    for name, value in vars(other_options).items():
        if name not in layered and getattr(args, name, None) is None:
            setattr(args, name, value)


def merge_config_sources(
    args: argparse.Namespace,
    file_content: "ConfigFileContent | None",
    environment_settings: Mapping[str, str],
) -> MergedConfig:
    """Merge the layers. Raise ConfigError for an invalid setting, and name it and its layer.

    Set `args.setting_locations`, with which later errors name the line in the file.
    """
    options_of_file = None if file_content is None else file_content.options
    properties_of_file = {} if file_content is None else file_content.properties
    file_settings = {**properties_of_file, **_broker_settings(options_of_file)}
    command_line_settings = _broker_settings(args)
    if file_content is not None:
        args.setting_locations = SettingLocations(
            f"--config {args.config}",
            file_settings.keys()
            | (() if options_of_file is None else vars(options_of_file).keys()),
            file_content.line_of_setting,
            overridden=environment_settings.keys() | command_line_settings.keys(),
        )
    all_settings = {**file_settings, **environment_settings, **command_line_settings}
    if all_settings:
        from kafka_shim.shim.settings.setting_effects import reject_java_classes  # noqa: PLC0415 - few brokers have settings

        reject_java_classes(all_settings)
        require_broker_role(all_settings)
    release = minor_release(args.kafka_version or NEWEST)
    old_addresses = listeners_of_old_addresses(all_settings, release)
    all_settings |= old_addresses
    layers = (
        ("port", old_addresses, None),
        (f"--config {args.config}", file_settings, options_of_file),
        ("environment", environment_settings, None),
        ("--broker-config", command_line_settings, args),
    )
    fields: dict[str, Any] = {}
    properties: dict[str, str] = {}
    layered = [option for option in OPTIONS if option.has_kafka_setting]
    for where, settings, options in layers:
        translation = translate_settings(settings, all_settings, where)
        users = fields.get("listener_users", {}) | translation.config_fields.get(
            "listener_users", {}
        )
        fields |= translation.config_fields
        fields |= {"listener_users": users} if users else {}
        properties |= translation.other_settings
        if options is not None:
            try:
                values = option_values_by_key(vars(options))
                fields |= config_fields(values, layered, protocols_by_listener(all_settings))
                properties |= option_settings(values, layered)
            except ConfigError as error:
                if options is args:
                    raise
                raise ConfigError(f"{where}: {error}") from error
    _check_unknown_settings(
        {f"--config {args.config}": file_settings, "--broker-config": command_line_settings}
    )
    if all_settings:
        from kafka_shim.shim.settings.setting_effects import without_empty_java_classes  # noqa: PLC0415 - as above

        properties = without_empty_java_classes(properties)
        translated = {name: all_settings[name] for name in TRANSLATED if name in all_settings}
        validate_static_values(translated, release)
        _note_settings_without_effect(all_settings, release)
        if users := users_unknown_to_kafka(all_settings):
            print_note(
                f"a real broker does not read users in {', '.join(users)}, but in"
                " listener.name.NAME.plain.sasl.jaas.config"
            )
    is_described = describes_whole_broker({**properties_of_file, **environment_settings})
    if is_described and "authorizer" not in fields:
        fields["authorizer"] = "none"
        print_note(
            "the configuration has no authorizer.class.name, so nothing is denied; to check ACLs,"
            " set it or add --authorizer standard"
        )
    if LISTENERS not in all_settings and not args.listener:
        derived = additional_advertised_listeners(fields.get("listeners"), environment_settings)
        fields |= {} if derived is None else {"listeners": derived}
    return MergedConfig(fields, properties, all_settings, is_described)


def effective_listeners(
    args: argparse.Namespace, merged: MergedConfig
) -> tuple[ListenerConfig, ...]:
    """Return the listeners with their principals and advertised addresses, or the default ones.

    If file or environment describe a broker without listeners, it gets Kafka's default one.
    """
    if args.port is not None and merged.config_fields.get("listeners"):
        raise ConfigError("--port requires the default listeners; put the port into --listener")
    first_port = args.first_port if args.port is None else args.port
    if not 0 <= first_port <= PORT_MAX:
        raise ConfigError(f"--port `{first_port}`: expected 0 to {PORT_MAX}")
    require_client_listeners(merged.config_fields.get("listeners"), merged.all_settings)
    default = default_listeners(first_port, args.brokers or 1)
    listeners = (
        merged.config_fields.get("listeners")
        or default[: 1 if merged.describes_whole_broker else None]
    )
    advertised_only = unknown_advertised_listeners(listeners, merged.all_settings)
    if advertised_only:
        print_note(
            f"advertised.listeners names {', '.join(advertised_only)}, but no such listener exists"
        )
    if unadvertised := unadvertised_listeners(listeners, merged.all_settings):
        print_note(
            f"advertised.listeners lacks {', '.join(unadvertised)}, on which clients of a real"
            " broker find no brokers"
        )
    unmatched = unknown_listeners_of_users(
        merged.config_fields.get("listener_users", {}), listeners, merged.all_settings
    )
    if unmatched:
        print_note(f"no listener is named {', '.join(unmatched)}, so its users cannot authenticate")
    return _set_listener_principals(args, with_advertised_addresses(listeners, merged.all_settings))


def _check_unknown_settings(
    settings_by_source: Mapping[str, Mapping[str, str]],
) -> None:
    """Print one note about the settings that Kafka does not have; plugins may have them.

    Raise ConfigError if a name looks like a misspelt setting of Kafka.
    """
    names: dict[str, None] = {}
    for source, settings in settings_by_source.items():
        for name in unknown_setting_names(settings):
            if (nearest := nearest_known_setting(name)) is not None:
                raise ConfigError(f"{source}: unknown setting `{name}`; did you mean `{nearest}`?")
            names[name] = None
    if names:
        print_note(f"settings unknown to every Kafka release: {', '.join(names)}")


def _note_settings_without_effect(settings: Mapping[str, str], release: str) -> None:
    """Print a note about the settings that only other releases have, and one about those that the
    shim does not need.
    """
    from kafka_shim.shim.settings.setting_effects import settings_without_effect  # noqa: PLC0415 - as above

    unknown = settings_of_other_releases(settings, release)
    if unknown:
        advice = (
            "; set listeners and advertised.listeners" if set(unknown) & set(OLD_ADDRESSES) else ""
        )
        print_note(f"settings unknown to Kafka {release}: {', '.join(unknown)}{advice}")
    known = known_setting_names() - set(unknown)
    if names := settings_without_effect(settings, known):
        has_capitals = any(each != each.lower() for each in names if each.startswith("listener."))
        print_note(
            f"settings without effect: {', '.join(names)}"
            + ("; Kafka reads names of listeners in lower case" if has_capitals else "")
        )


def _broker_settings(options: argparse.Namespace | None) -> dict[str, str]:
    if options is None:
        return {}
    return dict(
        option_values_by_key({_SETTINGS_OPTION: options.broker_config}).get("properties", {})
    )


def _set_listener_principals(
    args: argparse.Namespace, listeners: tuple[ListenerConfig, ...]
) -> tuple[ListenerConfig, ...]:
    values = option_values_by_key({"listener_principal": args.listener_principal})
    principals = values.get("listener_principals", {})
    return with_listener_principals(listeners, principals, "--listener-principal")


if TYPE_CHECKING:  # modules that read files are imported only if a file is given
    from kafka_shim.shim.settings.state_file import StateFileContent


def config_from_arguments(
    args: argparse.Namespace,
    environ: Mapping[str, str] = os.environ,
    state_of_environment: "StateFileContent | None" = None,
) -> Config:
    """Return the Config of options, environment and files. Raise ConfigError, which names what is
    invalid, if that fails.

    Add options that only the file sets to `args`. The options and --state take precedence over
    `state_of_environment`.
    """
    content = None
    if args.config is not None:
        from kafka_shim.shim.settings.config_file import read_config_file  # noqa: PLC0415 - only for such a file

        content = read_config_file(args.config, args.parser)
        if content.options is not None:
            set_missing_options(args, content.options)
    for variable, right in misspelt_variables_with_corrections(environ):
        print_note(f"`{variable}` is not a setting of any Kafka release; did you mean `{right}`?")
    if ignored := image_variables_without_effect(environ):
        print_note(f"ignored: {', '.join(ignored)}")
    merged = merge_config_sources(args, content, settings_in_environment(environ))
    fields = merged.config_fields
    fields["topics"] = tuple(parse_initial_topic(text, "--topic") for text in args.topic or ())
    fields["acls"] = _read_acls(args)
    if args.state is not None:
        from kafka_shim.shim.settings.state_file import read_state_file  # noqa: PLC0415 - only for such a file

        state = read_state_file(args.state)
        _warn_about_ineffective_acls(state.acls_with_lines, args.state, args)
        merge_initial_state(fields, state)
    if state_of_environment is not None:
        acls = state_of_environment.acls_with_lines
        _warn_about_ineffective_acls(acls, "KAFKA_SHIM_ACLS, KAFKA_SHIM_STATE", args)
        merge_initial_state(fields, state_of_environment)
    fields.setdefault("super_users", default_super_users(fields))
    fields["listeners"] = effective_listeners(args, merged)
    values = option_values_by_key(vars(args))
    others = [option for option in OPTIONS if not option.has_kafka_setting]
    fields |= config_fields(values, others, {})
    return Config(
        **fields, properties={**merged.broker_settings, **option_settings(values, others)}
    )


def merge_initial_state(config_fields: dict[str, Any], state: "StateFileContent") -> None:
    """Add the content of a state file or of variables; what is there takes precedence."""
    topics = {topic.name: topic for topic in (*state.topics, *config_fields.get("topics", ()))}
    config_fields["topics"] = tuple(topics.values())
    config_fields["users"] = {**state.users, **config_fields.get("users", {})}
    if state.super_users is not None:
        super_users = (*config_fields.get("super_users", ()), *state.super_users)
        config_fields["super_users"] = tuple(dict.fromkeys(super_users))
    acls = (*config_fields.get("acls", ()), *state.distinct_acls)
    config_fields["acls"] = tuple(dict.fromkeys(acls))
    config_fields["groups"] = (*state.groups, *config_fields.get("groups", ()))
    config_fields["client_metrics"] = {
        **state.client_metrics,
        **config_fields.get("client_metrics", {}),
    }
    config_fields["faults"] = (*config_fields.get("faults", ()), *state.faults)


def _read_acls(args: argparse.Namespace) -> tuple[Acl, ...]:
    if args.acls is None:
        return ()
    from kafka_shim.shim.settings.input_files import read_acl_file_with_lines  # noqa: PLC0415 - only for such a file

    acls_with_lines = read_acl_file_with_lines(args.acls)
    _warn_about_ineffective_acls(acls_with_lines, args.acls, args)
    return tuple(dict.fromkeys(acl for acl, _ in acls_with_lines))


def _warn_about_ineffective_acls(
    acls_with_lines: Sequence[AclWithLine], file: str, args: argparse.Namespace
) -> None:
    if acls_with_lines:
        from kafka_shim.shim.settings.acl_warnings import warn_about_ineffective_acls  # noqa: PLC0415 - only for such a file

        warn_about_ineffective_acls(acls_with_lines, file, args.kafka_version)
