"""Reads Kafka's own configuration: server.properties, and variables of its container images.

Settings for which the shim has its own options are translated; others keep their names.
"""

import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.authorizer import (
    ALLOW_EVERYONE,
    AUTHORIZER_CLASS,
    SUPER_USERS,
    parse_super_users,
)
from kafka_shim.shim.config import (
    ANY_HOST,
    ID_MAX,
    OTHER_LISTENERS,
    PORT_MAX,
    PROTOCOL_MAP,
    ListenerConfig,
    SecurityProtocol,
    is_host_text,
    parse_listener,
)
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.defaults import PLAINTEXT
from kafka_shim.shim.settings.jaas import OTHER_USERS, PLAIN_MODULE, parse_jaas
from kafka_shim.shim.state.settings.config_definitions import (
    broker_setting_names_of_all_releases,
    definitions_of_release,
    known_setting_names,
)
from kafka_shim.text.input_files import is_utf8
from kafka_shim.text.whole_number import parse_whole_number

LISTENERS = "listeners"
ADVERTISED_LISTENERS = "advertised.listeners"
RACK = "broker.rack"
RESERVED_ID_MAX = "reserved.broker.max.id"

HOST_NAME, PORT = "host.name", "port"
ADVERTISED_HOST_NAME, ADVERTISED_PORT = "advertised.host.name", "advertised.port"
OLD_ADDRESSES = (HOST_NAME, PORT, ADVERTISED_HOST_NAME, ADVERTISED_PORT)
"""Settings up to 2.8, which `listeners` and `advertised.listeners` replace."""

_DEFAULT_PORT = "9092"
_ROLES = "process.roles"
_IDS = ("node.id", "broker.id")
TRANSLATED = (
    *(LISTENERS, ADVERTISED_LISTENERS, PROTOCOL_MAP, AUTHORIZER_CLASS, SUPER_USERS, ALLOW_EVERYONE),
    *("cluster.id", RACK, *_IDS),
)
_BROKER_MARKS = (LISTENERS, HOST_NAME, PORT, _ROLES, *_IDS, "zookeeper.connect")
_FREEPREFIXES = ("shim.", "kafka.", "metric.reporters", "confluent.")
_JAAS = re.compile(
    r"(listener\.name\.(?P<listener>[^.]+)\.(?P<mechanism>[^.]+)\.|shim\.)?sasl\.jaas\.config"
)
BITNAMI_PREFIX = "KAFKA_CFG_"
PREFIXES = (BITNAMI_PREFIX, "KAFKA_")  # the second is that of Apache and Confluent
_KUBERNETES_PORT = "tcp://"
"""Beginning of `KAFKA_PORT` in containers of Kubernetes, if there is a service named kafka."""
_IMAGE_VARIABLES = frozenset(
    {"CLUSTER_ID", "EXTRA_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}
)
"""Variables of the images, and of their JVM, without the prefix."""


_SIMILAR: Final = 0.85
"""Minimum similarity of a misspelt variable: many others have that prefix."""

_SIMILAR_SETTING: Final = 0.8
"""Minimum similarity of a misspelt setting: plugins of a real broker may have their own."""


class TranslatedSettings(msgspec.Struct, frozen=True):
    """Fields of Config by name, and the settings that are no such fields."""

    config_fields: Mapping[str, Any]
    other_settings: Mapping[str, str]


def settings_in_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the broker settings in KAFKA_* and KAFKA_CFG_*, named as the images do.

    Only settings that a release has are read, since many other variables have that prefix; also
    the images' other variables (`image_variables`). Raise ConfigError if a value is invalid.
    """
    names = [name for name in sorted(environ) if name.startswith("KAFKA_")]
    for name in names:
        if not is_utf8(environ[name]):
            raise ConfigError(f"the variable {name} is not UTF-8")
    settings: dict[str, str] = {}
    known = known_setting_names() if names else frozenset()
    for prefix in reversed(PREFIXES):
        for name in names:
            if name.startswith(prefix) and not environ[name].startswith(_KUBERNETES_PORT):
                key = setting_name_of_variable(name, prefix)
                if key in known or key.startswith("listener.name."):
                    settings |= _settings_of_variable(name, key, environ[name])
    if any(name.startswith("KAFKA_") or name in _IMAGE_VARIABLES for name in environ):
        from kafka_shim.shim.settings.image_variables import settings_of_image_variables  # noqa: PLC0415 - few brokers are started with them

        settings = {**settings_of_image_variables(environ), **settings}
    return settings


def _settings_of_variable(variable: str, key: str, value: str) -> dict[str, str]:
    """Return the settings that the images' line `key=value` of server.properties has.

    The images write the value as it is: a backslash escapes a character, or continues the line.
    """
    from kafka_shim.shim.settings.java_properties import parse_properties_of_bytes  # noqa: PLC0415 - only for such variables

    try:
        settings = parse_properties_of_bytes(f"{key}={value}".encode(), f"the variable {variable}")
    except ValueError as error:
        raise ConfigError(f"the variable {variable}: {error}") from error
    unknown = unknown_setting_names(settings)
    if key in unknown:
        raise ConfigError(f"the variable {variable}: unknown setting `{key}`")
    if unknown:
        raise ConfigError(
            f"the variable {variable}: line {settings.lines[unknown[0]]} of the value is a setting"
            " of its own, as in server.properties, and its name is unknown; to continue a line,"
            " end it with a backslash"
        )
    return dict(settings)


def unknown_setting_names(properties: Mapping[str, str]) -> list[str]:
    """Return the settings unknown to all releases; plugins of a real broker may use them."""
    if not properties:
        return []
    from kafka_shim.shim.settings.setting_effects import name_without_listener  # noqa: PLC0415 - few brokers have settings

    known = known_setting_names()
    return sorted(
        key
        for key in properties
        if name_without_listener(key) not in known and not key.startswith(_FREEPREFIXES)
    )


def settings_of_other_releases(settings: Iterable[str], release: str) -> list[str]:
    """Return the settings that brokers of other releases have, but not those of this one."""
    known = definitions_of_release(release).broker
    return sorted(
        name for name in settings if name in broker_setting_names_of_all_releases() - known.keys()
    )


def listeners_of_old_addresses(settings: Mapping[str, str], release: str) -> dict[str, str]:
    """Return `listeners` and `advertised.listeners` of a release up to 2.8 which has them from
    `port` and others; a setting that is there takes precedence.

    Raise ConfigError if a port is invalid.
    """
    old = {name: settings[name].strip() for name in OLD_ADDRESSES if name in settings}
    if not old or PORT not in definitions_of_release(release).broker:
        return {}
    for name in (PORT, ADVERTISED_PORT):
        number = parse_whole_number(old.get(name, _DEFAULT_PORT))
        if number is None or number > PORT_MAX:
            raise ConfigError(f"invalid {name} `{old[name]}`: must be between 0 and {PORT_MAX}")
    host, port = old.get(HOST_NAME, ""), old.get(PORT, _DEFAULT_PORT)
    listeners = {}
    if old.keys() & {HOST_NAME, PORT} and LISTENERS not in settings:
        listeners[LISTENERS] = _plaintext_listener(host, port)
    if (
        old.keys() & {ADVERTISED_HOST_NAME, ADVERTISED_PORT}
        and ADVERTISED_LISTENERS not in settings
    ):
        listeners[ADVERTISED_LISTENERS] = _plaintext_listener(
            old.get(ADVERTISED_HOST_NAME, host), old.get(ADVERTISED_PORT, port)
        )
    return listeners


def _plaintext_listener(host: str, port: str) -> str:
    return f"{PLAINTEXT}://[{host}]:{port}" if ":" in host else f"{PLAINTEXT}://{host}:{port}"


def require_broker_role(settings: Mapping[str, str]) -> None:
    """Raise ConfigError if the settings are those of a controller alone."""
    roles = _comma_separated_items(settings.get(_ROLES, ""))
    if roles and "broker" not in roles:
        raise ConfigError(
            f"{_ROLES} is `{settings[_ROLES]}`: clients cannot use a controller alone; use the"
            f" configuration of a broker, or set {_ROLES}=broker,controller"
        )


def require_client_listeners(
    listeners: tuple[ListenerConfig, ...] | None, settings: Mapping[str, str]
) -> None:
    """Raise ConfigError if `listeners` names listeners of controllers only, or if it or
    `advertised.listeners` is empty.
    """
    for name in (LISTENERS, ADVERTISED_LISTENERS):
        if name in settings and not settings[name].strip(" ,"):
            raise ConfigError(f"{name} must not be empty; leave it out for Kafka's default")
    if listeners == ():
        raise ConfigError(
            f"{LISTENERS} `{settings[LISTENERS]}`: controller.listener.names has all of them, so"
            " clients cannot connect; add a listener for clients"
        )


def describes_whole_broker(properties: Mapping[str, str]) -> bool:
    """Return whether these settings describe a whole broker, which has no authorizer by default."""
    return any(mark in properties for mark in _BROKER_MARKS)


def translate_settings(
    settings: Mapping[str, str], all_settings: Mapping[str, str], where: str
) -> TranslatedSettings:
    """Translate the settings of one source; `all_settings` has those of all sources.

    Raise ConfigError, beginning with `where`, if one is invalid.
    """
    fields: dict[str, Any] = {}
    rest = {key: value for key, value in settings.items() if key not in TRANSLATED}
    try:
        if LISTENERS in settings:
            fields["listeners"] = _listeners_without_controllers(all_settings)
        if SUPER_USERS in settings:
            fields["super_users"] = tuple(sorted(parse_super_users(settings[SUPER_USERS])))
        if ALLOW_EVERYONE in settings:
            fields["allow_everyone_if_no_acl_found"] = _parse_boolean(
                ALLOW_EVERYONE, settings[ALLOW_EVERYONE]
            )
    except (ConfigError, ValueError) as error:
        raise ConfigError(f"{where}: {error}") from error
    if AUTHORIZER_CLASS in settings:
        fields["authorizer"] = settings[AUTHORIZER_CLASS].strip() or "none"
    fields |= _identity_fields(settings, where)
    users = _listener_users(rest, where)
    is_by_listener = any(_is_listener_users_key(key) for key in all_settings)
    if OTHER_LISTENERS in users and not is_by_listener:
        fields["users"] = users.pop(OTHER_LISTENERS)
    if users:
        fields["listener_users"] = users
    rest = {key: value for key, value in rest.items() if not _JAAS.fullmatch(key)}
    return TranslatedSettings(fields, rest)


def _listener_users(settings: Mapping[str, str], where: str) -> dict[str, dict[str, str]]:
    """Return the users in JAAS lines, by listener in capitals; lines without a listener have those
    of OTHER_LISTENERS.
    """
    users: dict[str, dict[str, str]] = {}
    for key, value in settings.items():
        if key.islower() and (match := _JAAS.fullmatch(key)):
            module = parse_jaas(value, f"{where}: {key}")
            passwords = module.plain_passwords_by_user
            if passwords and _is_listener_users_key(key) and module.name != PLAIN_MODULE:
                raise ConfigError(f"{where}: {key}: {module.name} has no users of PLAIN")
            if passwords or _is_listener_users_key(key):
                listener = (match["listener"] or OTHER_LISTENERS).upper()
                users.setdefault(listener, {}).update(passwords)
    return users


def _is_listener_users_key(key: str) -> bool:
    """Return whether the setting replaces the users of other listeners on its listener."""
    match = _JAAS.fullmatch(key)
    return key.islower() and match is not None and match["mechanism"] == "plain"


def users_unknown_to_kafka(settings: Mapping[str, str]) -> list[str]:
    """Return the settings with users that a real broker does not read there."""
    return sorted(
        name
        for name, value in settings.items()
        if (match := _JAAS.fullmatch(name)) and name != OTHER_USERS and name.islower()
        if match["mechanism"] != "plain" and parse_jaas(value, name).plain_passwords_by_user
    )


def _identity_fields(settings: Mapping[str, str], where: str) -> dict[str, Any]:
    """Return the fields of Config with the ids of the cluster and of its brokers."""
    fields: dict[str, Any] = {}
    if "cluster.id" in settings:
        fields["cluster_id"] = settings["cluster.id"]
    if RACK in settings:
        fields["racks"] = parse_racks(settings[RACK], f"{where}: {RACK}")
    if any(name in settings for name in _IDS):
        fields["first_broker_id"] = _first_broker_id(settings, where)
    return fields


def _listeners_without_controllers(properties: Mapping[str, str]) -> tuple[ListenerConfig, ...]:
    """Return the listeners for clients, without those of controllers.

    `listener.security.protocol.map` replaces the default, in which names are protocols.
    """
    protocols = protocols_by_listener(properties)
    controllers = {
        name.upper()
        for name in _comma_separated_items(properties.get("controller.listener.names", ""))
    }
    texts = [
        (text.partition("://")[0].upper(), text)
        for text in _comma_separated_items(properties[LISTENERS])
    ]
    missing = [name for name, _ in texts if name not in protocols]
    if PROTOCOL_MAP in properties and missing:
        raise ConfigError(f"{PROTOCOL_MAP}: `{missing[0]}` of {LISTENERS} is not in it")
    try:
        return tuple(
            parse_listener(text, protocols) for name, text in texts if name not in controllers
        )
    except ConfigError as error:
        raise ConfigError(f"{LISTENERS}: {error}") from error


def protocols_by_listener(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of `listener.security.protocol.map`, by listener name in capitals.

    Raise ConfigError if one is invalid, or there twice with names in other letters.
    """
    text = properties.get(PROTOCOL_MAP, "").strip()
    pairs = dict(item.rpartition(":")[::2] for item in text.split(",")) if text else {}
    protocols = {name.strip().upper(): value.strip() for name, value in pairs.items()}
    for name, value in protocols.items():
        if not name or value.upper() not in SecurityProtocol.__members__:
            known = ", ".join(SecurityProtocol.__members__)
            raise ConfigError(
                f"{PROTOCOL_MAP}: invalid entry `{name}:{value}`; expected NAME:PROTOCOL,..., with"
                f" the protocols {known}"
            )
    if len(protocols) != len(pairs):
        raise ConfigError(f"{PROTOCOL_MAP} `{text}`: a listener is there twice")
    return protocols


def parse_racks(text: str, where: str) -> tuple[str, ...]:
    """Parse `RACK` or `RACK,RACK,...`. Raise ConfigError, beginning with `where`."""
    racks = tuple(rack.strip() for rack in text.split(","))
    if not all(racks):
        raise ConfigError(f"{where} `{text}`: a rack without a name; expected RACK or RACK,RACK")
    return racks


def _first_broker_id(settings: Mapping[str, str], where: str) -> int:
    """Return the id of the first broker; `broker.id=-1` requests a generated one."""
    names = [name for name in _IDS if name in settings]
    if len({settings[name].strip() for name in names}) > 1:
        raise ConfigError(f"{where}: node.id and broker.id must be the same, or only one be set")
    name, text = names[0], settings[names[0]].strip()
    if text == "-1" and name == "broker.id":
        return _parse_broker_id(RESERVED_ID_MAX, settings.get(RESERVED_ID_MAX, "1000"), where) + 1
    return _parse_broker_id(name, text, where)


def _parse_broker_id(name: str, text: str, where: str) -> int:
    number = parse_whole_number(text)
    if number is None or number > ID_MAX:
        raise ConfigError(f"{where}: invalid {name} `{text}`: must be between 0 and {ID_MAX}")
    return number


def additional_advertised_listeners(
    configured_listeners: tuple[ListenerConfig, ...] | None, environment: Mapping[str, str]
) -> tuple[ListenerConfig, ...] | None:
    """Return the listeners that `advertised.listeners` names, bound to all interfaces; None if
    it names none besides `listeners` (None: PLAINTEXT).

    Confluent's image does this if it is started without `listeners`, as is usual.
    """
    advertised = _advertised_addresses(environment)
    known = (
        {PLAINTEXT}
        if configured_listeners is None
        else {listener.name for listener in configured_listeners}
    )
    if not advertised.keys() - known:
        return None
    listener_texts = ",".join(f"{name}://:{port}" for name, (_, port) in advertised.items())
    try:
        return _listeners_without_controllers({**environment, LISTENERS: listener_texts})
    except ConfigError as error:
        reason = str(error).removeprefix(f"{LISTENERS}: ")
        raise ConfigError(f"{ADVERTISED_LISTENERS}: {reason}") from error


def unknown_listeners_of_users(
    listener_users: Iterable[str],
    listeners: tuple[ListenerConfig, ...],
    properties: Mapping[str, str],
) -> list[str]:
    """Return names that no listener has, without those of controllers."""
    controllers = _comma_separated_items(properties.get("controller.listener.names", "").upper())
    known = {listener.name for listener in listeners}.union(controllers, [OTHER_LISTENERS])
    return sorted(set(listener_users) - known)


def unknown_advertised_listeners(
    listeners: tuple[ListenerConfig, ...], properties: Mapping[str, str]
) -> list[str]:
    """Return names in `advertised.listeners` that no listener has, without those of controllers."""
    controllers = _comma_separated_items(properties.get("controller.listener.names", "").upper())
    known = {listener.name for listener in listeners}.union(controllers)
    return sorted(_advertised_addresses(properties).keys() - known)


def with_advertised_addresses(
    listeners: tuple[ListenerConfig, ...], properties: Mapping[str, str]
) -> tuple[ListenerConfig, ...]:
    """Return the listeners with their addresses in `advertised.listeners`.

    The source of the listeners does not matter: outside of a container, its ports have other
    addresses. An empty host is the name of this machine.
    """
    addresses = _advertised_addresses(properties)
    for name, (host, port) in addresses.items():
        if not host:
            addresses[name] = socket.getfqdn(), port
    return tuple(
        msgspec.structs.replace(listener, advertised=addresses.get(listener.name))
        for listener in listeners
    )


def unadvertised_listeners(
    listeners: Iterable[ListenerConfig], properties: Mapping[str, str]
) -> list[str]:
    """Return the names in `listeners` that `advertised.listeners` lacks, if both are set."""
    advertised = _advertised_addresses(properties) if LISTENERS in properties else {}
    return [each.name for each in listeners if advertised and each.name not in advertised]


def _advertised_addresses(properties: Mapping[str, str]) -> dict[str, tuple[str, int]]:
    """Return the host and port of each listener, by name."""
    try:
        advertised = [
            _parse_advertised_listener(text)
            for text in _comma_separated_items(properties.get(ADVERTISED_LISTENERS, ""))
        ]
    except ValueError as error:
        raise ConfigError(f"{ADVERTISED_LISTENERS}: {error}") from error
    names = [name for name, _, _ in advertised]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ConfigError(f"{ADVERTISED_LISTENERS}: listener {twice[0]} is there twice")
    if any(host == ANY_HOST for _, host, _ in advertised):
        raise ConfigError(
            f"{ADVERTISED_LISTENERS}: clients cannot connect to {ANY_HOST}; give a host that they"
            " can reach, or none for the name of this machine"
        )
    return {name: (host, port) for name, host, port in advertised}


def _parse_advertised_listener(text: str) -> tuple[str, str, int]:
    """Return the parts of `NAME://HOST:PORT`, with the name in capitals."""
    name, separator, address = text.partition("://")
    bracketed_host, colon, port_text = address.rpartition(":")
    host, port = bracketed_host.strip("[]"), parse_whole_number(port_text)
    is_valid = separator and colon and is_host_text(host)
    if not is_valid or port is None or port > PORT_MAX:
        raise ValueError(f"listener `{text}`: expected NAME://HOST:PORT")
    return name.upper(), host, port


def _comma_separated_items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _parse_boolean(name: str, text: str) -> bool:
    if text.strip().lower() not in ("true", "false"):
        raise ValueError(f"invalid value `{text}` of {name}; expected true or false")
    return text.strip().lower() == "true"


def setting_name_of_variable(variable: str, prefix: str) -> str:
    """Return the setting that a variable with this prefix, such as KAFKA_NUM_PARTITIONS, has.

    Bitnami's image knows no signs but dots, and the names of two listeners with `_`.
    """
    name = variable.removeprefix(prefix).lower()
    if prefix == BITNAMI_PREFIX:
        return re.sub(r"\bsasl\.(ssl|plaintext)\b", r"sasl_\1", name.replace("_", "."))
    signs = {"_": ".", "__": "_", "___": "-"}
    return re.sub("_{1,3}", lambda run: signs[run[0]], name)


def misspelt_variables_with_corrections(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield misspelt variables such as KAFKA_NUM_PARTITONS, with the nearest known name."""
    names = [name for name in sorted(environ) if name.startswith("KAFKA_")]
    if not names:
        return
    from kafka_shim.shim.settings.image_variables import NAMES  # noqa: PLC0415 - as above

    known = known_setting_names()
    for name in names:
        prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
        setting = setting_name_of_variable(name, prefix)
        if setting in known or name in NAMES or setting.startswith("listener.name."):
            continue
        if setting.endswith(".sasl.jaas.config"):
            yield name, f"{prefix}LISTENER_NAME_<LISTENER>_{setting[:-17].upper()}_SASL_JAAS_CONFIG"
        elif (nearest := _most_similar_name(setting, known, _SIMILAR)) is not None:
            yield name, f"{prefix}{_variable_suffix(nearest)}"


def image_variables_without_effect(environ: Mapping[str, str]) -> list[str]:
    """Return the variables of the container images that have no effect here."""
    if not any(name.startswith("KAFKA_") for name in environ):
        return []
    from kafka_shim.shim.settings.image_variables import IGNORED  # noqa: PLC0415 - as above

    return sorted(IGNORED & environ.keys())


def nearest_known_setting(name: str) -> str | None:
    """Return the known setting with the most similar name; None if none is similar."""
    return _most_similar_name(name, known_setting_names(), _SIMILAR_SETTING)


def _most_similar_name(name: str, known: frozenset[str], cutoff: float) -> str | None:
    from difflib import get_close_matches  # noqa: PLC0415 - only for misspelt names

    return next(iter(get_close_matches(name, sorted(known), 1, cutoff)), None)


def _variable_suffix(setting: str) -> str:
    spelled = setting.replace("_", "__").replace("-", "___").replace(".", "_")
    return spelled.upper()
