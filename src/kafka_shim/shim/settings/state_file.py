"""Reads the state file: YAML with the initial topics, users, ACLs and groups of a broker.

    users:
      alice: alice-secret
    super_users: [User:admin]
    topics:
      orders: {partitions: 3, configs: {retention.ms: 60000}}
      payments:
    acls:
      - {principal: User:alice, allow: [Write], topic: orders}
    groups:
      billing:
        orders: {0: 42}
    client_metrics:
      latencies: {metrics: org.apache.kafka.producer., interval.ms: 5000}
    faults:
      - {match: {api: FindCoordinator}, action: {error: COORDINATOR_NOT_AVAILABLE}}

Unknown keys and values of the wrong type are errors.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, is_principal
from kafka_shim.policy.formats.documents import (
    ListWithLines,
    line_of_key,
    line_of_mapping,
    unknown_word_message,
)
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.formats.yaml_rules import add_user_type, parse_located_acls
from kafka_shim.shim.config import InitialGroup, InitialTopic
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import parse_yaml_with_lines
from kafka_shim.text.input_files import read_text_file

_TOPIC_KEYS = ("partitions", "replication_factor", "configs")


class StateFileContent(msgspec.Struct, frozen=True):
    """The content of a state file."""

    users: Mapping[str, str] = {}
    super_users: tuple[str, ...] | None = None  # None: the file has no such key
    topics: tuple[InitialTopic, ...] = ()
    acls_with_lines: tuple[AclWithLine, ...] = msgspec.field(default=(), name="acls")
    groups: tuple[InitialGroup, ...] = ()
    client_metrics: Mapping[str, Mapping[str, str]] = {}
    faults: tuple[Mapping[str, Any], ...] = ()

    @property
    def distinct_acls(self) -> tuple[Acl, ...]:
        """Return the distinct ACLs."""
        return tuple(dict.fromkeys(acl for acl, _ in self.acls_with_lines))


def read_state_file(path: str, option: str = "--state") -> StateFileContent:
    """Read the file. Raise ConfigError, beginning with `option` and the path, if it is invalid."""
    return parse_state_text(read_text_file(path, option), f"{option} {path}")


def parse_state_text(text: str, place: str) -> StateFileContent:
    """Parse the content of a state file. Raise ConfigError, beginning with `place`, if invalid."""
    content = parse_yaml_with_lines(text, place)
    try:
        return parse_state(content)
    except StateFileError as error:
        line = error.line or _nearest_line(content, error.keys) or (0 if error.keys else 1)
        raise ConfigError(f"{place}: {f'line {line}: ' if line else ''}{error}") from error


KeyPath = tuple[Any, ...]
"""Path of keys to a value in the file, as in ("topics", "orders", "partitions")."""


class StateFileError(Exception):
    """The file is invalid at the value under `keys`. Values under `users` are never repeated."""

    def __init__(self, keys: KeyPath, problem: str, line: int = 0) -> None:
        super().__init__(f"{_key_path_text(keys)}{'' if problem.startswith(':') else ' '}{problem}")
        self.keys, self.line = keys, line


def _key_path_text(keys: KeyPath) -> str:
    return f"`{'.'.join(str(key) for key in keys)}`" if keys else "the file"


def _nearest_line(content: Any, keys: KeyPath) -> int:
    """Return the line of the value under the keys, or of its nearest parent; 0 if unknown."""
    line = line_of_mapping(content)
    for key in keys:
        if not isinstance(content, Mapping) or key not in content:
            break
        line, content = line_of_key(content, key) or line, content[key]
    return line


def line_of_object_in_state_file(path: str, keys: KeyPath) -> int:
    """Return the line of an object that a valid state file creates; 0 if it does not."""
    content = parse_yaml_with_lines(read_text_file(path, "--state"), path) or {}
    part, *rest = keys
    objects = content.get(part)
    if part == "acls":
        return next((line for acl, line in _parse_acls(objects) if acl == rest[0]), 0)
    if isinstance(objects, list):
        return _line_of_list_item(objects, objects.index(rest[0])) if rest[0] in objects else 0
    return _nearest_line(content, keys) if objects and rest[0] in objects else 0


def parse_state(content: Any) -> StateFileContent:
    """Return the state that a parsed file describes. Raise StateFileError if it is invalid."""
    fields = _parse_mapping(content, (), StateFileContent.__struct_encode_fields__)
    return StateFileContent(
        users=_parse_users(fields.get("users"), ("users",)),
        super_users=_parse_super_users(fields.get("super_users"), ("super_users",)),
        topics=_parse_topics(fields.get("topics"), ("topics",)),
        acls_with_lines=_parse_acls(fields.get("acls")),
        groups=_parse_groups(fields.get("groups"), ("groups",)),
        client_metrics=_parse_client_metrics(fields.get("client_metrics"), ("client_metrics",)),
        faults=_parse_faults(fields.get("faults"), ("faults",)),
    )


def _parse_acls(value: Any) -> tuple[AclWithLine, ...]:
    if value is None:
        return ()
    try:
        acls = parse_located_acls({"acls": value})
    except AclTextError as error:
        raise StateFileError(("acls",), f": {error.message}", error.line) from error
    return tuple((add_user_type(acl), line) for acl, line in acls)


def _parse_users(value: Any, keys: KeyPath) -> dict[str, str]:
    return {
        name: _parse_nonempty_string(password, (*keys, name))
        for name, password in _parse_mapping(value, keys).items()
    }


def _parse_super_users(value: Any, keys: KeyPath) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise StateFileError(keys, "must be a list: [User:admin]")
    principals = tuple(_parse_nonempty_string(principal, keys) for principal in value)
    for principal in principals:
        if not is_principal(principal):
            raise StateFileError(
                keys, f": `{principal}` is not of the form Type:name, as in User:admin"
            )
    return principals


def _parse_topics(value: Any, keys: KeyPath) -> tuple[InitialTopic, ...]:
    if isinstance(value, list):
        return tuple(InitialTopic(_parse_nonempty_string(name, keys)) for name in value)
    return tuple(
        _parse_topic(name, entry, (*keys, name))
        for name, entry in _parse_mapping(value, keys).items()
    )


def _parse_topic(name: str, value: Any, keys: KeyPath) -> InitialTopic:
    """Parse a topic: null, a number of partitions, or a mapping."""
    if isinstance(value, int):
        return InitialTopic(name, _parse_positive_integer(value, keys))
    fields = _parse_mapping(value, keys, _TOPIC_KEYS)
    factor = fields.get("replication_factor")
    return InitialTopic(
        name,
        _parse_positive_integer(fields.get("partitions", 1), (*keys, "partitions")),
        _parse_settings(fields.get("configs"), (*keys, "configs")),
        None if factor is None else _parse_positive_integer(factor, (*keys, "replication_factor")),
    )


def _parse_groups(value: Any, keys: KeyPath) -> tuple[InitialGroup, ...]:
    return tuple(
        InitialGroup(
            name,
            {
                topic: _parse_offsets(offsets, (*keys, name, topic))
                for topic, offsets in _parse_mapping(entry, (*keys, name)).items()
            },
        )
        for name, entry in _parse_mapping(value, keys).items()
    )


def _parse_client_metrics(value: Any, keys: KeyPath) -> dict[str, dict[str, str]]:
    return {
        _parse_nonempty_string(name, keys): _parse_settings(settings, (*keys, name))
        for name, settings in _parse_mapping(value, keys).items()
    }


def _parse_faults(value: Any, keys: KeyPath) -> tuple[Mapping[str, Any], ...]:
    """Return the faults unchanged, in the form of the control API.

    Raise StateFileError if one is invalid.
    """
    if value is None:
        return ()
    if not isinstance(value, list):
        raise StateFileError(keys, "must be a list: [{action: {error: REQUEST_TIMED_OUT}}]")
    from kafka_shim.shim.faults.fault import Fault, parse_fault_spec  # noqa: PLC0415 - faults are rare
    from kafka_shim.shim.faults.spec import FaultError  # noqa: PLC0415 - as above

    for number, fault_spec in enumerate(value):
        try:
            Fault(number, parse_fault_spec(fault_spec))
        except FaultError as error:
            raise StateFileError(
                keys, f"{number + 1}: {error}", _line_of_list_item(value, number)
            ) from error
    return tuple(value)


def _parse_offsets(value: Any, keys: KeyPath) -> dict[int, int]:
    if not isinstance(value, Mapping):
        raise StateFileError(keys, "must be offsets by partition: {0: 42}")
    for partition, offset in value.items():
        for number in (partition, offset):
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise StateFileError(
                    keys,
                    f": invalid {_value_text(keys, number)}; expected a number of 0 or more",
                )
    return dict(value)


def _parse_mapping(
    value: Any, keys: KeyPath, known: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Return a mapping with known strings as keys; an empty one for null."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise StateFileError(keys, f"must be a mapping, not {_value_text(keys, value)}")
    for key in value:
        if not isinstance(key, str):
            raise StateFileError(keys, f": the key `{key}` must be a string; put it in quotes")
        if known is not None and key not in known:
            raise StateFileError(
                keys,
                f": {unknown_word_message('key', key, known)}",
                line_of_key(value, key),
            )
    return dict(value)


def _value_text(keys: KeyPath, value: Any) -> str:
    """Return a value for an error: only its kind at the top, under `users`, and if compound."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping"
    if value is None:
        return "empty"
    if not keys or keys[0] == "users":
        return {str: "a string", bool: "a boolean"}.get(type(value), "a number")
    return f"`{value}`"


def _line_of_list_item(items: Any, number: int) -> int:
    return items.lines[number] if isinstance(items, ListWithLines) else 0


def _parse_nonempty_string(value: Any, keys: KeyPath) -> str:
    if not isinstance(value, str) or not value:
        raise StateFileError(
            keys,
            f"must be a string, not {_value_text(keys, value)}; numbers need quotes",
        )
    return value


def _parse_settings(value: Any, keys: KeyPath) -> dict[str, str]:
    return {
        key: _parse_setting_value(setting, (*keys, key))
        for key, setting in _parse_mapping(value, keys).items()
    }


def _parse_setting_value(value: Any, keys: KeyPath) -> str:
    """Return a value as Kafka writes it: numbers and booleans become strings."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise StateFileError(keys, f"must be a string or a number, not {_value_text(keys, value)}")


def _parse_positive_integer(value: Any, keys: KeyPath) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise StateFileError(keys, f"must be a number from 1, not {_value_text(keys, value)}")
    return value
