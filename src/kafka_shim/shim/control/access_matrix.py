"""The table of principals, resources and allowed operations."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError, parse_resource_type
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, AclFilter, Action, Actor
from kafka_shim.authorizer.operations import supported_operations
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, ResourceType
from kafka_shim.shim.control.control_error import (
    ControlError,
    authorizer_or_409,
    query_number_or_400,
)
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.cluster import Cluster

PRINCIPALS_MAX = 100
RESOURCES_MAX = 200


def access_matrix(
    cluster: Cluster,
    history: History,
    query: Mapping[str, str],
    time_sliced: Callable[[Iterable[str]], Iterable[str]],
) -> dict[str, Any]:
    """Return principals by resources of a type, with the operations that are allowed from a host.

    Principals are those of users, ACLs, super users and the last requests; resources are existing
    ones and those of literal ACLs. All names are returned, with decisions for a part of them.
    """
    authorizer = authorizer_or_409(cluster)
    resource_type = _resource_type_of_query(query)
    host = query.get("host", "127.0.0.1")
    principals = _sorted_names_containing(
        _known_principals(cluster, authorizer, history), query.get("principal_contains", "")
    )
    resources = _sorted_names_containing(
        _resource_names(cluster, authorizer, resource_type), query.get("resource_contains", "")
    )
    rows, columns = (
        _page_slice(query, "principal", PRINCIPALS_MAX),
        _page_slice(query, "resource", RESOURCES_MAX),
    )
    operations = supported_operations(resource_type)
    return {
        "host": host,
        "resource_type": resource_type.name,
        "principals": principals,
        "resources": resources,
        "first_principal": rows.start,
        "first_resource": columns.start,
        "rows": [
            {
                "principal": principal,
                "allowed": [
                    _allowed_operation_names(
                        authorizer, Actor(principal, host), operations, (resource_type, name)
                    )
                    for name in resources[columns]
                ],
            }
            for principal in time_sliced(principals[rows])
        ],
    }


def _sorted_names_containing(names: Iterable[str], text: str) -> list[str]:
    """Return the names that contain the text, in any case of letters, sorted."""
    return sorted(name for name in names if text.lower() in name.lower())


def _resource_type_of_query(query: Mapping[str, str]) -> ResourceType:
    try:
        return parse_resource_type(query.get("resource_type", "topic"))
    except AclTextError as error:
        raise ControlError(400, str(error)) from error


def _page_slice(query: Mapping[str, str], axis: str, page_max: int) -> slice:
    """Return which of the names have decisions in the response."""
    first = query_number_or_400(query, f"first_{axis}", 0)
    count = query_number_or_400(query, f"{axis}s", page_max)
    return slice(first, first + min(count, page_max))


def _known_principals(cluster: Cluster, authorizer: Authorizer, history: History) -> set[str]:
    users = {*cluster.users.passwords, *cluster.users.names_with_stored_credentials()}
    principals = {f"User:{name}" for name in users}
    principals |= {acl.principal for acl in authorizer.acls(AclFilter())} - {ANY_USER}
    principals |= {entry.principal for entry in history}
    if isinstance(authorizer, StandardAuthorizer):
        principals |= authorizer.super_users
    return principals


def _resource_names(cluster: Cluster, authorizer: Authorizer, kind: ResourceType) -> set[str]:
    if kind is ResourceType.CLUSTER:
        return {CLUSTER_NAME}
    literal = AclFilter(kind, None, PatternType.LITERAL)
    named = {acl.resource_name for acl in authorizer.acls(literal)} - {WILDCARD}
    return named | set(_existing_resource_names(cluster, kind))


def _existing_resource_names(cluster: Cluster, kind: ResourceType) -> Iterable[str]:
    match kind:
        case ResourceType.TOPIC:
            return (topic.name for topic in cluster.topics)
        case ResourceType.GROUP:
            return (group.group_id for group in cluster.groups)
        case ResourceType.TRANSACTIONAL_ID:
            return (transaction.transactional_id for transaction in cluster.transactions)
        case ResourceType.USER:
            users = {*cluster.users.passwords, *cluster.users.names_with_stored_credentials()}
            return (f"User:{name}" for name in users)
    return ()


def _allowed_operation_names(
    authorizer: Authorizer,
    actor: Actor,
    operations: Iterable[Operation],
    resource: tuple[ResourceType, str],
) -> list[str]:
    return [
        operation.name
        for operation in operations
        if authorizer.authorize(actor, Action(operation, *resource)).allowed
    ]
