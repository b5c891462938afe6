"""`kafka-shim least-acls --from-log`: the ACLs that a broker's log shows to be needed."""

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from kafka_shim.cli import EXIT_MISMATCH, pipeline
from kafka_shim.cli.command_parser import CommandParser
from kafka_shim.cli.trace_import import FORMS, add_import_arguments, run_import

LOG_FORMATS = tuple(name for name in FORMS if name != "pcap")
DEFAULT_LOG_FORMAT = "audit-log"
_JOB = "least-acls"


def add_log_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from-log",
        action="append",
        metavar="FILE",
        help="Run no program, but read a broker's log or a folder of logs; - is standard input"
        " (repeatable)",
    )
    parser.add_argument(
        "--input-format",
        choices=LOG_FORMATS,
        default=DEFAULT_LOG_FORMAT,
        metavar="FORMAT",
        help=f"Format of --from-log: {', '.join(LOG_FORMATS)} (default: {DEFAULT_LOG_FORMAT})",
    )


def print_acls_for_logs(args: argparse.Namespace) -> int:
    """Import the logs into a temporary trace, and print the fewest ACLs for what they allowed.

    Return 3 if too much of a log could not be read; the ACLs are those of the rest.
    """
    with tempfile.TemporaryDirectory() as folder:
        trace = str(Path(folder, "trace"))
        words = [*args.from_log, trace, "--input-format", args.input_format]
        code = run_import(_parse_command_words(args, _add_import_arguments, words))
        if code not in (0, EXIT_MISMATCH):
            return code
        acl_format = "commands" if args.format == "text" else args.format
        words = [_JOB, trace, "--format", acl_format, "--engine", "duckdb"]
        return pipeline.run_jobs(_parse_command_words(args, pipeline.add_arguments, words)) or code


def _parse_command_words(
    args: argparse.Namespace,
    add_arguments: Callable[[argparse.ArgumentParser], None],
    words: Sequence[str],
) -> argparse.Namespace:
    parser = CommandParser(prog=args.program)
    add_arguments(parser)
    return parser.parse_args(words)


def _add_import_arguments(parser: argparse.ArgumentParser) -> None:
    add_import_arguments(parser)
    parser.add_argument("trace", type=Path)
