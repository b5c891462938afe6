"""`kafka-shim conformance run|check|list`: a scorecard of what a client does on the wire."""

import argparse
import asyncio
import os
import shlex
import sys
import tempfile
from pathlib import Path

from shim.broker import Broker
from shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.cli.scorecard_forms import OUTPUTS
from shim.cli.signals import on_stop
from shim.config import Config
from shim.errors import ConfigError
from shim.logs import set_up_logs

DESCRIPTION = """\
Looks at what a client sends and makes a scorecard of it: which behaviours of the Kafka protocol,
of its ACLs and permissions above all, are right, wrong, or did not come up (docs/conformance.md).

  kafka-shim conformance run --client-command "python my_client.py"
  kafka-shim conformance check TRACE --output junit

Exit codes: 0 nothing failed, 1 the client could not be run or sent nothing, 3 something failed.
"""
BOOTSTRAP = "KAFKA_BOOTSTRAP_SERVERS"
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
        verb.add_argument("--output", choices=OUTPUTS, default="text", help="default: text")
    verbs.add_parser("list", help="the catalogue of behaviours")


def run(args: argparse.Namespace) -> int:
    if args.verb == "list":
        return _list()
    if args.verb == "check":
        if not args.trace.exists():
            raise ConfigError(f"`{args.trace}` does not exist")
        return write_scorecard(args.trace, args.output, args.name)
    config = config_from(args)
    set_up_logs("error", config.log_format)
    if args.record is not None:
        return _run(args, config, args.record)
    with tempfile.TemporaryDirectory() as folder:
        return _run(args, config, Path(folder))


def _run(args: argparse.Namespace, config: Config, folder: Path) -> int:
    code = asyncio.run(_clients(config, args.client_command, folder))
    if code != 0:
        print(f"kafka-shim conformance: the client ended with {code}", file=sys.stderr)
    return write_scorecard(folder, args.output, args.name)


async def _clients(config: Config, commands: list[str], folder: Path) -> int:
    """Run the commands one after the other; the first exit code that is not 0."""
    broker = Broker(config)
    broker.record(folder)
    await broker.start()
    codes = []
    try:
        bootstrap = broker.bootstrap_servers()
        for command in commands:
            words = shlex.split(command.replace(PLACEHOLDER, bootstrap))
            environment = os.environ | {BOOTSTRAP: bootstrap}
            for listener in config.listeners:
                name = f"{BOOTSTRAP}_{listener.name}"
                environment[name] = broker.bootstrap_servers(listener.name)
            try:
                child = await asyncio.create_subprocess_exec(
                    *words, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr
                )
            except OSError as error:
                raise ConfigError(f"cannot start `{command}`: {error.strerror}") from error
            on_stop(child.send_signal)
            codes.append(await child.wait())
    finally:
        await broker.stop()
    return next((code for code in codes if code), 0)


def write_scorecard(trace: Path, form: str, name: str, file: Path | None = None) -> int:
    """Print what a trace shows, or write it to a file; the exit code that tells it."""
    from shim.conformance.scorecard import FORMS, holds, scorecard  # it reads schemas

    results = scorecard(trace)
    if not any(one.sights for one in results):
        print("kafka-shim conformance: the client sent no request", file=sys.stderr)
        return EXIT_FAILURE
    text = FORMS[form](results, name)
    if file is None:
        print(text, end="")
    else:
        file.write_text(text, encoding="utf-8")
    return 0 if holds(results) else EXIT_MISMATCH


def _list() -> int:
    from shim.conformance.scorecard import CATALOGUE

    for one in CATALOGUE:
        kip = "" if one.kip is None else f"KIP-{one.kip}"
        print(f"{one.id:<28} {kip:<8} {one.text}\n{'':<37} {one.seen}")
    return 0
