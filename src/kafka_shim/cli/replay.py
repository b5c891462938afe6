"""`kafka-shim replay TRACE --target HOST:PORT`: send the requests again, compare the responses."""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kafka_shim.cli import EXIT_FAILURE, EXIT_MISMATCH
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.cli.trace_source import print_damaged_parts, require_path_with_trace
from kafka_shim.cli.usage import parse_api_name, run_reporting_errors
from kafka_shim.client.config import read_client_config
from kafka_shim.shim.config import parse_address
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.settings.option_values import split_pair
from kafka_shim.shim.settings.options import option_named
from kafka_shim.text.message_text import sanitize_result_lines
from kafka_shim.trace_format.segments import trace_size_in_bytes
from kafka_shim.traces.replay.events import Recording, TraceEvents
from kafka_shim.traces.replay.recorded_facts import RecordedFacts
from kafka_shim.traces.replay.replay_state import state_path
from kafka_shim.traces.replay.replayer import Replayer
from kafka_shim.traces.replay.report import ReplayReport, report_lines
from kafka_shim.traces.replay.target import (
    OnUnreplayableRequest,
    Target,
    UnreplayableRequestError,
)

EXIT_INTERRUPTED = 130
TARGET_CONFIG = "--target-config"
NUMBER_MAX = 1_000_000
"""Upper limit of --timeout and --speed; larger numbers are rejected as typing errors."""

DESCRIPTION = """\
Send the requests of a trace to a broker, in the recorded order, and compare its responses with the
recorded ones. Ids, offsets, times, texts and addresses are not compared (docs/guides/replay.md).

  kafka-shim replay trace --target 127.0.0.1:9092
  kafka-shim replay trace --target 127.0.0.1:9093 --user alice:alice-secret --on-miss skip --json

All requests of TRACE are sent; to send a part, name one segment. In requests, ids that brokers
generate (of producers, members, topics and so on) are replaced by the target's ids.

Exit codes: 0 all responses agree, 3 some differ or are missing, 2 usage error, 1 the target
cannot be reached, 130 interrupted (Ctrl-C or SIGTERM; the report is printed).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument
    add("trace", type=Path, metavar="TRACE", help="Folder of a trace, or one segment")
    add = parser.add_argument_group("Target").add_argument
    add("--target", required=True, metavar="HOST:PORT", help="Broker to send the requests to")
    add(
        TARGET_CONFIG,
        metavar="FILE",
        help="Client properties for the target, as for --command-config of Kafka's tools: TLS, a"
        " client certificate, and the user of connections that did not authenticate when recorded",
    )
    add(
        "--route",
        action="append",
        default=[],
        metavar="NAME=HOST:PORT",
        help="Send connections of this recorded listener or broker id to this address (repeatable)",
    )
    add(
        "--user",
        action="append",
        default=[],
        metavar="NAME:PASSWORD",
        help="Authenticate with this password wherever a client in the trace authenticated as NAME"
        " (repeatable)",
    )
    add("--no-login", action="store_true", help="Skip authentications, for a target without SASL")
    pace = parser.add_argument_group("Pace and failures")
    _add_pace_arguments(pace)
    _add_resume_argument(pace)
    _add_output_arguments(parser.add_argument_group("Output"))


def _add_pace_arguments(group: argparse._ArgumentGroup) -> None:
    """Add the options for pace, failures and ignored differences."""
    add = group.add_argument
    add("--timeout", default="15", metavar="S", help="Seconds to wait for a response (default: 15)")
    add(
        "--speed",
        default="max",
        metavar="N|max",
        help="Pace: 1 as recorded, 10 ten times faster, max without pauses (default: max)",
    )
    add(
        "--on-miss",
        choices=[choice.value for choice in OnUnreplayableRequest],
        default=OnUnreplayableRequest.FAIL.value,
        help="What to do with requests that cannot be replayed or get no response: fail stops, skip"
        " reports them and continues, record also writes a new trace (default: fail)",
    )
    add(
        "--ignore",
        action="append",
        default=[],
        metavar="API[.FIELD]",
        help="Known difference to ignore, as named in the report: Fetch, Fetch.throttle_time_ms"
        " (repeatable)",
    )


def _add_resume_argument(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--resume",
        action="store_true",
        help="Go on after a replay that was interrupted, with the file beside the trace"
        " (TRACE.resume)",
    )


def _add_output_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--record",
        type=Path,
        metavar="DIR",
        help="Folder for a new trace with the requests sent and the target's responses (requires"
        " --on-miss record)",
    )
    group.add_argument("--json", action="store_true", help="Print the report as one JSON object")


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _replay)


def _replay(args: argparse.Namespace) -> int:
    on_miss = OnUnreplayableRequest(args.on_miss)
    if (on_miss is OnUnreplayableRequest.RECORD) != (args.record is not None):
        raise ConfigError("--on-miss record and --record DIR require each other")
    target = Target(
        address=parse_address(args.target, "--target"),
        routes=dict(_parse_route(text) for text in args.route),
        users=dict(split_pair(text, option_named("user")) for text in args.user),
        speed=_parse_speed(args.speed),
        timeout_s=_parse_positive_number(args.timeout, "--timeout", "a number above 0"),
        on_miss=on_miss,
        replays_authentication=not args.no_login,
        ignored=frozenset(_parse_ignored_difference(text) for text in args.ignore),
        record=args.record,
        config=read_client_config(args.target_config, TARGET_CONFIG),
    )
    require_path_with_trace(args.trace)
    with ProgressBar("reading", trace_size_in_bytes(args.trace)) as progress:
        first = TraceEvents(args.trace, progress)
        recording_facts = RecordedFacts(first)
    print_damaged_parts(first.damage)
    if not recording_facts.count:
        print_command_error(args, f"the trace `{args.trace}` is empty")
        return EXIT_FAILURE
    replayer = Replayer(Recording(TraceEvents(args.trace), first.damage), target, recording_facts)
    resume_path = state_path(args.trace)
    if args.resume:
        replayer.resume(resume_path)
    is_interrupted = False
    try:
        with _sigterm_as_interrupt(), ProgressBar("replaying", recording_facts.count) as bar:
            replayer.replay(lambda done: bar(done, _progress_note(replayer.report)))
    except UnreplayableRequestError as error:
        print_command_error(args, str(error))
    except KeyboardInterrupt:
        is_interrupted = True
        _write_state(replayer, resume_path)
    else:
        resume_path.unlink(missing_ok=True)
    if args.json:
        print(json.dumps(replayer.report.json_fields(), indent=2))
    else:
        print(sanitize_result_lines(report_lines(replayer.report)))
    if is_interrupted:
        return EXIT_INTERRUPTED
    if not replayer.report.responses and replayer.report.unreplayable_count:
        return EXIT_FAILURE  # the target is unreachable
    return 0 if replayer.report.matches_recording else EXIT_MISMATCH


def _write_state(replayer: Replayer, path: Path) -> None:
    try:
        replayer.write_state(path)
    except OSError as error:
        print(f"`{path}` cannot be written: {error.strerror}; --resume needs it", file=sys.stderr)
    else:
        print(f"--resume goes on with `{path}`", file=sys.stderr)


def _progress_note(report: ReplayReport) -> str:
    """Return what was sent, the time in the recording, and the number of differences."""
    minutes, seconds = divmod(int(report.recorded_seconds), 60)
    found = report.differing_responses
    return (
        f"{report.requests:,} requests, {minutes}:{seconds:02} of the recording, {found:,} differ"
    )


@contextmanager
def _sigterm_as_interrupt() -> Iterator[None]:
    """Let SIGTERM end the replay as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _parse_route(text: str) -> tuple[str, tuple[str, int]]:
    name, equals, address = text.partition("=")
    if not equals or not name:
        raise ConfigError(f"--route `{text}`: expected LISTENER=HOST:PORT or ID=HOST:PORT")
    return name, parse_address(address, f"--route {name}")


def _parse_ignored_difference(text: str) -> str:
    """Return `API` or `API.FIELD` in the spelling of reports. Raise UsageError for an unknown
    API.
    """
    name, dot, field = text.partition(".")
    return f"{parse_api_name(name, '--ignore').wire_name}{dot}{field}"


def _parse_speed(text: str) -> float | None:
    return (
        None
        if text == "max"
        else _parse_positive_number(text, "--speed", "a number above 0, or max")
    )


def _parse_positive_number(text: str, option: str, expected: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= NUMBER_MAX:
        raise ConfigError(f"{option} `{text}`: expected {expected}")
    return number
