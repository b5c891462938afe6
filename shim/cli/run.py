"""`kafka-shim run -- COMMAND`: a broker up for as long as a command runs."""

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING

from shim.broker import Broker
from shim.cli import EXIT_USAGE
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.cli.signals import on_stop
from shim.logs import set_up_logs

if TYPE_CHECKING:
    from shim.control.server import ControlServer

BOOTSTRAP = "KAFKA_BOOTSTRAP_SERVERS"
CONTROL = "KAFKA_SHIM_CONTROL_URL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_broker_arguments(parser, listener="PLAINTEXT://127.0.0.1:0")
    parser.add_argument(
        "--control",
        metavar="HOST:PORT",
        help=f"the control API of `serve`, for the command too: {CONTROL} says where",
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="-- COMMAND")


def run(args: argparse.Namespace) -> int:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        print(
            f"kafka-shim run: no command given; {BOOTSTRAP} is set for it: run -- pytest",
            file=sys.stderr,
        )
        return EXIT_USAGE
    config = config_from(args)
    set_up_logs(config.log_level, config.log_format)
    broker = Broker(config)
    control = None
    if args.control is not None:
        from shim.control.server import ControlServer

        control = ControlServer(broker, args.control)
    return asyncio.run(_run(broker, control, words))


async def _run(broker: Broker, control: "ControlServer | None", words: list[str]) -> int:
    """The command's exit code; signals go to the command, the broker ends after it."""
    await broker.start()
    try:
        environment = os.environ | _addresses(broker)
        if control is not None:
            await control.start()
            environment[CONTROL] = f"http://{control.address}"
        try:
            child = await asyncio.create_subprocess_exec(*words, env=environment)
        except OSError as error:
            print(f"kafka-shim run: cannot start `{words[0]}`: {error.strerror}", file=sys.stderr)
            return 127
        on_stop(child.send_signal)
        code = await child.wait()
    finally:
        if control is not None:
            await control.stop()
        await broker.stop()
    return code if code >= 0 else 128 - code


def _addresses(broker: Broker) -> dict[str, str]:
    """The first listener under the usual name, each one under its own."""
    found = {BOOTSTRAP: broker.bootstrap_servers()}
    for listener in broker.cluster.config.listeners:
        found[f"{BOOTSTRAP}_{listener.name}"] = broker.bootstrap_servers(listener.name)
    return found
