"""`kafka-shim serve`: a broker that runs until a signal stops it."""

import argparse
import asyncio
import gc
import os
import stat
import sys
from functools import partial
from typing import TYPE_CHECKING, TextIO

from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.cli.access_notes import print_access_notes
from kafka_shim.cli.conformance_report import OUTPUTS
from kafka_shim.cli.control_options import create_broker_with_clock, create_control_server
from kafka_shim.cli.open_files_limit import raise_limit
from kafka_shim.cli.playback import Cassette, serve_playback
from kafka_shim.cli.record_options import record_if_requested, recording_exit_code
from kafka_shim.shim.broker import Broker, write_ready_file_atomically
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments, add_option_arguments
from kafka_shim.shim.settings.options import (
    CONTROL,
    PLAYBACK,
    SERVE,
    TRACE,
    VARIABLE_PREFIX,
)
from kafka_shim.shim.settings.trace_storage import trace_storage_of_options
from kafka_shim.shim.signals import call_on_stop_signal
from kafka_shim.text.extras import page_address
from kafka_shim.text.logs import configure_logging, import_structlog_in_thread

if TYPE_CHECKING:
    from kafka_shim.shim.config import Config
    from kafka_shim.shim.control.http_server import ControlServer
    from kafka_shim.shim.settings.state_file import StateFileContent

PORT = 9092
"""Where clients look for a broker."""
DESCRIPTION = """\
Start a broker and keep it running, in the foreground.

By default, everything is allowed on port 9092, without authentication. On port 9093, users
authenticate (--user), and ACLs decide (--acls). The log on standard error has each denial. Ctrl-C
or SIGTERM stops the broker. What it has is then lost, unless --data-dir keeps it.

Exit codes: 0 stopped, 1 a port is in use or the disk is full, 2 usage error, 3 with --playback: a
request was not recorded, with --conformance: a behaviour failed.
"""
_SCORED_CLIENT = "clients"
_READY_FILE_START = r"[\w.-]+=\S+:\d+\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_broker_arguments(parser, first_default_port=PORT)
    add_option_arguments(parser, SERVE, TRACE, PLAYBACK, CONTROL)


def run(args: argparse.Namespace) -> int:
    has_variables = any(name.startswith(VARIABLE_PREFIX) for name in os.environ)
    if has_variables:
        from kafka_shim.shim.settings.shim_variables import set_options_from_variables

        set_options_from_variables(args, os.environ, ["ready_file"])
    if args.ready_file is not None:
        _remove_ready_file(args.ready_file)  # a stale one would look like a started broker
    if args.playback is not None:
        return serve_playback(args, partial(_serve_playback, args))
    state = _apply_shim_variables(args) if has_variables else None
    config = config_from_arguments(args, state_of_environment=state)
    configure_logging(config.log_level, config.log_format)
    broker = create_broker_with_clock(config, args)
    control = create_control_server(broker, args)
    if args.conformance is None:
        record_if_requested(broker, args)
        return asyncio.run(_serve(broker, control, args))
    return _serve_scored(broker, control, args)


def _apply_shim_variables(args: argparse.Namespace) -> "StateFileContent":
    """Return the state in KAFKA_SHIM_* variables, and set options that the command line leaves out.

    Raise ConfigError if such a variable is unknown or invalid.
    """
    from kafka_shim.shim.settings.shim_variables import (
        reject_unknown_shim_variables,
        set_options_from_variables,
        state_of_shim_variables,
    )

    reject_unknown_shim_variables(os.environ)
    set_options_from_variables(args, os.environ)
    return state_of_shim_variables(os.environ)


async def _serve_playback(args: argparse.Namespace, cassette: Cassette, config: "Config") -> None:
    stopped = asyncio.Event()
    call_on_stop_signal(lambda _: stopped.set())
    names = [listener.name for listener in config.listeners]
    addresses = {name: cassette.bootstrap_servers(name) for name in names}
    addresses = {name: address for name, address in addresses.items() if address}
    for name, address in addresses.items():
        print(f"listening on {name}://{address}", flush=True)
    if args.ready_file is not None:
        write_ready_file_atomically(args.ready_file, addresses.items())
    print(f"[KafkaServer] started, playing {args.playback}", flush=True)
    if args.stop_with_stdin:
        await _stop_when_stdin_closes(stopped)
    await stopped.wait()
    if args.ready_file is not None:
        _remove_ready_file(args.ready_file)


def _serve_scored(broker: Broker, control: "ControlServer | None", args: argparse.Namespace) -> int:
    """Serve until stopped, then make the scorecard of the recorded requests."""
    import tempfile
    from pathlib import Path

    from kafka_shim.cli.conformance import write_scorecard
    from kafka_shim.conformance.scorecard.scorecard import scorecard_start_pattern

    form, _, file = args.conformance.partition(":")
    if form not in OUTPUTS:
        raise ConfigError(f"--conformance `{form}`: expected one of {', '.join(OUTPUTS)}")
    if not Path(file).parent.is_dir():
        raise ConfigError(f"--conformance {args.conformance}: the folder does not exist")
    if file:
        _check_option_file("--conformance", file, scorecard_start_pattern(form, _SCORED_CLIENT))
    with tempfile.TemporaryDirectory() as folder:
        trace = args.record or Path(folder)
        broker.start_recording(trace, trace_storage_of_options(args))
        code = asyncio.run(_serve(broker, control, args))
        return code or write_scorecard(trace, form, _SCORED_CLIENT, Path(file) if file else None)


async def _serve(broker: Broker, control: "ControlServer | None", args: argparse.Namespace) -> int:
    raise_limit()
    gc.freeze()  # no collection scans modules and tables, which stay
    print_access_notes(broker, has_control_api=control is not None)
    broker.allow_busy_polling()
    import_structlog_in_thread()
    await broker.start()
    stopped = asyncio.Event()
    call_on_stop_signal(lambda _: stopped.set())
    if broker.storage is not None:
        broker.storage.when_failed = stopped.set
    try:
        if control is not None:
            await control.start()
        _announce_ready_broker(broker, control, args.ready_file)
        if args.stop_with_stdin:
            await _stop_when_stdin_closes(stopped)
        await stopped.wait()
    finally:
        if args.ready_file is not None:
            _remove_ready_file(args.ready_file)
        if control is not None:
            await control.stop()
        await broker.stop()
        gc.freeze()  # with 100,000 topics the process would need 3 s more to exit
    if broker.storage is not None and broker.storage.failure is not None:
        return EXIT_FAILURE
    return recording_exit_code(broker.recorder)


def _remove_ready_file(ready_file: str) -> None:
    """Remove the ready file: its addresses are not valid before and after the broker runs."""
    from pathlib import Path

    folder = Path(ready_file).parent
    if not folder.is_dir():
        raise ConfigError(f"--ready-file {ready_file}: the folder `{folder}` does not exist")
    _check_option_file("--ready-file", ready_file, _READY_FILE_START)
    Path(ready_file).unlink(missing_ok=True)


def _check_option_file(option: str, file: str, own_content: str) -> None:
    """Raise ConfigError if this file is something else than earlier output of the option."""
    from pathlib import Path

    from kafka_shim.text.output_paths import check_output_file

    try:
        check_output_file(Path(file), own_content)
    except OSError as error:
        raise ConfigError(f"{option} {file}: {error.strerror}") from error


def _announce_ready_broker(
    broker: Broker, control: "ControlServer | None", ready_file: str | None
) -> None:
    for address in broker.describe_listeners():
        print(f"listening on {address}", flush=True)
    if control is not None:
        print(f"control on http://{control.address}", flush=True)
        print(f"inspector on http://{control.address}/inspector", flush=True)
    for settings in broker.describe_client_settings():
        print(f"settings of clients: {settings}", flush=True)
    print(f"examples for client libraries: {page_address('docs/start/connect.md')}", flush=True)
    if ready_file is not None:
        broker.write_ready_file(ready_file, None if control is None else control.address)
    cluster = broker.cluster
    # wait strategies of test containers look for this line of Kafka
    node, release = cluster.controller_id, cluster.release
    print(f"[KafkaServer id={node}] started, as Kafka {release}", flush=True)


def _can_be_closed_by_peer(stream: TextIO | None) -> bool:
    """Return whether the stream can still be closed at its other end: not files, not if closed."""
    if stream is None:
        return False
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stream.isatty()


async def _stop_when_stdin_closes(stopped: asyncio.Event) -> None:
    """Set `stopped` when standard input is closed at its other end."""
    if not _can_be_closed_by_peer(sys.stdin):
        stopped.set()
        return

    class _StdinWatcher(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
            stopped.set()

    await asyncio.get_running_loop().connect_read_pipe(_StdinWatcher, sys.stdin)
