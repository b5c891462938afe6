"""`kafka-shim proxy`: a pass-through in front of a real cluster that records what clients do."""

import argparse
import asyncio
from pathlib import Path

from protocol.trace.entries import DERIVED
from shim.cli.record_options import add_record_options, keeping_of
from shim.cli.signals import on_stop
from shim.clock import SystemClock
from shim.errors import ConfigError
from shim.logs import set_up_logs
from shim.proxy.proxy import Proxy
from shim.traces.recorder import Recorder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--upstream", required=True, metavar="HOST:PORT", help="a broker of the real cluster")
    add(
        "--listen",
        default="127.0.0.1:0",
        metavar="HOST:PORT",
        help="the bootstrap address for clients; port 0 is any free one (default 127.0.0.1:0)",
    )
    add(
        "--listener",
        default="PROXY",
        metavar="NAME",
        help="what the trace calls the listener, so that `replay --route` can tell several apart",
    )
    add("--record", required=True, type=Path, metavar="DIR", help="where the trace goes")
    add_record_options(parser)


def run(args: argparse.Namespace) -> int:
    set_up_logs("info", "console")
    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    recorder = Recorder(
        args.record,
        SystemClock(),
        writer=f"proxy-{args.listener}",  # one each: their entries are put in order by their times
        keeping=keeping_of(args),
        accesses=DERIVED,
    )
    proxy = Proxy(_address(args.upstream), _address(args.listen), recorder, name=args.listener)
    bootstrap = await proxy.start()
    stopped = asyncio.Event()
    on_stop(lambda _: stopped.set())
    print(f"proxy for {args.upstream} on {bootstrap}, recording to {args.record}", flush=True)
    await stopped.wait()
    await proxy.stop()
    return 0


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdigit():
        raise ConfigError(f"`{text}`: expected HOST:PORT")
    return host.strip("[]"), int(port)
