"""The broker's configuration: one frozen value, every default visible here."""

import enum
from collections.abc import Mapping
from typing import Any

import msgspec

from authorizer.model import Acl, is_principal
from shim.errors import ConfigError

NEWEST = ""
"""As a release: the newest one that is known."""
PORT_MAX = 65_535
BROKERS_MAX = 1000


class SecurityProtocol(enum.Enum):
    """What a listener speaks below the Kafka protocol."""

    PLAINTEXT = "PLAINTEXT"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SSL = "SSL"
    SASL_SSL = "SASL_SSL"

    @property
    def sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)

    @property
    def tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)


class ListenerConfig(msgspec.Struct, frozen=True):
    """Where to listen, how, and who an unauthenticated client there is.

    Port 0 asks for any free port. `principal` is `Type:name`. `advertised` is the host and port
    that clients are told instead of where it really listens; the first broker's.
    """

    name: str
    protocol: SecurityProtocol
    host: str
    port: int
    principal: str = "User:ANONYMOUS"
    advertised: tuple[str, int] | None = None

    def check(self, brokers: int) -> None:
        """ConfigError if so many brokers cannot have it, or nobody can be its principal."""
        if not is_principal(self.principal):
            raise ConfigError(
                f"listener {self.name}: the principal `{self.principal}` is not of the form"
                " Type:name, as in User:alice"
            )
        first = max(self.port, self.advertised[1] if self.advertised else 0)
        if first + brokers - 1 > PORT_MAX:
            raise ConfigError(
                f"listener {self.name}: {brokers} brokers from port {first} on need ports above"
                f" {PORT_MAX}; begin lower, or with 0 for any free ones"
            )


class TopicSeed(msgspec.Struct, frozen=True):
    """A topic that exists from the start; without a replication factor, the broker's default."""

    name: str
    partitions: int = 1
    configs: Mapping[str, str] = {}
    replication_factor: int | None = None


class GroupSeed(msgspec.Struct, frozen=True):
    """A consumer group without members: committed offsets by topic and partition."""

    name: str
    offsets: Mapping[str, Mapping[int, int]]


class Limits(msgspec.Struct, frozen=True):
    """Bounds on what peers may make the broker hold."""

    frame_bytes_max: int = 104_857_600  # socket.request.max.bytes
    unauthenticated_frame_bytes_max: int = 524_288  # sasl.server.max.receive.size
    queued_frames_max: int = 64
    write_buffer_bytes_max: int = 8 * 1024 * 1024
    connections_max: int = 20_000
    idle_ms_max: int = 600_000  # connections.max.idle.ms


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that `kafka-shim serve` can be told."""

    listeners: tuple[ListenerConfig, ...] = (
        ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 9092),
    )
    release: str = NEWEST
    brokers: int = 1
    cluster_id: str = "shimshimshimshimshimsg"  # 22 characters of base64, as Kafka makes them
    authorizer: str = "standard"  # standard | none | package.module:Class | a Java class name
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl_found: bool = False
    users: Mapping[str, str] = {}
    mechanisms: tuple[str, ...] = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
    topics: tuple[TopicSeed, ...] = ()
    acls: tuple[Acl, ...] = ()
    groups: tuple[GroupSeed, ...] = ()
    client_metrics: Mapping[str, Mapping[str, str]] = {}  # settings of subscriptions, by name
    faults: tuple[Mapping[str, Any], ...] = ()  # as the control API takes them
    auto_create_topics: bool = True
    num_partitions: int = 1
    seed: int | None = None
    properties: Mapping[str, str] = {}  # further broker settings, by Kafka's names
    limits: Limits = Limits()
    ready_file: str | None = None
    log_format: str = "console"
    log_level: str = "info"

    def __post_init__(self) -> None:
        """ConfigError for what no cluster can have."""
        if not 1 <= self.brokers <= BROKERS_MAX:
            raise ConfigError(f"--brokers {self.brokers}: expected 1 to {BROKERS_MAX}")
        names = [listener.name for listener in self.listeners]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigError(f"two listeners are named `{twice}`: each needs a name of its own")
        for listener in self.listeners:
            listener.check(self.brokers)


def parse_address(text: str, option: str) -> tuple[str, int]:
    """`HOST:PORT`, `[::1]:9092` for IPv6; ConfigError names the option that has it."""
    host, _, port = text.rpartition(":")
    if not host or not _is_address(host, port):
        raise ConfigError(f"{option} `{text}`: expected HOST:PORT, as in 127.0.0.1:9092")
    return host.strip("[]"), int(port)


def _is_address(host: str, port: str) -> bool:
    """Whether the port is one, and an IPv6 address is in brackets (which others are not in)."""
    is_bracketed = host.startswith("[") and host.endswith("]")
    is_plain = not any(mark in host for mark in "[]:")
    return (is_bracketed or is_plain) and port.isdecimal() and int(port) <= PORT_MAX


def parse_listener(text: str) -> ListenerConfig:
    """`NAME://HOST:PORT`; NAME is also the security protocol. `[::1]:9092` for IPv6."""
    name, separator, address = text.partition("://")
    host, _, port = address.rpartition(":")
    if not separator or not _is_address(host, port):
        raise ConfigError(f"listener `{text}`: expected NAME://HOST:PORT")
    try:
        protocol = SecurityProtocol(name.upper())
    except ValueError:
        names = ", ".join(p.value for p in SecurityProtocol)
        raise ConfigError(f"listener `{text}`: `{name}` is not one of {names}") from None
    return ListenerConfig(name.upper(), protocol, host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104 - an empty host means every interface, as in Kafka
