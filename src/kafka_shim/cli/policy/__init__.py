"""`kafka-shim policy ...`: test, compare, review and apply ACLs in files."""

import argparse
import gc
import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE
from kafka_shim.cli.command_parser import CommandParser
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.cli.usage import UsageError, check_principal_option
from kafka_shim.client.client import ClientError


class _VerbModule(Protocol):
    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


VERBS = {
    "test": "Check expectations, such as `bob may not read payments`, against ACLs",
    "diff": "Show who gains and who loses which access between two sets of ACLs",
    "lint": "Find suspicious ACLs: shadowed, redundant, without effect, for everybody ...",
    "matrix": "Print a table of who can do what on which resource: text, CSV or HTML",
    "plan": "Print the changes that give a cluster the ACLs of files; save or apply them",
    "apply": "Carry out a saved plan (`plan --out`) in a cluster",
    "equivalent": "Prove that A and B decide every access alike",
    "implies": "Prove that everything that A allows, B allows too",
    "disjoint": "Prove that no access is allowed by both A and B",
    "check": "Fail if a change grants access that it must not grant",
    "compact": "Print fewer ACLs that decide every access alike",
    "schema": "Print the JSON schema of a file, or of what a command prints as JSON",
}
_MODULES = {
    "test": "expect",
    **dict.fromkeys(("equivalent", "implies", "disjoint"), "relation_commands"),
}
"""Modules of verbs with another name than the verb; each is imported only when it runs."""

SUMMARY = """\
Test, compare, review and apply ACLs that are kept in files, in any format of `kafka-shim acls
--format`. A folder stands for all files in it, and - for standard input.

Exit codes: 0 the check passed, 3 it failed, 2 usage error (an invalid option or file), 1 the broker
failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = SUMMARY
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    words = parser.words if isinstance(parser, CommandParser) else None
    chosen = VERBS if words is None else [word for word in words if word in VERBS][:1]
    for name, summary in VERBS.items():
        verb = verbs.add_parser(name, help=summary, description=summary)
        if name in chosen:
            _import_verb_module(name).add_arguments(verb)


def _import_verb_module(name: str) -> _VerbModule:
    module = importlib.import_module(f"{__name__}.{_MODULES.get(name, name)}")
    return cast("_VerbModule", module)


def run(args: argparse.Namespace) -> int:
    """Run the verb and return its exit code; 2 for input that cannot be read or parsed."""
    try:
        for principal in vars(args).get("super_user", ()):
            check_principal_option("--super-user", principal)
        with _without_garbage_collection():
            return _import_verb_module(args.verb).run(args)
    except UsageError as error:
        args.exit_with_usage_error(str(error))  # exits
    except ClientError as error:
        print_command_error(args, str(error))
        return EXIT_FAILURE
    except OSError as error:
        place = "" if error.filename is None else f"`{error.filename}`: "
        print_command_error(args, f"{place}{error.strerror or error}")
    return EXIT_USAGE


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Turn the search for reference cycles off.

    ACLs have none, and the search takes a tenth of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
