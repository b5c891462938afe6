"""The keywords of `start` and the fixtures: the options of `kafka-shim serve`, and a few more."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

from kafka_shim.testing.unknown_name import unknown_name_message

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
    """Kafka release to behave as, as in "3.9"; the newest by default."""
    topics: Mapping[str, int | TopicOptions | None] | Sequence[str] | None
    """Names, or names with partitions, or with `{"partitions": 3, "configs": {...}}`."""
    users: Mapping[str, str] | None
    """Passwords by name of users who can log in; `admin` always can."""
    acls: Sequence[Mapping[str, Any]] | Path | None
    """Rules as in the state file, or a file in any format of `kafka-shim acls --format`."""
    super_users: Sequence[str] | None
    """Principals that ACLs do not restrict; by default User:ANONYMOUS and User:admin."""
    allow_everyone_if_no_acl_found: bool | None
    authorizer: str | None
    """`standard`, `none` or MODULE:CLASS."""
    acl_propagation_delay: int | None
    """Milliseconds: each broker applies an ACL change after a random delay of up to this."""
    brokers: int | None
    first_broker_id: int | None
    """Id of the first broker, 1 by default; the others have the ids after it."""
    racks: Sequence[str] | None
    """Racks of the brokers: one for each, or one for all."""
    listeners: Sequence[str] | None
    """NAME://HOST:PORT, port 0 being any free one; by default PLAINTEXT and SASL_PLAINTEXT."""
    listener_principals: Mapping[str, str] | None
    """Principals of unauthenticated clients, by name of the listener."""
    tls: bool | Path | None
    """Open the listeners SSL and SASL_SSL, too, with self-made certificates: in a folder of the
    broker's, or in this one.
    """
    tls_dir: Path | None
    """Folder for self-made certificates of the listeners that `listeners` names."""
    properties: Mapping[str, str] | None
    """Broker settings by Kafka's names, as `serve -c`."""
    client_telemetry: bool | None
    """Accept metrics that clients push (KIP-714)."""
    manual_clock: bool | None
    """Freeze the clock; only `broker.clock.advance(ms)` moves it."""
    seed: int | None
    """Makes ids and everything random repeatable."""
    config: Path | None
    """Options by their names (.yaml, .toml), or a server.properties; keywords take precedence."""
    state: Path | None
    """State file: topics, users, super users, ACLs, groups and faults besides those named here."""
    data_dir: Path | None
    """Folder in which the state is kept across restarts."""
    record: Path | None
    """Folder for a trace of all requests."""
    record_compression: Literal["none", "zlib", "zstd"] | None
    record_keep: int | None
    """How many of the newest segments of the trace to keep; all by default."""
    log_format: Literal["console", "json"] | None
    log_level: Literal["none", "error", "warn", "info", "debug"] | None
    in_process: bool
    """Run the broker on a thread of this process."""


NAMED_OTHERWISE = {
    "broker_config": "properties",
    "listener": "listeners",
    "listener_principal": "listener_principals",
    "rack": "racks",
    "super_user": "super_users",
    "topic": "topics",
    "user": "users",
}
"""Repeatable options of `serve`, and the keywords that take all values together."""

NOT_OFFERED = {
    "conformance": "record a trace and pass it to `kafka-shim conformance check`",
    "control": "a broker in its own process has a control API; its address is `control_url`",
    "control_token": "the control API listens on loopback only",
    "mask": "see `playback`",
    "match": "see `playback`",
    "on_mismatch": "see `playback`",
    "playback": "play a trace back with `kafka-shim run --playback TRACE -- pytest`",
    "playback_mode": "see `playback`",
    "playback_report": "see `playback`",
    "port": "brokers of tests use free ports; for others use `listeners`",
    "ready_file": "the broker is ready when `start` returns",
    "speed": "see `playback`",
    "stop_with_stdin": "the broker always stops with the process that started it",
    "upstream": "see `playback`",
    "upstream_config": "see `playback`",
}
"""Options of `serve` that tests cannot use, with the reason."""


def raise_if_unknown_option(options: Mapping[str, object]) -> None:
    """Raise a TypeError that names the nearest keyword if one is unknown."""
    for name in options:
        if name in NOT_OFFERED:
            raise TypeError(f"keyword `{name}` is not offered: {NOT_OFFERED[name]}")
        if name in NAMED_OTHERWISE:
            raise TypeError(f"unknown keyword `{name}`; did you mean `{NAMED_OTHERWISE[name]}`?")
        if name not in Options.__annotations__:
            raise TypeError(unknown_name_message("keyword", name, Options.__annotations__))
