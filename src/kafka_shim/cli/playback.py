"""The runs of `serve --playback` and `run --playback`."""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Protocol

from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.broker import BOOTSTRAP
from kafka_shim.shim.config import parse_address
from kafka_shim.shim.errors import ConfigError, UnavailableError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_values import is_option_set
from kafka_shim.shim.settings.options import Place, options_of_place
from kafka_shim.text.logs import configure_logging
from kafka_shim.text.message_text import print_note

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from kafka_shim.shim.config import Config
    from kafka_shim.traces.cassettes.cassette_recording import Upstream
    from kafka_shim.traces.cassettes.playback_report import PlaybackReport

NONE, ONCE, NEW_EPISODES, ALL = ("none", "once", "new-episodes", "all")
CLOSE = "close"
UPSTREAM_CONFIG = "--upstream-config"


class Cassette(Protocol):
    """What clients connect to: a playback, or the proxies that record one."""

    def bootstrap_servers(self, listener: str) -> str: ...
    async def start(self) -> None: ...
    async def stop(self) -> None: ...


def serve_playback(
    args: argparse.Namespace,
    announce_and_await_stop: Callable[[Cassette, "Config"], Awaitable[None]],
) -> int:
    """Play or record a trace until `announce_and_await_stop` returns.

    It is called once clients can connect.
    """

    async def serve(cassette: Cassette, config: "Config") -> int:
        await announce_and_await_stop(cassette, config)
        return 0

    return _run_cassette(args, serve)


def run_with_playback(
    args: argparse.Namespace, run_command: Callable[[Mapping[str, str]], Awaitable[int]]
) -> int:
    """Play or record a trace while a command runs; return its exit code, or 3 after a mismatch."""

    async def run(cassette: Cassette, config: "Config") -> int:
        variables: dict[str, str] = {}
        for listener in config.listeners:
            if addresses := cassette.bootstrap_servers(listener.name):
                variables.setdefault(BOOTSTRAP, addresses)
                variables[f"{BOOTSTRAP}_{listener.name}"] = addresses
        return await run_command(variables)

    return _run_cassette(args, run)


def _run_cassette(
    args: argparse.Namespace, use: Callable[[Cassette, "Config"], Awaitable[int]]
) -> int:
    """Return the exit code of `use`, 3 after a mismatch, and 1 if the recording failed."""
    config = _playback_config(args)
    mode = args.playback_mode or NONE
    is_recorded = mode == ALL or (mode == ONCE and not args.playback.exists())
    if mode in (ALL, NEW_EPISODES) and args.playback.is_dir():
        raise ConfigError(f"--playback-mode {mode}: `{args.playback}` is a folder, expected a file")
    if not args.playback.exists() and not is_recorded:
        hint = "; --playback-mode once records it" if mode == NONE else ""
        raise ConfigError(f"--playback: `{args.playback}` does not exist{hint}")
    if (is_recorded or mode == NEW_EPISODES) and not args.upstream:
        raise ConfigError(
            f"--playback-mode {mode} records `{args.playback}`: give --upstream HOST:PORT"
        )
    if args.playback_report is not None:
        _check_report_file(args.playback_report)
    run = _record if is_recorded else _play
    try:
        return asyncio.run(run(args, config, use))
    except OSError as error:
        is_written = is_recorded or mode == NEW_EPISODES
        text = "the recording is incomplete" if is_written else f"cannot read `{args.playback}`"
        print(f"kafka-shim: {text}: {error.strerror or error}", file=sys.stderr)
        return EXIT_FAILURE


def _check_report_file(file: "Path") -> None:
    from kafka_shim.traces.cassettes.playback_report import check_report_file

    try:
        check_report_file(file)
    except OSError as error:
        raise ConfigError(f"--playback-report {file}: {error.strerror}") from error


async def _record(
    args: argparse.Namespace,
    config: "Config",
    use: Callable[[Cassette, "Config"], Awaitable[int]],
) -> int:
    from kafka_shim.traces.cassettes.cassette_recording import CassetteRecording
    from kafka_shim.traces.record_masks import RecordMasks

    masks = RecordMasks(args.mask or ())
    args.playback.parent.mkdir(parents=True, exist_ok=True)
    recording = CassetteRecording(args.playback, config, _parse_upstream(args), masks)
    async with _cassette_lifetime(recording):
        code = await use(recording, config)
    if not recording.is_written:
        text = f"nothing was recorded in {args.playback}: no request reached the cluster"
        print(f"kafka-shim: {text}", file=sys.stderr)
        return code or EXIT_FAILURE
    print(f"kafka-shim: recorded {args.playback}", file=sys.stderr)
    return code


async def _play(
    args: argparse.Namespace,
    config: "Config",
    use: Callable[[Cassette, "Config"], Awaitable[int]],
) -> int:
    from kafka_shim.traces.cassettes.new_episodes import NewEpisodes
    from kafka_shim.traces.cassettes.playback_broker import PlaybackBroker
    from kafka_shim.traces.cassettes.playback_report import write_playback_report
    from kafka_shim.traces.cassettes.playback_state import (
        MatchMode,
        PlaybackOptions,
        PlaybackState,
    )
    from kafka_shim.traces.cassettes.trace_index import TraceIndex
    from kafka_shim.traces.record_masks import RecordMasks, record_masks_named_in_trace

    recorded = record_masks_named_in_trace(args.playback)
    if args.mask and {*args.mask} != {*recorded}:
        raise ConfigError(
            f"--mask differs from the masks of `{args.playback}`"
            f" ({', '.join(recorded) or 'none'}): record it anew with --playback-mode all"
        )
    options = PlaybackOptions(
        match=MatchMode(args.match or MatchMode.ORDER),
        users=config.users_of_any_listener,
        speed=args.speed,
        error_for_mismatches=_error_for_mismatches(args.on_mismatch),
        masks=RecordMasks(recorded),
        accepts_damage=bool(args.accept_damage),
    )
    index = TraceIndex(args.playback)
    if not index.count:
        raise ConfigError(f"--playback: `{args.playback}` has no requests")
    state, episodes = PlaybackState(index, options), None
    if args.playback_mode == NEW_EPISODES:
        episodes = NewEpisodes(args.playback, _parse_upstream(args), state)
    broker = PlaybackBroker(state, config, episodes)
    try:
        async with _cassette_lifetime(broker):
            with _serve_inspector(args, state.report):
                code = await use(broker, config)
    finally:
        if episodes is not None:
            episodes.finish()
    report = state.finished_report()
    for line in report.lines():
        print(f"kafka-shim: {line}", file=sys.stderr)
    if args.playback_report is not None:
        write_playback_report(report, args.playback, args.playback_report)
    return EXIT_MISMATCH if report.failures else code


@contextmanager
def _serve_inspector(args: argparse.Namespace, report: "PlaybackReport") -> "Iterator[None]":
    """Serve the inspector with the recording and the mismatches, if --control is given."""
    if args.control is None:
        yield
        return
    from kafka_shim.shim.control.trace_inspector_server import HOST, TraceInspectorServer
    from kafka_shim.traces.cassettes.playback_report import inspector_rows

    host, port = parse_address(args.control, "--control")
    if host != HOST:
        raise ConfigError(f"--control `{args.control}`: with --playback only {HOST}:PORT")
    rows = inspector_rows(args.playback, report)
    try:
        server = TraceInspectorServer(rows, port)
    except OSError as error:
        reason = f"cannot listen on {args.control}: {error.strerror}"
        raise UnavailableError(reason) from error
    with server:
        print_note(f"the inspector is at {server.url}")
        serving = Thread(target=server.serve_forever)
        serving.start()
        try:
            yield
        finally:
            server.shutdown()
            serving.join()


@asynccontextmanager
async def _cassette_lifetime(cassette: Cassette) -> "AsyncIterator[None]":
    await cassette.start()
    try:
        yield
    finally:
        await cassette.stop()


def _playback_config(args: argparse.Namespace) -> "Config":
    """Return the configuration, of which only listeners, users and logging are used."""
    for option in options_of_place(Place.COMMAND_LINE):
        if not option.is_for_playback and is_option_set(getattr(args, option.name, None)):
            raise ConfigError(
                f"{option.option} cannot be combined with --playback, which has no state: all"
                " responses are those of the trace"
            )
    if args.speed is not None and args.speed <= 0:
        raise ConfigError(f"--speed `{args.speed}`: expected a number above 0")
    if args.upstream and args.playback_mode in (None, NONE):
        raise ConfigError("--upstream requires --playback-mode once, new-episodes or all")
    config = config_from_arguments(args)
    configure_logging(config.log_level, config.log_format)
    return config


def _parse_upstream(args: argparse.Namespace) -> "Upstream":
    from kafka_shim.client.config import read_client_config
    from kafka_shim.traces.cassettes.cassette_recording import Upstream

    addresses = {}
    for text in args.upstream or ():
        listener, _, address = text.rpartition("=")
        addresses[listener] = parse_address(address, "--upstream")
    config = read_client_config(args.upstream_config, UPSTREAM_CONFIG)
    return Upstream(addresses.pop("", None), addresses, config)


def _error_for_mismatches(name: str | None) -> ErrorCode | None:
    if name == CLOSE:
        return None
    try:
        error = ErrorCode[(name or "INVALID_REQUEST").upper()]
    except KeyError:
        raise ConfigError(
            f"--on-mismatch `{name}`: expected close or an error of Kafka, as in INVALID_REQUEST"
        ) from None
    if error == ErrorCode.NONE:
        raise ConfigError("--on-mismatch NONE: a mismatch cannot be a success")
    return error
