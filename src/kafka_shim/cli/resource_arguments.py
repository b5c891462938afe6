"""The option that names the resources to check."""

import argparse

from kafka_shim.authorizer.acl_names import AclTextError, parse_resource
from kafka_shim.cli.usage import UsageError
from kafka_shim.protocol.enums import ResourceType

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
