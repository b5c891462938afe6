"""`kafka-shim policy ...`: test, compare, review and apply ACLs in files."""

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.cli.policy import (
    apply,
    check,
    compact,
    diff,
    expect,
    lint,
    matrix,
    plan,
    schema,
    verify,
)
from kafka_shim.cli.policy.relation_commands import RelationCommand
from kafka_shim.cli.usage import UsageError, check_principal_option
from kafka_shim.client.client import ClientError
from kafka_shim.policy.relations import Relation


class _SubcommandModule(Protocol):
    HELP: str
    DESCRIPTION: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None: ...
    def run(self, args: argparse.Namespace) -> int: ...


VERBS: dict[str, _SubcommandModule] = {
    "test": expect,
    "diff": diff,
    "lint": lint,
    "matrix": matrix,
    "plan": plan,
    "apply": apply,
    **{relation.value: RelationCommand(relation) for relation in Relation},
    "verify": verify,
    "check": check,
    "compact": compact,
    "schema": schema,
}

SUMMARY = """\
Test, compare, review and apply ACLs that are kept in files, in any format of `kafka-shim acls
--format`. A folder stands for all files in it.

Exit codes: 0 the check passed, 3 it failed, 2 usage error (an invalid option or file), 1 the broker
failed.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = SUMMARY
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    for name, module in VERBS.items():
        verb = verbs.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add_arguments(verb)


def run(args: argparse.Namespace) -> int:
    """Run the verb and return its exit code; 2 for input that cannot be read or parsed."""
    try:
        for principal in vars(args).get("super_user", ()):
            check_principal_option("--super-user", principal)
        with _without_garbage_collection():
            return VERBS[args.verb].run(args)
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
