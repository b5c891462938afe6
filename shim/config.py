"""The broker's configuration: one frozen value, every default visible here."""

import enum
from collections.abc import Mapping

import msgspec

from authorizer.model import Acl
from shim.errors import ConfigError

NEWEST = ""
"""As a release: the newest one that is known."""


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
    auto_create_topics: bool = True
    num_partitions: int = 1
    seed: int | None = None
    properties: Mapping[str, str] = {}  # further broker settings, by Kafka's names
    limits: Limits = Limits()
    ready_file: str | None = None
    log_format: str = "console"
    log_level: str = "info"


def parse_listener(text: str) -> ListenerConfig:
    """`NAME://HOST:PORT`; NAME is also the security protocol. `[::1]:9092` for IPv6."""
    name, separator, address = text.partition("://")
    host, colon, port = address.rpartition(":")
    if not separator or not colon or not port.isdigit() or int(port) > 65_535:
        raise ConfigError(f"listener `{text}`: expected NAME://HOST:PORT")
    try:
        protocol = SecurityProtocol(name.upper())
    except ValueError:
        names = ", ".join(p.value for p in SecurityProtocol)
        raise ConfigError(f"listener `{text}`: `{name}` is not one of {names}") from None
    return ListenerConfig(name.upper(), protocol, host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104 - an empty host means every interface, as in Kafka
