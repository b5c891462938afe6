"""The Config of a broker, from the options of a command, the environment and files.

The command line takes precedence over the environment (KAFKA_*, as in the container images), and
the environment over the --config file. The contents of --state are added to all of these.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.shim.config import Config, parse_initial_topic
from kafka_shim.shim.settings.config_sources import (
    effective_listeners,
    merge_config_sources,
    set_missing_options,
)
from kafka_shim.shim.settings.defaults import default_super_users
from kafka_shim.shim.settings.kafka_properties import (
    image_variables_without_effect,
    misspelt_variables_with_corrections,
    settings_in_environment,
)
from kafka_shim.shim.settings.option_values import (
    config_fields,
    option_settings,
    option_values_by_key,
)
from kafka_shim.shim.settings.options import OPTIONS
from kafka_shim.text.message_text import print_note

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
