"""Kafka's own configuration: server.properties, and the environment of its container images.

What the shim has options of its own for is translated; all other settings stay under their names.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from authorizer.authorizer import ALLOW_EVERYONE, SUPER_USERS, parse_super_users
from protocol.api_versions import RELEASES
from shim.config import ListenerConfig, SecurityProtocol
from shim.errors import ConfigError
from shim.settings.jaas import parse_jaas
from shim.state.config_definitions import definitions

AUTHORIZER = "authorizer.class.name"
LISTENERS = "listeners"
ADVERTISED_LISTENERS = "advertised.listeners"
PROTOCOL_MAP = "listener.security.protocol.map"

_TRANSLATED = (
    *(LISTENERS, ADVERTISED_LISTENERS, PROTOCOL_MAP, AUTHORIZER, SUPER_USERS, ALLOW_EVERYONE),
    "cluster.id",
)
_BROKER_MARKS = (LISTENERS, "process.roles", "node.id", "broker.id", "zookeeper.connect")
_FREE_PREFIXES = ("listener.name.", "shim.", "kafka.", "metric.reporters", "confluent.")
_JAAS = re.compile(r"(?:listener\.name\.[^.]+\.[^.]+\.)?sasl\.jaas\.config")
_UNDERSCORES = re.compile("_+")
_PREFIXES = ("KAFKA_CFG_", "KAFKA_")  # Bitnami's; Apache's and Confluent's


class Translation(msgspec.Struct, frozen=True):
    """`fields` of Config by their names, and the `properties` that are left."""

    fields: Mapping[str, Any]
    properties: Mapping[str, str]


def from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Broker settings from KAFKA_* and KAFKA_CFG_*: `_` is `.`, `__` is `_`, `___` is `-`.

    Only settings that some release has: there are many other variables of that prefix. Besides,
    CLUSTER_ID (Apache's image) and KAFKA_CLIENT_USERS, KAFKA_CLIENT_PASSWORDS (Bitnami's).
    """
    names = [name for name in sorted(environ) if name.startswith("KAFKA_")]
    found = {}
    known = known_settings() if names else frozenset()
    for prefix in reversed(_PREFIXES):
        for name in names:
            if name.startswith(prefix):
                key = _property_name(name.removeprefix(prefix))
                if key in known or key.startswith("listener.name."):
                    found[key] = environ[name]
    if environ.get("CLUSTER_ID"):
        found["cluster.id"] = environ["CLUSTER_ID"]
    users = _client_users(environ)
    if users:
        options = " ".join(f'user_{name}="{_escaped(word)}"' for name, word in users.items())
        found.setdefault("sasl.jaas.config", f"PlainLoginModule required {options};")
    return found


def known_settings() -> frozenset[str]:
    """Every broker setting of any release, and those of the authorizer."""
    names = {name for release in RELEASES for name in definitions(release).broker}
    return frozenset(names | {SUPER_USERS, ALLOW_EVERYONE, "cluster.id"})


def unknown_settings(properties: Mapping[str, str]) -> list[str]:
    """Settings that no release knows; plugins of a real broker may have had a use for them."""
    known = known_settings()
    return sorted(
        key for key in properties if key not in known and not key.startswith(_FREE_PREFIXES)
    )


def describes_broker(properties: Mapping[str, str]) -> bool:
    """Whether this is the configuration of a whole broker: without an authorizer it has none."""
    return any(mark in properties for mark in _BROKER_MARKS)


def translate(layer: Mapping[str, str], everything: Mapping[str, str], where: str) -> Translation:
    """Translate one layer; `everything` are the settings of all layers, for what belongs together.

    ConfigError begins with `where`.
    """
    fields: dict[str, Any] = {}
    rest = {key: value for key, value in layer.items() if key not in _TRANSLATED}
    try:
        if LISTENERS in layer:
            fields["listeners"] = _listeners(everything)
        if SUPER_USERS in layer:
            fields["super_users"] = tuple(sorted(parse_super_users(layer[SUPER_USERS])))
        if ALLOW_EVERYONE in layer:
            fields["allow_everyone_if_no_acl_found"] = _flag(ALLOW_EVERYONE, layer[ALLOW_EVERYONE])
    except ValueError as error:
        raise ConfigError(f"{where}: {error}") from error
    if AUTHORIZER in layer:
        fields["authorizer"] = layer[AUTHORIZER].strip() or "none"
    if "cluster.id" in layer:
        fields["cluster_id"] = layer["cluster.id"]
    users: dict[str, str] = {}
    for key in [key for key in rest if _JAAS.fullmatch(key)]:
        users |= parse_jaas(rest.pop(key), f"{where}: {key}").users
    if users:
        fields["users"] = users
    return Translation(fields, rest)


def _listeners(properties: Mapping[str, str]) -> tuple[ListenerConfig, ...]:
    """The listeners for clients; those of controllers are left out. ValueError if one is wrong."""
    protocols = _pairs(properties.get(PROTOCOL_MAP, ""))
    controllers = {name.upper() for name in _items(properties.get("controller.listener.names", ""))}
    found = []
    for text in _items(properties[LISTENERS]):
        name, host, port = _address(text)
        if name in controllers:
            continue
        found.append(
            ListenerConfig(
                name,
                _protocol(protocols.get(name, name), name),
                host or "0.0.0.0",  # noqa: S104 - an empty host means every interface, as in Kafka
                port,
            )
        )
    return tuple(found)


def as_confluent_derives(
    listeners: tuple[ListenerConfig, ...], environment: Mapping[str, str]
) -> tuple[ListenerConfig, ...]:
    """Those of the environment's `advertised.listeners`, on all interfaces, if there are others.

    Confluent's image does so where it is not told `listeners`, and most are not.
    """
    named = _advertised(environment)
    if not named.keys() - {one.name for one in listeners}:
        return listeners
    opened = ",".join(f"{name}://:{port}" for name, (_, port) in named.items())
    try:
        return _listeners({**environment, LISTENERS: opened})
    except ValueError as error:
        raise ConfigError(f"{ADVERTISED_LISTENERS}: {error}") from error


def not_listened_on(
    listeners: tuple[ListenerConfig, ...], properties: Mapping[str, str]
) -> list[str]:
    """The names in `advertised.listeners` that no listener has; controllers have their own."""
    controllers = _items(properties.get("controller.listener.names", "").upper())
    known = {one.name for one in listeners}.union(controllers)
    return sorted(_advertised(properties).keys() - known)


def advertised(
    listeners: tuple[ListenerConfig, ...], properties: Mapping[str, str]
) -> tuple[ListenerConfig, ...]:
    """The listeners with the addresses that `advertised.listeners` has for them, by their names.

    Wherever the listeners come from: a port that a container publishes has another address outside.
    """
    addresses = _advertised(properties)
    return tuple(
        msgspec.structs.replace(one, advertised=addresses.get(one.name)) for one in listeners
    )


def _advertised(properties: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Host and port by the listener's name."""
    try:
        found = [_address(text) for text in _items(properties.get(ADVERTISED_LISTENERS, ""))]
    except ValueError as error:
        raise ConfigError(f"{ADVERTISED_LISTENERS}: {error}") from error
    return {name: (host, port) for name, host, port in found}


def _address(text: str) -> tuple[str, str, int]:
    """`NAME://HOST:PORT` in its parts, the name in capitals."""
    name, separator, address = text.partition("://")
    host, colon, port = address.rpartition(":")
    if not separator or not colon or not port.isdigit() or int(port) > 65_535:
        raise ValueError(f"listener `{text}`: expected NAME://HOST:PORT")
    return name.upper(), host.strip("[]"), int(port)


def _protocol(text: str, listener: str) -> SecurityProtocol:
    try:
        return SecurityProtocol(text.upper())
    except ValueError:
        names = ", ".join(one.value for one in SecurityProtocol)
        raise ValueError(
            f"listener `{listener}`: `{text}` is not one of {names}; {PROTOCOL_MAP} must name one"
        ) from None


def _pairs(text: str) -> dict[str, str]:
    pairs = (item.partition(":") for item in _items(text))
    return {name.strip().upper(): value.strip() for name, _, value in pairs}


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _flag(name: str, text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError(f"{name} is `{text}`; it must be `true` or `false`")
    return text.strip().lower() == "true"


def _property_name(name: str) -> str:
    signs = {1: ".", 2: "_", 3: "-"}
    return _UNDERSCORES.sub(lambda run: signs.get(len(run[0]), run[0]), name).lower()


def _client_users(environ: Mapping[str, str]) -> dict[str, str]:
    names = _items(environ.get("KAFKA_CLIENT_USERS", ""))
    words = _items(environ.get("KAFKA_CLIENT_PASSWORDS", ""))
    if len(names) != len(words):
        raise ConfigError("KAFKA_CLIENT_USERS and KAFKA_CLIENT_PASSWORDS differ in length")
    return dict(zip(names, words, strict=True))


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
