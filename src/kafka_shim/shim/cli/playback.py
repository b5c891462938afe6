"""The options and the runs of `serve --playback` and `run --playback`."""

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.shim.broker import BOOTSTRAP
from kafka_shim.shim.cli import EXIT_MISMATCH
from kafka_shim.shim.cli.broker_options import config_from_arguments
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.logs import configure_logging

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kafka_shim.shim.config import Config
    from kafka_shim.shim.traffic.cassettes.playback_report import PlaybackReport
    from kafka_shim.shim.traffic.cassettes.playback_server import PlaybackServer
    from kafka_shim.shim.traffic.cassettes.playback_state import PlaybackState

MATCHES = ("order", "content", "strict")
_NOT_WITH_PLAYBACK = (
    "state", "data_dir", "authorizer", "super_user", "allow_everyone_if_no_acl_found", "acls",
    "acl_propagation_delay", "kafka_version", "topic", "brokers", "first_broker_id", "rack",
    "client_telemetry", "seed", "record", "record_keep", "record_compression", "control",
    "control_token", "manual_clock", "conformance",
)  # fmt: skip
"""Options of a broker with state, which a playback does not have."""


def add_playback_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --playback and its options to a command that starts a broker."""
    add = parser.add_argument_group("playback").add_argument
    add(
        "--playback",
        type=Path,
        metavar="TRACE",
        help="respond from this trace instead of a broker: each request gets its recorded response;"
        " exit code 3 if a request was not recorded",
    )
    add(
        "--match",
        choices=MATCHES,
        help="order: changes and records in their recorded order (default). content: in any order."
        " strict: as order, with the recorded settings, and nothing may be left out",
    )
    add(
        "--speed",
        type=float,
        metavar="X",
        help="respond after the recorded time divided by X (default: without delay)",
    )
    add(
        "--playback-report",
        type=Path,
        metavar="FILE",
        help="write the report of the playback to this file as JSON",
    )


def serve_playback(
    args: argparse.Namespace,
    announce_and_await_stop: Callable[["PlaybackServer", "Config"], Awaitable[None]],
) -> int:
    """Play a trace until `announce`, which is called once clients can connect, returns."""

    async def serve() -> int:
        async with _running_playback(args, config) as (server, state):
            await announce_and_await_stop(server, config)
        return _print_and_write_playback_report(args, state)

    config = _configure_playback_and_logging(args)
    return asyncio.run(serve())


def run_command_and_check_playback(
    args: argparse.Namespace, run_command: Callable[[Mapping[str, str]], Awaitable[int]]
) -> int:
    """Play a trace while a command runs; return its exit code, or 3 after a mismatch."""

    async def run() -> int:
        async with _running_playback(args, config) as (server, state):
            variables = {BOOTSTRAP: server.bootstrap_servers(config.listeners[0].name)}
            for listener in config.listeners:
                addresses = server.bootstrap_servers(listener.name)
                variables[f"{BOOTSTRAP}_{listener.name}"] = addresses
            code = await run_command(variables)
        return _print_and_write_playback_report(args, state) or code

    config = _configure_playback_and_logging(args)
    return asyncio.run(run())


def _configure_playback_and_logging(args: argparse.Namespace) -> "Config":
    """Return the configuration, of which only listeners, users and logging are used."""
    for name in _NOT_WITH_PLAYBACK:
        if getattr(args, name, None) not in (None, [], False):
            option = name.replace("_", "-")
            raise ConfigError(
                f"--{option} cannot be combined with --playback, which has no state: all responses"
                " are those of the trace"
            )
    if args.speed is not None and args.speed <= 0:
        raise ConfigError(f"--speed `{args.speed}`: expected a number above 0")
    config = config_from_arguments(args)
    configure_logging(config.log_level, config.log_format)
    return config


@asynccontextmanager
async def _running_playback(
    args: argparse.Namespace, config: "Config"
) -> "AsyncIterator[tuple[PlaybackServer, PlaybackState]]":
    from kafka_shim.shim.tls.context import build_server_context
    from kafka_shim.shim.traffic.cassettes.playback_server import PlaybackListener, PlaybackServer
    from kafka_shim.shim.traffic.cassettes.playback_state import (
        MatchMode,
        PlaybackOptions,
        PlaybackState,
    )
    from kafka_shim.shim.traffic.cassettes.trace_index import TraceIndex

    if not args.playback.exists():
        raise ConfigError(f"--playback: `{args.playback}` does not exist")
    index = TraceIndex(args.playback)
    if not index.count:
        raise ConfigError(f"--playback: `{args.playback}` has no requests")
    for damage in index.damage:
        print(f"kafka-shim: {damage.path} is damaged: {damage.reason}", file=sys.stderr)
    options = PlaybackOptions(
        MatchMode(args.match or MATCHES[0]),
        config.users,
        args.speed,
    )
    state = PlaybackState(index, options)
    listeners = [
        PlaybackListener(
            each.name,
            each.host,
            each.port,
            build_server_context(config.properties, each.name, each.host)
            if each.protocol.uses_tls
            else None,
        )
        for each in config.listeners
    ]
    server = PlaybackServer(state, listeners)
    await server.start()
    try:
        yield server, state
    finally:
        await server.stop()


def _print_and_write_playback_report(args: argparse.Namespace, state: "PlaybackState") -> int:
    """Print and write the report; return 3 if a request was not recorded, else 0."""
    report: PlaybackReport = state.finished_report()
    for line in report.summary_lines():
        print(f"kafka-shim: {line}", file=sys.stderr)
    if args.playback_report is not None:
        text = json.dumps(report.json_fields(), indent=2)
        args.playback_report.write_text(f"{text}\n", encoding="utf-8")
    return EXIT_MISMATCH if report.has_mismatches_or_missing_required_changes else 0
