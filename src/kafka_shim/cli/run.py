"""`kafka-shim run -- COMMAND`: a broker that runs as long as a command."""

import argparse
import asyncio
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.cli.access_notes import print_access_notes
from kafka_shim.cli.control_options import create_broker_with_clock, create_control_server
from kafka_shim.cli.open_files_limit import raise_limit
from kafka_shim.cli.playback import run_with_playback
from kafka_shim.cli.record_options import record_if_requested, recording_exit_code
from kafka_shim.shim.broker import BOOTSTRAP, Broker
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings import options
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments, add_option_arguments
from kafka_shim.shim.settings.shim_variables import ignored_variables_note
from kafka_shim.shim.signals import SignalForwarder
from kafka_shim.text.extras import kafka_shim_command
from kafka_shim.text.logs import configure_logging, import_structlog_in_thread
from kafka_shim.text.message_text import print_note, sanitize_message

if TYPE_CHECKING:
    from kafka_shim.shim.control.http_server import ControlServer

CONTROL = "KAFKA_SHIM_CONTROL_URL"
KILL_AFTER_S = 10
TOKEN = "KAFKA_SHIM_CONTROL_TOKEN"  # noqa: S105 - the name of a variable


DESCRIPTION = """\
Start a broker, run a command against it once it responds, return its exit code.

By default, everything is allowed at $KAFKA_BOOTSTRAP_SERVERS, without authentication. At
$KAFKA_BOOTSTRAP_SERVERS_SASL_PLAINTEXT, users authenticate (--user), and ACLs decide (--acls). The
ports are free ones. With --control, $KAFKA_SHIM_CONTROL_URL is the URL of the HTTP API. The log on
standard error has each denial; --log-level none silences it. What the broker has is lost at the
end, unless --data-dir keeps it.

Exit codes: that of COMMAND, or 128 plus the number of the signal that ended it; 127 COMMAND cannot
be started; 1 a port is in use or the disk is full; 2 usage error; 3 with --playback: a request was
not recorded, with --min-score: the score is below it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add_broker_arguments(parser)
    for group in (options.CONTROL, options.TRACE, options.PLAYBACK):
        add_option_arguments(parser, group)
    parser.add_argument(
        "--kill-after",
        type=float,
        default=KILL_AFTER_S,
        metavar="SECONDS",
        help="Kill a command that still runs so long after this process got SIGTERM or SIGHUP"
        f" (default: {KILL_AFTER_S})",
    )
    add_mutation_arguments(parser)
    parser.usage = "%(prog)s [OPTION ...] -- COMMAND [ARG ...]"
    parser.add_argument(
        "words",
        nargs=argparse.REMAINDER,
        metavar="COMMAND",
        help=f"Command to run, after --; it gets the broker's addresses in ${BOOTSTRAP}",
    )


def run(args: argparse.Namespace) -> int:
    words = args.words[1:] if args.words[:1] == ["--"] else args.words
    if not words:
        args.exit_with_usage_error(
            "no command given; expected one after --, as in: run -- npm test"
            f" (the command gets the broker's address in ${BOOTSTRAP})"
        )
    if is_mutation_run(args):
        return run_mutations(args, words)
    if args.playback is not None:
        play = partial(_run_command, words, kill_after_s=args.kill_after)
        return run_with_playback(args, play)
    config = config_from_arguments(args)
    configure_logging(config.log_level, config.log_format)
    broker = create_broker_with_clock(config, args)
    control = create_control_server(broker, args)
    print_access_notes(broker, has_control_api=control is not None)
    if ignored := ignored_variables_note(os.environ):
        print_note(ignored)
    record_if_requested(broker, args)
    environment = dict(os.environ)
    if args.control_token is not None:
        environment[TOKEN] = args.control_token
    gc.freeze()  # no collection scans modules and tables, which stay
    return asyncio.run(
        _run_command_with_broker(broker, control, words, environment, args.kill_after)
    )


async def _run_command_with_broker(
    broker: Broker,
    control: "ControlServer | None",
    command: list[str],
    environment: dict[str, str],
    kill_after_s: float,
) -> int:
    """Return the command's exit code; forward signals to it, and stop the broker after it.

    If the broker cannot write its data, it stops before, and the exit code is not 0.
    """
    raise_limit()
    broker.allow_busy_polling()
    import_structlog_in_thread()
    await broker.start()
    failed = asyncio.Event()
    if broker.storage is not None:
        broker.storage.when_failed = failed.set
    failing = asyncio.create_task(_stop_after_failure(broker, failed))
    try:
        relay = SignalForwarder(kill_after_s)
        environment |= broker.environment_for_clients()
        if control is not None:
            await control.start()
            environment[CONTROL] = url = f"http://{control.address}"
            print_note(f"the inspector is at {url}/inspector")
        code = await _run_command(command, environment, relay)
    finally:
        if control is not None:
            await control.stop()
        if failed.is_set():
            await failing
        else:
            failing.cancel()
            await broker.stop()
    if failed.is_set():
        code = code or EXIT_FAILURE
    return recording_exit_code(broker.recorder, code)


async def _stop_after_failure(broker: Broker, failed: asyncio.Event) -> None:
    """Stop the broker if it failed, so that the command's clients do not wait for responses."""
    await failed.wait()
    await broker.stop()


async def _run_command(
    command: list[str],
    environment: Mapping[str, str],
    relay: SignalForwarder | None = None,
    *,
    kill_after_s: float = KILL_AFTER_S,
) -> int:
    """Run a command and forward signals to it; return its exit code, 127 if it cannot start."""
    relay = relay or SignalForwarder(kill_after_s)
    try:
        child = await asyncio.create_subprocess_exec(*command, env=os.environ | environment)
    except OSError as error:
        text = sanitize_message(f"cannot start `{command[0]}`: {error.strerror}")
        print(f"kafka-shim run: {text}", file=sys.stderr)
        return 127
    relay.forward_to(child)
    code = await child.wait()
    if relay.has_killed:
        print_note(f"`{command[0]}` still ran after --kill-after, and was killed")
    return code if code >= 0 else 128 - code


_HEADING = "Mutation testing"
_DEPENDENT = ("min_score", "jobs", "run_timeout", "json")
"""Options that only --mutate-acls uses."""
_FOR_ONE_RUN = ("data_dir", "record", "playback", "conformance", "ready_file")
"""Options of a broker that several brokers cannot have at the same time."""


def add_mutation_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(_HEADING)
    add = group.add_argument
    add(
        "--mutate-acls",
        action="store_true",
        help="Run the command, which runs tests, several times, each time with an ACL that is"
        " missing or too wide. Print which tests notice",
    )
    add(
        "--min-score",
        type=_parse_score,
        metavar="SCORE",
        help="Exit with 3 if a smaller share of the mutants is noticed, such as 0.8",
    )
    add(
        "--jobs", type=_parse_count, metavar="N", help="Runs at a time (default: one per processor)"
    )
    add(
        "--run-timeout",
        type=float,
        metavar="SECONDS",
        help="Time of a run, after which a mutant counts as noticed (default: 20 s, and three times"
        " as long as without mutants)",
    )
    add("--json", action="store_true", help="Print the result as JSON")


def is_mutation_run(args: argparse.Namespace) -> bool:
    """Return whether ACLs are mutated. Raise ConfigError if options do not fit together."""
    if args.mutate_acls:
        for name in _FOR_ONE_RUN:
            if getattr(args, name, None):
                option = f"--{name.replace('_', '-')}"
                raise ConfigError(f"--mutate-acls cannot be combined with {option}")
        return True
    for name in _DEPENDENT:
        if getattr(args, name):
            raise ConfigError(f"--{name.replace('_', '-')} requires --mutate-acls")
    return False


def run_mutations(args: argparse.Namespace, command: Sequence[str]) -> int:
    """Run the command with mutants, each time with a broker of its own; return the exit code."""
    from kafka_shim.testing.mutation.command import MutationOptions, run_mutation_test

    options = MutationOptions(
        min_score=args.min_score or 0.0,
        jobs=args.jobs,
        timeout_s=args.run_timeout,
        prints_json=args.json,
    )
    return run_mutation_test(
        [*kafka_shim_command(), *_words_without_mutation(args), *command], options
    )


def _words_without_mutation(args: argparse.Namespace) -> list[str]:
    """Return the words of `run` without the options of this module, and `--`."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_mutation_arguments(parser)
    given = list(args.arguments)
    options = given[: len(given) - len(args.words)]
    return [*parser.parse_known_args(options)[1], "--"]


def _parse_score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = -1
    if not 0 <= score <= 1:
        raise argparse.ArgumentTypeError(f"invalid score `{text}`: expected 0 to 1, such as 0.8")
    return score


def _parse_count(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"invalid number `{text}`: expected 1 or more")
    return int(text)
