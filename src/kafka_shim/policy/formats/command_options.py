"""The options of kafka-acls that describe ACLs, and the ACLs and filters that they mean.

The rules are those of Kafka's AclCommand (4.3): its shorthands, defaults and errors.
"""

import argparse
from collections.abc import Iterable
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError, parse_operation
from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.acl_tool_releases import NEWEST_TOOL, AclToolOutput
from kafka_shim.authorizer.model import WILDCARD, Acl, AclFilter
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType


class _StoreOnce(argparse.Action):
    """Store a value; kafka-acls refuses a second one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        if getattr(namespace, self.dest) is not self.default:
            parser.error(f"{option_string} is given several times")
        setattr(namespace, self.dest, values)


def add_action_options(group: argparse._ArgumentGroup) -> None:
    """Add `--add`, `--remove` and `--list`."""
    group.add_argument("--list", action="store_true", help="Print the ACLs of the resources")
    group.add_argument("--add", action="store_true", help="Add ACLs to the resources")
    group.add_argument("--remove", action="store_true", help="Remove ACLs from the resources")


def add_resource_options(group: argparse._ArgumentGroup) -> None:
    """Add the options that name resources, and the pattern type of the names."""
    for option, description in (
        ("--topic", "Topic name"),
        ("--group", "Group id"),
        ("--transactional-id", "Transactional id"),
        ("--delegation-token", "Delegation token id"),
        ("--user-principal", "User (Type:name) whose delegation tokens the ACL is about"),
    ):
        name = option.removeprefix("--").upper()
        group.add_argument(
            option,
            action="append",
            default=[],
            metavar=name if name in ("TOPIC", "GROUP") else "NAME",
            help=f"{description}, or * for all (repeatable)",
        )
    group.add_argument(
        "--cluster",
        nargs="?",
        const=True,
        default=False,
        metavar="NAME",
        help="The cluster itself; a name is ignored",
    )
    group.add_argument(
        "--resource-pattern-type",
        action=_StoreOnce,
        default="literal",
        type=str.lower,
        choices=("literal", "prefixed", "any", "match"),
        help="Pattern type of the resource names; `any` and `match` only with --list and --remove"
        " (default: literal)",
    )


def add_grant_options(group: argparse._ArgumentGroup) -> None:
    """Add the options for operations, principals and hosts, and the shorthands for clients."""
    group.add_argument(
        "--operation",
        action="append",
        default=[],
        metavar="OPERATION",
        help="Read, Write, Create, Delete, Alter, Describe, ClusterAction, DescribeConfigs,"
        " AlterConfigs, IdempotentWrite, CreateTokens, DescribeTokens, TwoPhaseCommit"
        " (repeatable; default: All)",
    )
    for option, metavar, description in (
        ("--allow-principal", "User:x", "Principal to allow; User:* is everyone"),
        ("--deny-principal", "User:x", "Principal to deny, even if another ACL allows it"),
        ("--allow-host", "IP", "Host that the allowed principals connect from; any by default"),
        ("--deny-host", "IP", "Host that the denied principals connect from; any by default"),
        ("--principal", "User:x", "With --list: print only the ACLs of this principal"),
    ):
        group.add_argument(
            option, action="append", default=[], metavar=metavar, help=f"{description} (repeatable)"
        )
    group.add_argument(
        "--producer", action="store_true", help="Shorthand for Write, Describe and Create on topics"
    )
    group.add_argument(
        "--consumer",
        action="store_true",
        help="Shorthand for Read and Describe on topics, and Read on groups",
    )
    group.add_argument(
        "--idempotent",
        action="store_true",
        help="With --producer: also IdempotentWrite on the cluster",
    )


AclsByResourceFilter = dict[AclFilter, list[Acl]]
"""Resource filters with the ACLs meant for each; no ACLs: every one of the resource."""

PRODUCER = (Operation.WRITE, Operation.DESCRIBE)
CONSUMER_TOPIC = (Operation.READ, Operation.DESCRIBE)
CONSUMER_GROUP = (Operation.READ,)

NO_RESOURCE = (
    "You must provide at least one resource: --topic <topic> or --cluster or --group <group>"
    " or --delegation-token <Delegation Token ID>"
)


def check_option_combination(args: argparse.Namespace) -> None:
    """Raise the errors that AclCommand reports before it connects."""
    if sum((args.add, args.remove, args.list)) != 1:
        raise AclTextError("Command must include exactly one action: --list, --add, --remove.")
    _check_exclusive_options(args)
    if args.add and not (args.allow_principal or args.deny_principal):
        raise AclTextError(
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs."
        )
    if args.producer and not args.topic:
        raise AclTextError("With --producer you must specify a --topic")
    if args.idempotent and not args.producer:
        raise AclTextError("The --idempotent option is only available if --producer is set")
    foreign = not args.producer and (args.cluster or args.transactional_id)
    if args.consumer and (not args.topic or not args.group or foreign):
        raise AclTextError(
            "With --consumer you must specify a --topic and a --group and no --cluster or"
            " --transactional-id option should be specified."
        )
    if args.principal and not args.list:
        raise AclTextError("The --principal option is only available if --list is set")
    for principal in (*args.principal, *args.allow_principal, *args.deny_principal):
        _check_principal(principal.strip())


def resource_filters_of_options(args: argparse.Namespace) -> list[AclFilter]:
    """Return a filter for each named resource; the cluster has only a literal name.

    As kafka-acls, leave out spaces around names, but not around those of transactions.
    """
    pattern_type = PatternType[args.resource_pattern_type.upper()]
    options = (
        (ResourceType.TOPIC, args.topic),
        (ResourceType.GROUP, args.group),
        (ResourceType.TRANSACTIONAL_ID, args.transactional_id),
        (ResourceType.DELEGATION_TOKEN, args.delegation_token),
        (ResourceType.USER, args.user_principal),
    )
    filters = {
        AclFilter(
            resource_type,
            name if resource_type is ResourceType.TRANSACTIONAL_ID else name.strip(),
            pattern_type,
        ): None
        for resource_type, names in options
        for name in names
    }
    if args.cluster and pattern_type is PatternType.LITERAL:
        filters[_cluster_filter()] = None
    return list(filters)


def acls_by_resource_filter(
    args: argparse.Namespace, tool: AclToolOutput = NEWEST_TOOL
) -> AclsByResourceFilter:
    """Return the ACLs to add or remove by resource filter, as the tool of a release does."""
    pattern_type = PatternType[args.resource_pattern_type.upper()]
    if args.add and pattern_type not in (PatternType.LITERAL, PatternType.PREFIXED):
        raise AclTextError(
            f"A '--resource-pattern-type' value of '{pattern_type.name}' is not valid when adding"
            " acls."
        )
    acls_by_filter: AclsByResourceFilter = {}
    if args.producer or args.consumer:
        _add_shorthand_acls(args, acls_by_filter, tool)
    else:
        operations = [_parse_operation_option(text) for text in args.operation] or [Operation.ALL]
        for resource in resource_filters_of_options(args):
            acls_by_filter[resource] = _make_acls(args, resource, operations)
        _check_operations_are_supported(acls_by_filter, operations)
    if not acls_by_filter:
        raise AclTextError(NO_RESOURCE)
    return acls_by_filter


def listed_resource_filters(args: argparse.Namespace) -> list[AclFilter]:
    """Return the named resources, which are listed after a change; implied ones are not."""
    filters = resource_filters_of_options(args)
    return (
        [*filters, _cluster_filter()]
        if args.idempotent and _cluster_filter() not in filters
        else filters
    )


def _add_shorthand_acls(
    args: argparse.Namespace, acls_by_filter: AclsByResourceFilter, tool: AclToolOutput
) -> None:
    """Add the ACLs of the shorthands --producer and --consumer."""
    roles: list[tuple[AclFilter, Iterable[Operation]]] = []
    for resource in resource_filters_of_options(args):
        match resource.resource_type:
            case ResourceType.TOPIC:
                roles += _producer_operations(resource, tool) if args.producer else []
                roles += [(resource, CONSUMER_TOPIC)] if args.consumer else []
            case ResourceType.TRANSACTIONAL_ID if args.producer:
                roles.append((resource, PRODUCER))
            case ResourceType.GROUP if args.consumer:
                roles.append((resource, CONSUMER_GROUP))
    if args.idempotent:
        roles.append((_cluster_filter(), (Operation.IDEMPOTENT_WRITE,)))
    for resource, operations in roles:
        acls = acls_by_filter.setdefault(resource, [])
        acls += [acl for acl in _make_acls(args, resource, operations) if acl not in acls]


def _producer_operations(
    topic: AclFilter, tool: AclToolOutput
) -> list[tuple[AclFilter, Iterable[Operation]]]:
    if not tool.producer_creates_by_cluster_acl:
        return [(topic, (*PRODUCER, Operation.CREATE))]
    return [(topic, PRODUCER), (_cluster_filter(), (Operation.CREATE,))]


def _make_acls(
    args: argparse.Namespace, resource: AclFilter, operations: Iterable[Operation]
) -> list[Acl]:
    """Return an ACL for each principal, each of its hosts, and each operation."""
    sides = (
        (Permission.ALLOW, args.allow_principal, args.allow_host),
        (Permission.DENY, args.deny_principal, args.deny_host),
    )
    return [
        Acl(
            resource.resource_type,
            resource.resource_name or "",
            resource.pattern_type,
            principal.strip(),
            host.strip(),
            operation,
            permission,
        )
        for permission, principals, hosts in sides
        for principal in dict.fromkeys(principals)
        for host in dict.fromkeys(hosts or [WILDCARD])
        for operation in dict.fromkeys(operations)
    ]


def _check_exclusive_options(args: argparse.Namespace) -> None:
    excluded = {
        "list": (
            *("producer", "consumer", "allow_host", "allow_principal", "deny_host"),
            "deny_principal",
        ),
        "producer": ("operation", "deny_principal", "deny_host"),
        "consumer": ("operation", "deny_principal", "deny_host"),
    }
    for option, others in excluded.items():
        for other in others:
            if getattr(args, option) and getattr(args, other):
                name = other.replace("_", "-")
                raise AclTextError(f'Option "[{option}]" can\'t be used with option "[{name}]"')


def _check_operations_are_supported(
    acls_by_filter: AclsByResourceFilter, operations: Iterable[Operation]
) -> None:
    for resource in acls_by_filter:
        supported = (*supported_operations(resource.resource_type), Operation.ALL)
        if not set(operations) <= set(supported):
            names = ", ".join(operation.name for operation in supported)
            raise AclTextError(
                f"ResourceType {resource.resource_type.name} only supports operations [{names}]"
            )


def _check_principal(text: str) -> None:
    kind, colon, _ = text.partition(":")
    if not kind or not colon:
        raise AclTextError(
            f"expected a string in format principalType:principalName but got {text}, as in"
            " User:alice"
        )


def _parse_operation_option(text: str) -> Operation:
    """Return the operation. The tools of all releases refuse an underscore."""
    if "_" in text:
        raise AclTextError(f"--operation: unknown operation `{text}`, write it without underscore")
    try:
        return parse_operation(text)
    except AclTextError as error:
        raise AclTextError(f"--operation: {error}") from error


def _cluster_filter() -> AclFilter:
    return AclFilter(ResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)
