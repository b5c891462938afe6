"""The variables KAFKA_SHIM_*, with which a container is configured that gets no command line.

    KAFKA_SHIM_TOPICS=orders:3,payments
    KAFKA_SHIM_USERS=alice:secret,bob:secret
    KAFKA_SHIM_ACLS='- {principal: User:alice, allow: [Write], topic: orders}'
    KAFKA_SHIM_STATE='groups: {billing: {orders: {0: 42}}}'
    KAFKA_SHIM_CONTROL=0.0.0.0:8082
    KAFKA_SHIM_CONTROL_TOKEN=secret

The values are what the options of these names take. KAFKA_SHIM_ACLS and KAFKA_SHIM_STATE have the
content of such a file. An unknown variable with this prefix is an error, since it is misspelt.
"""

import argparse
from collections.abc import Collection, Mapping
from typing import Any, Final

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import parse_acls_with_lines
from kafka_shim.policy.formats.documents import unknown_word_message
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.shim.config import InitialTopic, parse_initial_topic
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.option_arguments import RaisingOptionParser
from kafka_shim.shim.settings.options import (
    VARIABLE_PREFIX,
    BrokerOption,
    Kind,
    Place,
    option_named,
    options_of_place,
)
from kafka_shim.shim.settings.state_file import StateFileContent, parse_state_text

_STATE_OPTIONS: Final = ("topic", "user", "acls", "state")
"""Options whose variables have a part of the state."""

TOPICS, USERS, ACLS, STATE = (option_named(name).variable for name in _STATE_OPTIONS)

_OF_COMMANDS: Final = (f"{VARIABLE_PREFIX}CONTROL_URL", f"{VARIABLE_PREFIX}BINARY")
"""What `kafka-shim run` sets for its command, which may start another broker, and the path of the
command for the packages for other languages.
"""


def reject_unknown_shim_variables(environ: Mapping[str, str]) -> None:
    """Raise ConfigError if a variable KAFKA_SHIM_* is unknown."""
    known = sorted(option.variable for option in options_of_place(Place.VARIABLE))
    for name in sorted(environ):
        if name.startswith(VARIABLE_PREFIX) and name not in (*known, *_OF_COMMANDS):
            raise ConfigError(unknown_word_message("variable", name, known))


def ignored_variables_note(environ: Mapping[str, str]) -> str | None:
    """Return a note on variables that `serve` would read, for a command that does not; else None.

    `kafka-shim run` sets the token for its command, which may start another broker.
    """
    options = {option.variable: option for option in options_of_place(Place.VARIABLE)}
    ignored = [name for name in sorted(options.keys() & environ.keys()) if "TOKEN" not in name]
    if not ignored:
        return None
    named = ", ".join(f"{options[name].option} for {name}" for name in ignored)
    return f"only `serve` reads KAFKA_SHIM_* variables; give options instead: {named}"


def set_options_from_variables(
    args: argparse.Namespace, environ: Mapping[str, str], names: Collection[str] = ()
) -> None:
    """Set the options that the command line leaves out; all that have a variable, or those named.

    A variable for repeatable values has several, as in `state_of_shim_variables`. The token is read
    with the address, since `kafka-shim run` sets it for its command. Raise ConfigError, beginning
    with the name of the variable, if a value is invalid.
    """
    has_address = args.control is not None
    for option in options_of_place(Place.VARIABLE):
        text = environ.get(option.variable)
        if not text or option.name in _STATE_OPTIONS or (names and option.name not in names):
            continue
        if option.name == "control_token" and (has_address or args.control is None):
            continue
        if getattr(args, option.name) is None:
            setattr(args, option.name, _parse_variable(option, text, args.parser))


def _parse_variable(option: BrokerOption, text: str, parser: argparse.ArgumentParser) -> Any:
    words = _split_list_text(text) if option.kind.is_repeatable else [text]
    if option.kind is Kind.FLAG:
        if text.lower() not in ("true", "false"):
            raise ConfigError(f"{option.variable} `{text}`: expected true or false")
        return text.lower() == "true"
    reader = RaisingOptionParser(parents=[parser], add_help=False, allow_abbrev=False)
    try:
        parsed = reader.parse_args([f"{option.option}={word}" for word in words])
    except ConfigError as error:
        raise ConfigError(f"{option.variable}: {error}") from error
    return getattr(parsed, option.name)


def state_of_shim_variables(environ: Mapping[str, str]) -> StateFileContent:
    """Return the topics, users, ACLs and further state in variables. An empty one is not set.

    Raise ConfigError, beginning with the name of the variable, if a value is invalid.
    """
    state = parse_state_text(environ[STATE], STATE) if environ.get(STATE) else StateFileContent()
    return StateFileContent(
        users={**state.users, **_parse_users(environ.get(USERS, ""))},
        super_users=state.super_users,
        topics=(*state.topics, *_parse_topics(environ.get(TOPICS, ""))),
        acls_with_lines=(*state.acls_with_lines, *_parse_acls(environ.get(ACLS, ""))),
        groups=state.groups,
        client_metrics=state.client_metrics,
        faults=state.faults,
    )


def _parse_topics(text: str) -> list[InitialTopic]:
    return [parse_initial_topic(word, TOPICS) for word in _split_list_text(text)]


def _parse_users(text: str) -> dict[str, str]:
    users = {}
    for word in _split_list_text(text):
        name, colon, password = word.partition(":")
        if not colon or not name:
            raise ConfigError(f"{USERS}: expected NAME:PASSWORD,..., as in alice:secret,bob:secret")
        users[name] = password
    return users


def _parse_acls(text: str) -> list[AclWithLine]:
    if not text:
        return []
    try:
        return parse_acls_with_lines(text)
    except AclTextError as error:
        raise ConfigError(f"{ACLS}: {error}") from error


def _split_list_text(text: str) -> list[str]:
    """Split at line ends if there are any, so that passwords can contain commas; else at commas."""
    words = text.splitlines() if "\n" in text.strip() else text.split(",")
    return [word.strip() for word in words if word.strip()]
