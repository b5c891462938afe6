"""The keywords of `start` and the fixtures. Generated from the table of options: do not edit."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

Path = str | PathLike[str]


class TopicOptions(TypedDict, total=False):
    """A topic; settings by Kafka's names."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, str | int | bool]


class Options(TypedDict, total=False):
    """The options of a broker; None means the default.

    An option of `kafka-shim serve` has its name here, in the plural if it is repeatable.
    Relative paths start at the current folder.
    """

    kafka_version: str | None
    """Kafka release to emulate, from 0.11 to the newest (default)."""
    topics: Mapping[str, int | TopicOptions | None] | Sequence[str] | None
    """Names of topics, or partitions by name, or by name `{"partitions": 3, "configs": {...}}`."""
    brokers: int | None
    """Number of brokers (default: 1)."""
    first_broker_id: int | None
    """Id of the first broker; further brokers have the next ids (default: node.id, else 1)."""
    racks: Sequence[str] | None
    """One rack for each broker, or one rack for all brokers."""
    client_telemetry: bool | None
    """Accept client metrics (KIP-714)."""
    seed: int | None
    """Seed of the random numbers: generated ids are the same in each run."""
    properties: Mapping[str, str] | None
    """Broker settings by Kafka's names."""
    authorizer: str | None
    """Authorizer. standard: ACLs decide, as in Kafka (default). none: everything is allowed.
    MODULE:CLASS: your own class decides.
    """
    super_users: Sequence[str] | None
    """Principals that are allowed everything, regardless of ACLs."""
    allow_everyone_if_no_acl_found: bool | None
    """Allow everybody to use resources without any ACL."""
    users: Mapping[str, str] | None
    """Passwords by name of users, who can authenticate with any enabled SASL mechanism."""
    acls: Sequence[Mapping[str, Any]] | Path | None
    """Initial ACLs, as in a state file."""
    acl_propagation_delay: int | None
    """Apply ACL changes on each broker after a random delay of up to this number of
    milliseconds.
    """
    listeners: Sequence[str] | None
    """Addresses to listen on, as NAME://HOST:PORT; port 0 is any free port. Default: PLAINTEXT,
    without authentication, and SASL_PLAINTEXT, where users authenticate.
    """
    listener_principals: Mapping[str, str] | None
    """Principals of unauthenticated clients, by name of the listener."""
    tls: bool | Path | None
    """Open the listeners SSL and SASL_SSL, too, with self-made certificates: in a folder of the
    broker's, or in this one.
    """
    tls_dir: Path | None
    """Generate certificates for TLS listeners in this folder, with ca.pem and client.pem
    (CN=client) for clients.
    """
    config: Path | None
    """File with options by name (.yaml, .toml), or a server.properties file; keywords take
    precedence.
    """
    state: Path | None
    """YAML file with the initial topics, users, super_users, acls, groups, client_metrics and
    faults.
    """
    data_dir: Path | None
    """Keep topics, records, groups, ACLs, users and settings in this folder across restarts
    (default: in memory; not on Windows).
    """
    log_format: Literal["console", "json"] | None
    """Format of log lines (default: console)."""
    log_level: Literal["none", "error", "warn", "info", "debug"] | None
    """Least severe level to log (default: warn)."""
    record: Path | None
    """Record all requests and responses as a trace in this folder; an existing trace is
    continued.
    """
    record_compression: Literal["none", "zlib", "zstd"] | None
    """Compression of the trace (default: none); zstd needs the extra `compression`."""
    record_keep: int | None
    """Number of the newest segments of the trace to keep, 64 MiB each (default: all)."""
    manual_clock: bool | None
    """Freeze the clock; only POST /clock/advance moves it."""
    in_process: bool | None
    """Run the broker on a thread of this process."""
    startup_timeout: float | None
    """Seconds after which a broker in its own process must be ready (default: 30)."""
