"""`kafka-shim serve`: a broker until it is told to stop."""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from shim.broker import Broker
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.cli.record_options import add_record_options, keeping_of
from shim.cli.scorecard_forms import OUTPUTS
from shim.cli.signals import on_stop
from shim.clock import ManualClock, SystemClock
from shim.errors import ConfigError
from shim.logs import prepare_logs, set_up_logs

if TYPE_CHECKING:
    from shim.control.server import ControlServer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_broker_arguments(parser)
    parser.add_argument(
        "--ready-file",
        metavar="PATH",
        help="written once the broker answers: one NAME=HOST:PORT a line",
    )

    parser.add_argument("--record", type=Path, metavar="DIR", help="write a trace of all requests")
    add_record_options(parser)
    parser.add_argument(
        "--conformance",
        nargs="?",
        const=OUTPUTS[0],
        metavar="FORM[:FILE]",
        help="when it stops, make the scorecard of what clients have done: text (default), json,"
        " junit or markdown, printed or into a file; exit code 3 if something failed",
    )
    parser.add_argument(
        "--control",
        metavar="HOST:PORT",
        help="an HTTP API to see and change the broker (/openapi.json describes it)",
    )
    parser.add_argument(
        "--control-token",
        metavar="TOKEN",
        help="what callers of the control API must know; needed beyond loopback",
    )
    parser.add_argument(
        "--manual-clock",
        action="store_true",
        default=None,
        help="time stands still but for the control API's /clock/advance",
    )
    parser.add_argument(
        "--stop-with-stdin",
        action="store_true",
        default=None,
        help="stop when standard input ends, so that the broker does not outlive its parent",
    )


def run(args: argparse.Namespace) -> int:
    config = config_from(args)
    set_up_logs(config.log_level, config.log_format)
    clock = ManualClock(SystemClock().now_ms()) if args.manual_clock else None
    broker = Broker(config, clock)
    if args.conformance is None:
        if args.record is not None:
            broker.record(args.record, keeping_of(args))
        return asyncio.run(_serve(broker, _control(broker, args), args))
    return _conformance(broker, args)


def _conformance(broker: Broker, args: argparse.Namespace) -> int:
    """Serve, then make the scorecard of what was recorded."""
    from shim.cli.conformance import write_scorecard

    form, _, file = args.conformance.partition(":")
    if form not in OUTPUTS:
        raise ConfigError(f"--conformance `{form}`: expected one of {', '.join(OUTPUTS)}")
    with tempfile.TemporaryDirectory() as folder:
        trace = args.record or Path(folder)
        broker.record(trace)
        asyncio.run(_serve(broker, _control(broker, args), args))
        return write_scorecard(trace, form, "clients", Path(file) if file else None)


def _control(broker: Broker, args: argparse.Namespace) -> "ControlServer | None":
    if args.control is None:
        if args.control_token is not None:
            raise ConfigError("--control-token is of no use without --control")
        return None
    from shim.control.server import ControlServer

    return ControlServer(broker, args.control, args.control_token)


async def _serve(broker: Broker, control: "ControlServer | None", args: argparse.Namespace) -> int:
    await broker.start()
    stopped = asyncio.Event()
    on_stop(lambda _: stopped.set())
    try:
        await _announce(broker, control, args.ready_file)
        if broker.cluster.config.log_level in ("info", "debug"):
            await asyncio.to_thread(prepare_logs)
        if args.stop_with_stdin:
            await _watch_stdin(stopped)
        await stopped.wait()
    finally:
        if control is not None:
            await control.stop()
        await broker.stop()
    return 0


async def _announce(
    broker: Broker, control: "ControlServer | None", ready_file: str | None
) -> None:
    for name, address in broker.addresses():
        print(f"listening on {name}://{address}", flush=True)
    if control is not None:
        await control.start()
        print(f"control on http://{control.address}", flush=True)
        print(f"inspector on http://{control.address}/inspector", flush=True)
    if ready_file is not None:
        broker.write_ready_file(ready_file, None if control is None else control.address)
    cluster = broker.cluster
    # existing wait strategies look for this line of Kafka's
    node, release = cluster.controller_id, cluster.release
    print(f"[KafkaServer id={node}] started, as Kafka {release}", flush=True)


async def _watch_stdin(stopped: asyncio.Event) -> None:
    """Set `stopped` when whoever holds the other end of standard input is gone."""

    class _UntilEnd(asyncio.Protocol):
        def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's
            stopped.set()

    await asyncio.get_running_loop().connect_read_pipe(_UntilEnd, sys.stdin)
