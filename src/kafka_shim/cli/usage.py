"""Parse values of options; end commands after usage errors and failures of the broker."""

import argparse
import difflib
import shlex
from collections.abc import Callable

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation, parse_resource
from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.model import is_principal
from kafka_shim.authorizer.networks import parse_client_address
from kafka_shim.cli import EXIT_FAILURE, EXIT_USAGE
from kafka_shim.cli.error_output import print_command_error
from kafka_shim.client.client import ClientError
from kafka_shim.protocol.api_versions import parse_minor_release
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.shim.errors import ConfigError


class UsageError(Exception):
    """Invalid options or an invalid combination of them; the text is for the user."""


def run_reporting_errors(
    args: argparse.Namespace, action: Callable[[argparse.Namespace], int]
) -> int:
    """Return the action's exit code: 1 after a failure of the broker, 2 after a usage error.

    `args.exit_with_usage_error` is a method of the parser (cli/command_parser.py).
    """
    try:
        return action(args)
    except UsageError as error:
        args.exit_with_usage_error(str(error))  # exits
        return EXIT_USAGE
    except ClientError as error:
        print_command_error(args, str(error))
        return EXIT_FAILURE


def parse_client_host(text: str) -> str:
    """Return the value of --host as a broker writes it. Raise UsageError if it is no address."""
    try:
        return parse_client_address(text)
    except AclTextError as error:
        raise UsageError(f"--host: {error}") from error


def parse_supported_operation(text: str, resource_type: ResourceType) -> Operation:
    """Return an operation that this type of resource supports. Raise UsageError for others."""
    try:
        operation = parse_operation(text)
    except AclTextError as error:
        raise UsageError(str(error)) from error
    supported = supported_operations(resource_type)
    if operation not in supported:
        names = ", ".join(known.name for known in supported)
        raise UsageError(
            f"{resource_type.name} has no operation {operation.name}; it supports {names}"
        )
    return operation


def parse_api_name(text: str, option: str = "--api") -> ApiKey:
    """Return an API by its name, in any spelling, or by its key."""
    if text.isascii() and text.isdigit() and int(text) in set(ApiKey):
        return ApiKey(int(text))
    bare = {key.name.replace("_", "").lower(): key for key in ApiKey}
    normalized = text.replace("_", "").replace("-", "").lower()
    if normalized in bare:
        return bare[normalized]
    close = [bare[name].wire_name for name in difflib.get_close_matches(normalized, bare)]
    names = " or ".join(f"`{name}`" for name in close)
    advice = f"did you mean {names}?" if close else "see `kafka-shim requirements`"
    raise UsageError(f"{option}: unknown Kafka API `{text}`; {advice}")


def release_argument(text: str) -> str:
    """Return a release such as 2.8 or 4.3.1 in the form of RELEASES: a `type` of options."""
    try:
        return parse_minor_release(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def check_principal_option(option: str, principal: str) -> None:
    if not is_principal(principal):
        raise UsageError(f"{option} `{principal}`: expected Type:name, as in User:alice")


def split_command(command: str, option: str) -> list[str]:
    """Return the program and its arguments, split as a shell would.

    Raise ConfigError for a command that cannot be split.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{option} `{command}`: {str(error).lower()}") from error
    if not words:
        raise ConfigError(f"{option} is empty: expected a program and its arguments")
    return words


ResourceNamesByType = dict[ResourceType, tuple[str, ...]]


def add_resource_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --resource."""
    parser.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="TYPE:NAME",
        help="Resource: topic:NAME, group:NAME, transactional-id:NAME, delegation-token:NAME,"
        " user:Type:name or cluster (repeatable)",
    )


def resource_names_by_type(args: argparse.Namespace) -> ResourceNamesByType:
    """Return the resource names in the arguments, by type. Raise UsageError for anything else."""
    names: ResourceNamesByType = {}
    for text in args.resource:
        try:
            kind, name = parse_resource(text)
        except AclTextError as error:
            raise UsageError(str(error)) from error
        names[kind] = (*names.get(kind, ()), name)
    return names


def resource_option_text(kind: ResourceType) -> str:
    """Return the option that names a resource of a type, for messages."""
    word = kind.name.lower().replace("_", "-")
    return f"--resource {word}" + ("" if kind is ResourceType.CLUSTER else ":NAME")
