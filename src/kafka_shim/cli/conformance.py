"""`kafka-shim conformance`: score the behaviour of a client."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.cli import (
    EXIT_FAILURE,
    EXIT_MISMATCH,
    conformance_report,
    conformance_suite,
)
from kafka_shim.cli.access_notes import print_access_notes
from kafka_shim.cli.conformance_report import OUTPUTS
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.record_options import recording_exit_code
from kafka_shim.cli.trace_source import require_path_with_trace
from kafka_shim.cli.usage import split_command
from kafka_shim.shim.broker import BOOTSTRAP, Broker
from kafka_shim.shim.config import Config
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.configuration import config_from_arguments
from kafka_shim.shim.settings.option_arguments import add_broker_arguments
from kafka_shim.shim.signals import SignalForwarder
from kafka_shim.text.logs import configure_logging
from kafka_shim.text.message_text import escaped
from kafka_shim.trace_format.segments import trace_size_in_bytes

if TYPE_CHECKING:
    from kafka_shim.conformance.scorecard.scorecard import Scorecard

DESCRIPTION = """\
Test a Kafka client (docs/guides/conformance.md). `suite` puts the client into prepared situations.
It needs a driver, a small program that operates the client. `report` shows the results of `suite`.
`run` and `check` need no driver. They print a scorecard, a list of behaviours of the Kafka
protocol. The result of a behaviour is passed, failed or not exercised.

  kafka-shim conformance run --client-command "python my_client.py"
  kafka-shim conformance check TRACE --format junit

Exit codes of run and check: 0 no behaviour of level `must` failed, 3 one failed or the client was
denied everything, 2 usage error (an invalid option or trace, a client that does not start), 1 the
client sent nothing.
"""

RUN = "Run a client against a new broker and score what it sends"
CHECK = "Score an existing trace"
LIST = "List all behaviours that a scorecard judges"
PLACEHOLDER = "{bootstrap}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    suite = verbs.add_parser("suite", help="Put a client into prepared situations and judge it")
    conformance_suite.add_arguments(suite)
    report = verbs.add_parser("report", help="Turn reports of the suite into a page or a baseline")
    conformance_report.add_arguments(report)
    run_verb = verbs.add_parser("run", help=RUN, description=RUN)
    run_verb.add_argument(
        "--client-command",
        required=True,
        action="append",
        metavar="COMMAND",
        help=f"Client to run, with ${BOOTSTRAP} set and `{PLACEHOLDER}` replaced by the address;"
        " its output goes to standard error, and it must end by itself (repeatable: the commands"
        " run one after the other)",
    )
    run_verb.add_argument(
        "--record", type=Path, metavar="DIR", help="Keep the trace in this folder"
    )
    add_broker_arguments(run_verb)
    check = verbs.add_parser("check", help=CHECK, description=CHECK)
    check.add_argument(
        "trace", type=Path, metavar="TRACE", help="Folder of a trace, or one segment"
    )
    for verb in (run_verb, check):
        verb.add_argument(
            "--name",
            default="client",
            metavar="NAME",
            help="Name of the client on the scorecard (default: client)",
        )
        form = verb.add_mutually_exclusive_group()
        form.add_argument(
            "--format",
            choices=OUTPUTS,
            default=OUTPUTS[0],
            help="Format of the scorecard (default: text)",
        )
        form.add_argument(
            "--json",
            action="store_const",
            const="json",
            dest="format",
            help="Same as --format json",
        )
    listing = verbs.add_parser("list", help=LIST, description=LIST)
    listing.add_argument("--json", action="store_true", help="Print one JSON array")


def run(args: argparse.Namespace) -> int:
    if args.verb == "suite":
        return conformance_suite.run(args)
    if args.verb == "report":
        return conformance_report.run(args)
    if args.verb == "list":
        return _print_behaviour_catalogue(args.json)
    if args.verb == "check":
        return write_scorecard(require_path_with_trace(args.trace), args.format, args.name)
    config = config_from_arguments(args)
    configure_logging("error", config.log_format)
    if args.record is not None:
        return _run_scored_clients(args, config, args.record)
    with tempfile.TemporaryDirectory() as folder:
        return _run_scored_clients(args, config, Path(folder))


def _run_scored_clients(args: argparse.Namespace, config: Config, folder: Path) -> int:
    commands = [split_command(command, "--client-command") for command in args.client_command]
    broker = Broker(config)
    print_access_notes(broker)
    broker.start_recording(folder)
    code = asyncio.run(_run_clients(broker, commands))
    if code != 0:
        _print_message(f"the client ended with {code}")
    return recording_exit_code(broker.recorder) or write_scorecard(folder, args.format, args.name)


async def _run_clients(broker: Broker, commands: list[list[str]]) -> int:
    """Run the commands one after the other; return the first exit code other than 0, else 0."""
    await broker.start()
    codes = []
    relay = SignalForwarder()
    try:
        bootstrap = broker.bootstrap_servers()
        for command in commands:
            words = [word.replace(PLACEHOLDER, bootstrap) for word in command]
            environment = os.environ | broker.environment_for_clients()
            try:
                child = await asyncio.create_subprocess_exec(
                    *words, env=environment, stdin=asyncio.subprocess.DEVNULL, stdout=sys.stderr
                )
            except OSError as error:
                raise ConfigError(f"cannot start `{words[0]}`: {error.strerror}") from error
            relay.forward_to(child)
            codes.append(await child.wait())
    finally:
        await broker.stop()
    return next((code for code in codes if code), 0)


def write_scorecard(
    trace: Path, output_format: str, client_name: str, file: Path | None = None
) -> int:
    """Print the scorecard of a trace, or write it to a file; return the exit code."""
    # the scorecard reads schemas, which takes time
    from kafka_shim.conformance.scorecard.scorecard import FORMS, evaluate_trace

    with ProgressBar("reading", trace_size_in_bytes(trace)) as progress:
        card = evaluate_trace(trace, progress)
    if not any(result.occurrences for result in card.results):
        _print_message("the client sent no request")
        return EXIT_FAILURE
    text = FORMS[output_format](card, client_name)
    if file is None:
        print(text, end="")
    else:
        file.write_text(text, encoding="utf-8")
    if card.results_prevented_by_denial or card.decisions.are_all_denials:
        _print_message(_denial_note(card))
    return 0 if card.is_passing else EXIT_MISMATCH


def _denial_note(card: "Scorecard") -> str:
    """Return what the client was denied, what it could therefore not exercise, and the remedy."""
    denials = list(card.decisions.denied)
    first = (
        next((result.preventing_denial for result in card.results_prevented_by_denial), None)
        or denials[0]
    )
    much = "everything" if card.decisions.are_all_denials else "what it asked for"
    others = f" and {len(denials) - 1} more" if len(denials) > 1 else ""
    text = f"the client was denied {much} ({first.principal}: {first}{others})"
    if card.results_prevented_by_denial:
        names = ", ".join(result.behaviour.id for result in card.results_prevented_by_denial)
        text += f", so this was not exercised: {names}"
    return f"{text}; start the broker with --super-user {first.principal}, or --acls FILE"


def _print_message(text: str) -> None:
    print(f"kafka-shim conformance: {escaped(text)}", file=sys.stderr)


def _print_behaviour_catalogue(is_json: bool) -> int:
    from kafka_shim.conformance.scorecard.scorecard import CATALOGUE

    if is_json:
        rows = [
            {
                "id": behaviour.id,
                "kip": behaviour.kip,
                "level": behaviour.level.value,
                "text": behaviour.text,
                "seen": behaviour.detection,
            }
            for behaviour in CATALOGUE
        ]
        print(json.dumps(rows, indent=2))
        return 0
    for behaviour in CATALOGUE:
        kip = "" if behaviour.kip is None else f"KIP-{behaviour.kip}"
        print(f"{behaviour.id:<28} {kip:<8} {behaviour.text}\n{'':<37} {behaviour.detection}")
    return 0
