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

from kafka_shim.authorizer.acl_formats.rules import parse_rules
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, is_principal
from kafka_shim.shim.config import GroupSeed, TopicSeed
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.input_files import load_yaml, read_text

_TOPIC_KEYS = ("partitions", "replication_factor", "configs")


class State(msgspec.Struct, frozen=True):
    """The content of a state file."""

    users: Mapping[str, str] = {}
    super_users: tuple[str, ...] | None = None  # None: the file has no such key
    topics: tuple[TopicSeed, ...] = ()
    acls: tuple[Acl, ...] = ()
    groups: tuple[GroupSeed, ...] = ()
    client_metrics: Mapping[str, Mapping[str, str]] = {}
    faults: tuple[Mapping[str, Any], ...] = ()


def read_state(path: str, option: str = "--state") -> State:
    """Read the file; ConfigError, beginning with `option` and the file, if it is invalid."""
    where = f"{option} {path}"
    content = load_yaml(read_text(path, option), where)
    try:
        return parse_state(content)
    except StateFileError as error:
        raise ConfigError(f"{where}: {error}") from error


class StateFileError(Exception):
    """The file is invalid; the text names the key."""


def parse_state(content: Any) -> State:
    """Return the state that a parsed file describes; StateFileError names an invalid key."""
    fields = _mapping(content, "the file", State.__struct_fields__)
    return State(
        users=_users(fields.get("users"), "users"),
        super_users=_super_users(fields.get("super_users"), "super_users"),
        topics=_topics(fields.get("topics"), "topics"),
        acls=_acls(fields.get("acls")),
        groups=_groups(fields.get("groups"), "groups"),
        client_metrics=_client_metrics(fields.get("client_metrics"), "client_metrics"),
        faults=_faults(fields.get("faults"), "faults"),
    )


def _acls(value: Any) -> tuple[Acl, ...]:
    if value is None:
        return ()
    try:
        return tuple(dict.fromkeys(parse_rules({"acls": value})))
    except AclTextError as error:
        raise StateFileError(str(error)) from error


def _users(value: Any, where: str) -> dict[str, str]:
    return {
        name: _text(password, f"{where}.{name}")
        for name, password in _mapping(value, where).items()
    }


def _super_users(value: Any, where: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise StateFileError(f"`{where}` must be a list: [User:admin]")
    principals = tuple(_text(principal, where) for principal in value)
    for principal in principals:
        if not is_principal(principal):
            raise StateFileError(
                f"`{where}`: `{principal}` is not of the form Type:name, as in User:admin"
            )
    return principals


def _topics(value: Any, where: str) -> tuple[TopicSeed, ...]:
    if isinstance(value, list):
        return tuple(TopicSeed(_text(name, where)) for name in value)
    return tuple(
        _topic(name, entry, f"{where}.{name}") for name, entry in _mapping(value, where).items()
    )


def _topic(name: str, value: Any, where: str) -> TopicSeed:
    """Parse a topic: null, a number of partitions, or a mapping."""
    if isinstance(value, int):
        return TopicSeed(name, _count(value, where))
    fields = _mapping(value, where, _TOPIC_KEYS)
    factor = fields.get("replication_factor")
    return TopicSeed(
        name,
        _count(fields.get("partitions", 1), f"{where}.partitions"),
        _settings(fields.get("configs"), f"{where}.configs"),
        None if factor is None else _count(factor, f"{where}.replication_factor"),
    )


def _groups(value: Any, where: str) -> tuple[GroupSeed, ...]:
    return tuple(
        GroupSeed(
            name,
            {
                topic: _offsets(offsets, f"{where}.{name}.{topic}")
                for topic, offsets in _mapping(entry, f"{where}.{name}").items()
            },
        )
        for name, entry in _mapping(value, where).items()
    )


def _client_metrics(value: Any, where: str) -> dict[str, dict[str, str]]:
    return {
        _text(name, where): _settings(settings, f"{where}.{name}")
        for name, settings in _mapping(value, where).items()
    }


def _faults(value: Any, where: str) -> tuple[Mapping[str, Any], ...]:
    """Parse faults in the form of the control API."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise StateFileError(
            f"`{where}` must be a list: [{{action: {{error: REQUEST_TIMED_OUT}}}}]"
        )
    from kafka_shim.shim.faults.fault import Fault, parse_fault  # noqa: PLC0415 - faults are rare
    from kafka_shim.shim.faults.spec import FaultError  # noqa: PLC0415 - as above

    for number, written in enumerate(value):
        try:
            Fault(number, parse_fault(written))
        except FaultError as error:
            raise StateFileError(f"`{where}` {number + 1}: {error}") from error
    return tuple(value)


def _offsets(value: Any, where: str) -> dict[int, int]:
    if not isinstance(value, Mapping):
        raise StateFileError(f"`{where}` must be offsets by partition: {{0: 42}}")
    for partition, offset in value.items():
        for number in (partition, offset):
            if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                raise StateFileError(
                    f"`{where}`: invalid `{number}`; expected a number of 0 or more"
                )
    return dict(value)


def _mapping(value: Any, where: str, known: tuple[str, ...] | None = None) -> dict[str, Any]:
    """Return a mapping with known strings as keys; an empty one for null."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise StateFileError(f"{_quoted(where)} must be a mapping, not `{value}`")
    for key in value:
        if not isinstance(key, str):
            raise StateFileError(
                f"{_quoted(where)}: the key `{key}` must be a string; put it in quotes"
            )
        if known is not None and key not in known:
            raise StateFileError(
                f"{_quoted(where)} has an unknown key `{key}`; known are {', '.join(known)}"
            )
    return dict(value)


def _quoted(where: str) -> str:
    return where if " " in where else f"`{where}`"


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise StateFileError(f"`{where}` must be a string, not `{value}`; numbers need quotes")
    return value


def _settings(value: Any, where: str) -> dict[str, str]:
    return {
        key: _setting(setting, f"{where}.{key}") for key, setting in _mapping(value, where).items()
    }


def _setting(value: Any, where: str) -> str:
    """Return a value as Kafka writes it: numbers and booleans become strings."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise StateFileError(f"`{where}` must be a string or a number, not `{value}`")


def _count(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise StateFileError(f"`{where}` must be a number from 1, not `{value}`")
    return value
