"""The command line: one module a command, imported only when it is the one asked for."""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from shim.errors import ConfigError

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_MISMATCH = 3
"""An assertion, comparison or conformance check did not hold."""

COMMANDS = {
    "serve": "start a broker and keep it running",
    "run": "start a broker, run a command against it, pass its exit code on",
    "acls": "list, add and remove ACLs, as kafka-acls does",
    "explain": "why something is allowed or denied, and what would allow it",
    "who-can": "who may do something, and by which ACL",
    "principal": "what principal mapping rules make of a certificate's name",
    "proxy": "record what clients do on a real cluster",
    "replay": "send a recorded run to a broker and compare the answers",
    "conformance": "a scorecard of what a client does on the wire",
    "least-acls": "which ACLs a program needs, learned by running it, and proven",
    "trace": "what is in a trace: totals, entries, those that fit",
    "requirements": "which permissions each API needs, by release",
    "pipeline": "what an ACL change would break, unused ACLs, least ACLs: from traces, on Spark",
}

_ELSEWHERE = {"pipeline": "pipeline.cli"}
"""Commands of packages that this one must not import before they are asked for."""


class Command(Protocol):
    """A command module: its options, and what it does."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of `kafka-shim`; returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(
        prog="kafka-shim", description="a Kafka broker for tests, exact about permissions"
    )
    # with `prog`, argparse need not look at the width of the terminal, which takes a while
    subparsers = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", prog=parser.prog
    )
    asked = next((word for word in words if word in COMMANDS), None)
    for name, summary in COMMANDS.items():
        if asked not in (None, name):
            continue
        subparser = subparsers.add_parser(name, help=summary, description=summary)
        if name == asked:
            load_command(name).add_arguments(subparser)
    args = parser.parse_args(words)
    try:
        return load_command(args.command).run(args)
    except ConfigError as error:
        print(f"kafka-shim: {error}", file=sys.stderr)
        return EXIT_FAILURE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough, as in `... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def load_command(name: str) -> Command:
    place = _ELSEWHERE.get(name) or f"shim.cli.{name.replace('-', '_')}"
    module = importlib.import_module(place)
    return cast("Command", module)
