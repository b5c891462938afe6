"""`kafka-shim conformance run|check|list`: a scorecard of what a client does on the wire."""

import argparse
import asyncio
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

from protocol.trace.segments import trace_bytes
from shim.broker import BOOTSTRAP, Broker
from shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.cli.progress import Progress
from shim.cli.record_options import outcome
from shim.cli.scorecard_forms import OUTPUTS
from shim.cli.signals import Relay
from shim.cli.trace_source import existing_trace
from shim.config import Config
from shim.errors import ConfigError
from shim.logs import set_up_logs

DESCRIPTION = """\
Looks at what a client sends and makes a scorecard of it: which behaviours of the Kafka protocol,
of its ACLs and permissions above all, are right, wrong, or did not come up (docs/conformance.md).

  kafka-shim conformance run --client-command "python my_client.py"
  kafka-shim conformance check TRACE --to junit

Exit codes: 0 nothing failed, 1 the client could not be run or sent nothing, 3 something failed.
"""
PLACEHOLDER = "{bootstrap}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run|check|list")
    run_verb = verbs.add_parser("run", help="run a client against a broker of its own")
    run_verb.add_argument(
        "--client-command",
        required=True,
        action="append",
        metavar="COMMAND",
        help=f"started with ${BOOTSTRAP}, or the address where `{PLACEHOLDER}` stands; its output"
        " goes to standard error (repeatable: one after the other)",
    )
    run_verb.add_argument("--record", type=Path, metavar="DIR", help="keep the trace there")
    add_broker_arguments(run_verb, listener="PLAINTEXT://127.0.0.1:0")
    check = verbs.add_parser("check", help="look at a trace that there is")
    check.add_argument("trace", type=Path, help="a trace's folder, or one segment")
    for verb in (run_verb, check):
        verb.add_argument("--name", default="client", help="of the client, for the scorecard")
        form = verb.add_mutually_exclusive_group()
        form.add_argument("--to", choices=OUTPUTS, default=OUTPUTS[0], help="default: text")
        form.add_argument("--json", action="store_const", const="json", dest="to", help="--to json")
    listing = verbs.add_parser("list", help="the catalogue of behaviours")
    listing.add_argument("--json", action="store_true", help="one JSON array")


def run(args: argparse.Namespace) -> int:
    if args.verb == "list":
        return _list(args.json)
    if args.verb == "check":
        return write_scorecard(existing_trace(args.trace), args.to, args.name)
    config = config_from(args)
    set_up_logs("error", config.log_format)
    if args.record is not None:
        return _run(args, config, args.record)
    with tempfile.TemporaryDirectory() as folder:
        return _run(args, config, Path(folder))


def _run(args: argparse.Namespace, config: Config, folder: Path) -> int:
    commands = [_words(command) for command in args.client_command]
    broker = Broker(config)
    broker.record(folder)
    code = asyncio.run(_clients(broker, commands))
    if code != 0:
        print(f"kafka-shim conformance: the client ended with {code}", file=sys.stderr)
    return outcome(broker.cluster.recorder) or write_scorecard(folder, args.to, args.name)


def _words(command: str) -> list[str]:
    """A command as a shell would split it; ConfigError if it cannot be."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"--client-command `{command}`: {str(error).lower()}") from error
    if not words:
        raise ConfigError("--client-command is empty: expected a program and its arguments")
    return words


async def _clients(broker: Broker, commands: list[list[str]]) -> int:
    """Run the commands one after the other; the first exit code that is not 0."""
    await broker.start()
    codes = []
    relay = Relay()
    try:
        bootstrap = broker.bootstrap_servers()
        for command in commands:
            words = [word.replace(PLACEHOLDER, bootstrap) for word in command]
            environment = os.environ | broker.environment()
            try:
                child = await asyncio.create_subprocess_exec(
                    *words, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr
                )
            except OSError as error:
                raise ConfigError(f"cannot start `{words[0]}`: {error.strerror}") from error
            relay.to(child)
            codes.append(await child.wait())
    finally:
        await broker.stop()
    return next((code for code in codes if code), 0)


def write_scorecard(trace: Path, form: str, name: str, file: Path | None = None) -> int:
    """Print what a trace shows, or write it to a file; the exit code that tells it."""
    from shim.conformance.scorecard import FORMS, holds, scorecard  # it reads schemas

    with Progress("reading", trace_bytes(trace)) as progress:
        results = scorecard(trace, progress)
    if not any(one.sights for one in results):
        print("kafka-shim conformance: the client sent no request", file=sys.stderr)
        return EXIT_FAILURE
    text = FORMS[form](results, name)
    if file is None:
        print(text, end="")
    else:
        file.write_text(text, encoding="utf-8")
    return 0 if holds(results) else EXIT_MISMATCH


def _list(is_json: bool) -> int:
    from shim.conformance.scorecard import CATALOGUE

    if is_json:
        names = ("id", "kip", "text", "seen")
        rows = [{name: getattr(one, name) for name in names} for one in CATALOGUE]
        print(json.dumps(rows, indent=2))
        return 0
    for one in CATALOGUE:
        kip = "" if one.kip is None else f"KIP-{one.kip}"
        print(f"{one.id:<28} {kip:<8} {one.text}\n{'':<37} {one.seen}")
    return 0
