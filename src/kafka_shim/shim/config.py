"""The broker's configuration: one frozen value, every default visible here."""

import enum
import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.model import Acl, is_principal
from kafka_shim.protocol.api_versions import RELEASES, parse_minor_release
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.whole_number import parse_whole_number

NEWEST = ""
"""As a release: the newest one that is known."""
PORT_MAX = 65_535
ANY_HOST = "0.0.0.0"  # noqa: S104 - an empty host means every interface, as in Kafka
BROKERS_MAX = 1000
ID_MAX = 2**31 - 1
PROTOCOL_MAP = "listener.security.protocol.map"
OTHER_LISTENERS = ""
"""As the name of a listener with users: the listeners without users of their own."""


def minor_release(release: str) -> str:
    """Return the minor release, such as 2.8. Raise ConfigError if there is no such release."""
    try:
        return parse_minor_release(release) if release else RELEASES[-1]
    except ValueError as error:
        raise ConfigError(str(error)) from error


class SecurityProtocol(enum.Enum):
    """The security protocol of a listener."""

    PLAINTEXT = "PLAINTEXT"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SSL = "SSL"
    SASL_SSL = "SASL_SSL"

    @property
    def uses_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)

    @property
    def uses_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)


class ListenerConfig(msgspec.Struct, frozen=True):
    """A listener: address, protocol, and the principal of unauthenticated clients.

    Port 0 requests any free port. Broker n listens on `ports_of_brokers[n]`, or without them on the
    nth port from `port` on. `principal` is `Type:name`. `advertised` are host and port that clients
    get instead of the bound address: the first broker's, or with port 0 each broker's own.
    """

    name: str
    protocol: SecurityProtocol
    host: str
    port: int
    principal: str = "User:ANONYMOUS"
    advertised: tuple[str, int] | None = None
    ports_of_brokers: tuple[int, ...] = ()

    def port_of_nth_broker(self, index: int) -> int:
        """Return the port of the cluster's nth broker, the first being 0; 0 for any free port."""
        if self.ports_of_brokers:
            return self.ports_of_brokers[index]
        return 0 if self.port == 0 else self.port + index

    @property
    def has_ephemeral_ports(self) -> bool:
        """Return whether neither the port nor the advertised one is configured."""
        return not (self.port or self.ports_of_brokers or (self.advertised and self.advertised[1]))

    def check(self, brokers: int) -> None:
        """Raise ConfigError for an invalid principal, or too few ports for so many brokers."""
        if not is_principal(self.principal):
            raise ConfigError(
                f"listener {self.name}: the principal `{self.principal}` is not of the form"
                " Type:name, as in User:alice"
            )
        if len(self.ports_of_brokers) not in (0, brokers):
            raise ConfigError(
                f"listener {self.name}: {len(self.ports_of_brokers)} ports for {brokers} brokers:"
                " expected one for each broker, or the first one alone"
            )
        first = max(
            0 if self.ports_of_brokers else self.port, self.advertised[1] if self.advertised else 0
        )
        if first + brokers - 1 > PORT_MAX:
            raise ConfigError(
                f"listener {self.name}: {brokers} brokers from port {first} on need ports above"
                f" {PORT_MAX}; begin lower, or with 0 for any free ones"
            )


class InitialTopic(msgspec.Struct, frozen=True):
    """A topic that exists from the start; without a replication factor, the broker's default."""

    name: str
    partitions: int = 1
    configs: Mapping[str, str] = {}
    replication_factor: int | None = None


def parse_initial_topic(text: str, option: str) -> InitialTopic:
    """Return the topic of `NAME[:PARTITIONS]`. Raise ConfigError, beginning with `option`."""
    name, colon, count = text.partition(":")
    if colon and not parse_whole_number(count):
        raise ConfigError(f"{option} `{text}`: expected NAME:PARTITIONS with 1 partition or more")
    return InitialTopic(name, int(count) if colon else 1)


class InitialGroup(msgspec.Struct, frozen=True):
    """A consumer group without members: committed offsets by topic and partition."""

    name: str
    offsets: Mapping[str, Mapping[int, int]]


class Limits(msgspec.Struct, frozen=True):
    """Limits of resources that peers can occupy."""

    frame_bytes_max: int = 104_857_600  # socket.request.max.bytes
    unauthenticated_frame_bytes_max: int = 524_288  # sasl.server.max.receive.size
    queued_bytes_max: int = 512 * 1024 * 1024  # queued.max.request.bytes
    write_buffer_bytes_max: int = 1024 * 1024
    connections_max: int = 20_000
    handshakes_max: int = 500  # of TLS at the same time, 0.3 MiB each
    idle_ms_max: int = 600_000  # connections.max.idle.ms
    authentication_ms_max: int = 60_000  # for the TLS handshake, and for the authentication
    queue_holding_ms_max: int = 30_000  # holding `queued_bytes_max` while others wait for it


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """All options of `kafka-shim serve`."""

    listeners: tuple[ListenerConfig, ...] = (
        ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 9092),
    )
    release: str = NEWEST
    brokers: int = 1
    first_broker_id: int = 1  # as in the server.properties that Kafka is delivered with
    racks: tuple[str, ...] = ()  # one of each broker, or one of all
    cluster_id: str = "shimshimshimshimshimsg"  # 22 characters of base64, as Kafka makes them
    authorizer: str = "standard"  # standard | none | package.module:Class | a Java class name
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl_found: bool = False
    users: Mapping[str, str] = {}  # of all listeners
    listener_users: Mapping[str, Mapping[str, str]] = {}  # by listener; OTHER_LISTENERS
    mechanisms: tuple[str, ...] = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    topics: tuple[InitialTopic, ...] = ()
    acls: tuple[Acl, ...] = ()
    groups: tuple[InitialGroup, ...] = ()
    client_metrics: Mapping[str, Mapping[str, str]] = {}  # settings of subscriptions, by name
    faults: tuple[Mapping[str, Any], ...] = ()  # as the control API takes them
    auto_create_topics: bool = True
    num_partitions: int = 1
    seed: int | None = None
    properties: Mapping[str, str] = {}  # further broker settings, by Kafka's names
    limits: Limits = Limits()
    ready_file: str | None = None
    data_dir: str | None = None  # where the state stays; None: in memory alone
    log_format: str = "console"
    log_level: str = "info"

    def __post_init__(self) -> None:
        """Raise ConfigError for an impossible cluster."""
        if not 1 <= self.brokers <= BROKERS_MAX:
            raise ConfigError(f"--brokers `{self.brokers}`: expected 1 to {BROKERS_MAX}")
        if not 0 <= self.first_broker_id <= ID_MAX - self.brokers:
            raise ConfigError(
                f"invalid id {self.first_broker_id} of the first broker: must be between 0 and"
                f" {ID_MAX - self.brokers}"
            )
        if len(self.racks) not in (0, 1, self.brokers):
            raise ConfigError(
                f"{len(self.racks)} racks ({', '.join(self.racks)}) for {self.brokers} brokers:"
                " expected one for each broker, or one for all"
            )
        names = [listener.name for listener in self.listeners]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"two listeners are named `{twice}`: each needs a name of its own")
        for listener in self.listeners:
            listener.check(self.brokers)
        self._check_distinct_ports()

    @property
    def users_of_any_listener(self) -> dict[str, str]:
        """The users who can authenticate on some listener, with one password of each."""
        users = {name: word for own in self.listener_users.values() for name, word in own.items()}
        return {**users, **self.users}

    def users_of_listener(self, listener: str) -> Mapping[str, str]:
        """Return the users who can authenticate on a listener, with their passwords."""
        return passwords_of_listener(listener, self.users, self.listener_users)

    def _check_distinct_ports(self) -> None:
        taken: dict[tuple[str, int], str] = {}
        for listener in self.listeners:
            for index in range(self.brokers):
                port = listener.port_of_nth_broker(index)
                where = f"listener {listener.name} of broker {self.first_broker_id + index}"
                other = taken.setdefault((listener.host, port), where)
                if port and other != where:
                    raise ConfigError(
                        f"{where} and {other} have the same port {port}; choose other ports, or"
                        f" list that of each broker: {listener.name}://HOST:PORT,PORT"
                    )


def passwords_of_listener(
    listener: str, users: Mapping[str, str], listener_users: Mapping[str, Mapping[str, str]]
) -> Mapping[str, str]:
    """Return the passwords on a listener: those of all listeners, and its own, or with
    OTHER_LISTENERS if it has none.
    """
    own = listener_users.get(listener, listener_users.get(OTHER_LISTENERS))
    return {**own, **users} if own else users


def with_listener_principals(
    listeners: Iterable[ListenerConfig], principals: Mapping[str, str], option: str
) -> tuple[ListenerConfig, ...]:
    """Set the principals of listeners by name. Raise ConfigError for an unknown name."""
    unmatched = dict(principals)
    updated = tuple(
        msgspec.structs.replace(
            listener, principal=unmatched.pop(listener.name, listener.principal)
        )
        for listener in listeners
    )
    if unmatched:
        names = ", ".join(listener.name for listener in updated)
        raise ConfigError(
            f"{option}: no listener is named {', '.join(unmatched)}; expected one of {names}"
        )
    return updated


def parse_address(text: str, option: str) -> tuple[str, int]:
    """Parse `HOST:PORT`, `[::1]:9092` for IPv6. Raise ConfigError, which names the option."""
    host, _, port = text.rpartition(":")
    if not host or not _is_host_port(host, port):
        raise ConfigError(f"{option} `{text}`: expected HOST:PORT, as in 127.0.0.1:9092")
    return host.strip("[]"), parse_port_number(port, f"{option} `{text}`")


def parse_port_number(text: str, where: str) -> int:
    """Return the number. Raise ConfigError, beginning with `where`, if it is not a port."""
    number = int(text)
    if number > PORT_MAX:
        raise ConfigError(f"{where}: port {number} is out of range (0 to {PORT_MAX})")
    return number


def _is_host_port(host: str, port: str) -> bool:
    """Return whether the port is a number, the host has characters that Kafka accepts, and only an
    IPv6 address is in brackets.
    """
    is_bracketed = host.startswith("[") and host.endswith("]")
    is_plain = not any(mark in host for mark in "[]:")
    is_host = (is_bracketed or is_plain) and is_host_text(host.strip("[]"))
    return is_host and parse_whole_number(port) is not None


def is_host_text(text: str) -> bool:
    """Return whether Kafka accepts the characters, as those of `${HOST}` are not."""
    return re.fullmatch(r"[0-9a-zA-Z\-%._:]*", text) is not None


def parse_listener(text: str, protocols: Mapping[str, str] = {}) -> ListenerConfig:
    """Parse `NAME://HOST:PORT`; `[::1]:9092` for IPv6, and no host for all interfaces.

    `HOST:PORT,PORT` has the port of each broker.

    `protocols` are security protocols by the names of listeners in capitals, as in
    `listener.security.protocol.map`; a name that is not in it is itself the protocol.
    """
    name, separator, address = text.partition("://")
    host, _, ports = address.rpartition(":")
    name = name.upper()
    texts = ports.split(",")
    if not separator or not name or not all(_is_host_port(host, port) for port in texts):
        raise ConfigError(
            f"listener `{text}`: expected NAME://HOST:PORT, as in PLAINTEXT://127.0.0.1:9092"
        )
    protocol = _parse_security_protocol(text, name, protocols)
    numbers = tuple(parse_port_number(port, f"listener `{text}`") for port in texts)
    bound_host = host.strip("[]") or ANY_HOST
    return ListenerConfig(
        name, protocol, bound_host, numbers[0], ports_of_brokers=numbers if numbers[1:] else ()
    )


def _parse_security_protocol(
    text: str, name: str, protocols: Mapping[str, str]
) -> SecurityProtocol:
    try:
        return SecurityProtocol(protocols.get(name, name).upper())
    except ValueError:
        names = ", ".join(known.value for known in SecurityProtocol)
    raise ConfigError(
        f"listener `{text}`: `{name}` is not one of {names}; give a listener of another name its"
        f" security protocol with -c {PROTOCOL_MAP}={name}:SASL_PLAINTEXT"
    )
