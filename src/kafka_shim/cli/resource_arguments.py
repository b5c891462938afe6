"""Options and arguments that name the resources to check."""

import argparse

from kafka_shim.protocol.enums import CLUSTER_NAME, ResourceType

OPTION_BY_RESOURCE_TYPE = {
    ResourceType.TOPIC: "topic",
    ResourceType.GROUP: "group",
    ResourceType.TRANSACTIONAL_ID: "transactional_id",
    ResourceType.DELEGATION_TOKEN: "delegation_token",
    ResourceType.USER: "user_principal",
}
"""Resource type -> where argparse keeps the names given."""

_HELP = {
    "group": "Id of a group",
    "transactional_id": "A transactional id",
    "delegation_token": "Id of a delegation token",
    "user_principal": "User (Type:name) whose delegation tokens are accessed",
}

ResourceNamesByType = dict[ResourceType, tuple[str, ...]]


def add_resource_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("Resources (repeatable)")
    for dest in OPTION_BY_RESOURCE_TYPE.values():
        option, kind = dest.replace("_", "-"), dest.replace("_", " ")
        help_text = _HELP.get(dest, f"Name of a {kind}")
        group.add_argument(
            f"--{option}", action="append", default=[], metavar="NAME", help=help_text
        )
    group.add_argument("--cluster", action="store_true", help="The cluster itself")


def resource_names_by_type(args: argparse.Namespace) -> ResourceNamesByType:
    """Return the resource names in the arguments, by type."""
    names: ResourceNamesByType = {
        kind: tuple(getattr(args, dest)) for kind, dest in OPTION_BY_RESOURCE_TYPE.items()
    }
    if args.cluster:
        names[ResourceType.CLUSTER] = (CLUSTER_NAME,)
    return {kind: found for kind, found in names.items() if found}
