"""`kafka-shim run -- COMMAND`: a broker that runs as long as a command."""

import argparse
import asyncio
import os
import sys
from typing import TYPE_CHECKING

from kafka_shim.shim.broker import BOOTSTRAP, Broker
from kafka_shim.shim.cli.access_notes import say_who_may_what
from kafka_shim.shim.cli.broker_options import add_broker_arguments, config_from
from kafka_shim.shim.cli.control_options import add_control_arguments, broker_of, control_of
from kafka_shim.shim.cli.error_output import print_note
from kafka_shim.shim.cli.open_files import expect_many_connections
from kafka_shim.shim.cli.record_options import add_broker_record_options, outcome, record
from kafka_shim.shim.logs import set_up_logs
from kafka_shim.shim.request.garbage_collection import freeze_gc
from kafka_shim.shim.signals import Relay

if TYPE_CHECKING:
    from kafka_shim.shim.control.server import ControlServer

CONTROL = "KAFKA_SHIM_CONTROL_URL"
TOKEN = "KAFKA_SHIM_CONTROL_TOKEN"  # noqa: S105 - the name of a variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_broker_arguments(parser)
    add_control_arguments(parser)
    add_broker_record_options(parser)
    parser.usage = "%(prog)s [OPTION ...] -- COMMAND [ARG ...]"
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help=f"command to run, after --; it gets the broker's addresses in ${BOOTSTRAP}",
    )


def run(args: argparse.Namespace) -> int:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        args.exit_with_usage_error(
            "no command given; expected one after --, as in: run -- npm test"
            f" (the command gets the broker's address in ${BOOTSTRAP})"
        )
    config = config_from(args)
    set_up_logs(config.log_level, config.log_format)
    broker = broker_of(config, args)
    control = control_of(broker, args)
    say_who_may_what(broker, has_control=control is not None)
    record(broker, args)
    environment = dict(os.environ)
    if args.control_token is not None:
        environment[TOKEN] = args.control_token
    freeze_gc()
    return asyncio.run(_run(broker, control, words, environment))


async def _run(
    broker: Broker,
    control: "ControlServer | None",
    words: list[str],
    environment: dict[str, str],
) -> int:
    """Return the command's exit code; forward signals to it, and stop the broker after it."""
    expect_many_connections()
    await broker.start()
    try:
        relay = Relay()
        environment |= broker.environment()
        if control is not None:
            await control.start()
            environment[CONTROL] = url = f"http://{control.address}"
            print_note(f"the inspector is at {url}/inspector")
        try:
            child = await asyncio.create_subprocess_exec(*words, env=environment)
        except OSError as error:
            print(f"kafka-shim run: cannot start `{words[0]}`: {error.strerror}", file=sys.stderr)
            return 127
        relay.to(child)
        code = await child.wait()
    finally:
        if control is not None:
            await control.stop()
        await broker.stop()
    return outcome(broker.recorder, code if code >= 0 else 128 - code)
