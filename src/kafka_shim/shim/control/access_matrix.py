"""Who is allowed what: the table of principals, resources and operations, and one operation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import parse_operation, parse_resource_type
from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.explaining.who_can import who_can, who_can_json
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Acl,
    AclFilter,
    Action,
    Actor,
    DecisionReason,
    acls_to_objects,
    narrowest_allow_acl,
)
from kafka_shim.authorizer.networks import parse_client_address
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, ResourceType
from kafka_shim.shim.control.control_error import (
    ControlError,
    authorizer_of,
    query_number,
    query_principal,
)
from kafka_shim.shim.observing.request_history import History
from kafka_shim.shim.state.cluster import Cluster

PRINCIPALS_MAX = 100
RESOURCES_MAX = 200


def access_matrix(
    cluster: Cluster,
    history: History,
    query: Mapping[str, str],
) -> dict[str, Any]:
    """Return principals by resources of a type, with the operations that are allowed from a host.

    Principals are those of users, ACLs, super users and the last requests; resources are existing
    ones and those of literal ACLs. All names are returned, with decisions for a part of them.
    """
    authorizer = authorizer_of(cluster)
    resource_type = _resource_type_of_query(query)
    host = _host_of_query(query)
    acls = list(authorizer.acls(AclFilter()))
    principals = _sorted_names_containing(
        _known_principals(cluster, authorizer, history),
        (acl.principal for acl in acls if acl.principal != ANY_USER),
        query.get("principal_contains", ""),
    )
    resources = _sorted_names_containing(
        set(existing_resource_names(cluster, resource_type)),
        _names_in_literal_acls(acls, resource_type),
        query.get("resource_contains", ""),
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
            _matrix_row(
                authorizer, Actor(principal, host), operations, (resource_type, resources[columns])
            )
            for principal in principals[rows]
        ],
    }


def _sorted_names_containing(names: set[str], further_names: Iterable[str], text: str) -> list[str]:
    """Return the names that contain the text, in any case of letters, sorted."""
    return sorted(name for name in names.union(further_names) if text.lower() in name.lower())


def _resource_type_of_query(query: Mapping[str, str]) -> ResourceType:
    return parse_resource_type(query.get("resource_type", "topic"))


def _host_of_query(query: Mapping[str, str]) -> str:
    return parse_client_address(query.get("host", "127.0.0.1"))


def _page_slice(query: Mapping[str, str], axis: str, page_max: int) -> slice:
    """Return which of the names have decisions in the response."""
    first = query_number(query, f"first_{axis}", 0)
    count = query_number(query, f"{axis}s", page_max)
    return slice(first, first + min(count, page_max))


def _known_principals(cluster: Cluster, authorizer: Authorizer, history: History) -> set[str]:
    """Return the principals of users, super users and the last requests."""
    principals = {f"User:{name}" for name in cluster.users.names()}
    principals |= {entry.principal for entry in history}
    if isinstance(authorizer, StandardAuthorizer):
        principals |= authorizer.super_users
    return principals


def _names_in_literal_acls(acls: list[Acl], kind: ResourceType) -> Iterator[str]:
    return (
        acl.resource_name
        for acl in acls
        if acl.resource_type is kind
        and acl.pattern_type is PatternType.LITERAL
        and acl.resource_name != WILDCARD
    )


def existing_resource_names(cluster: Cluster, kind: ResourceType) -> Iterable[str]:
    """Return the names of a type's resources; none of delegation tokens."""
    match kind:
        case ResourceType.CLUSTER:
            return (CLUSTER_NAME,)
        case ResourceType.TOPIC:
            return (topic.name for topic in cluster.topics)
        case ResourceType.GROUP:
            return (group.group_id for group in cluster.groups)
        case ResourceType.TRANSACTIONAL_ID:
            return (transaction.transactional_id for transaction in cluster.transactions)
        case ResourceType.USER:
            return (f"User:{name}" for name in cluster.users.names())
    return ()


def _matrix_row(
    authorizer: Authorizer,
    actor: Actor,
    operations: Iterable[Operation],
    resources: tuple[ResourceType, list[str]],
) -> dict[str, Any]:
    """Return the operations that are allowed, and those that an ACL denies, for each resource."""
    resource_type, names = resources
    allowed: list[list[str]] = [[] for _ in names]
    denied: list[list[str]] = [[] for _ in names]
    for at, name in enumerate(names):
        for operation in operations:
            decision = authorizer.authorize(actor, Action(operation, resource_type, name))
            if decision.allowed:
                allowed[at].append(operation.name)
            elif decision.reason is DecisionReason.ACL:
                denied[at].append(operation.name)
    return {"principal": actor.principal, "allowed": allowed, "denied": denied}


def access_of_principal(cluster: Cluster, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the decision about each operation of a principal on a resource, with its reason."""
    authorizer = authorizer_of(cluster)
    resource_type, name = _resource_type_of_query(query), query.get("resource_name", "")
    principal = query_principal(query)
    if principal is None or not name:
        text = "expected principal (such as User:alice) and resource_name"
        raise ControlError(400, text)
    actor = Actor(principal, _host_of_query(query))
    rows = []
    for operation in supported_operations(resource_type):
        action = Action(operation, resource_type, name)
        decision = authorizer.authorize(actor, action)
        deciding = [] if decision.acl is None else acls_to_objects([decision.acl])
        rows.append(
            {
                "operation": operation.name,
                "allowed": decision.allowed,
                "because": decision.reason.value,
                "acl": deciding[0] if deciding else None,
                "narrowest_acl": acls_to_objects([narrowest_allow_acl(action, principal)])[0],
            }
        )
    return {
        "principal": principal,
        "host": actor.host,
        "resource_type": resource_type.name,
        "resource_name": name,
        "operations": rows,
    }


def who_can_response(
    cluster: Cluster,
    query: Mapping[str, str],
) -> dict[str, Any]:
    """Return the principals that may do an operation on a resource, and the ACLs that allow it."""
    authorizer = authorizer_of(cluster)
    if not isinstance(authorizer, StandardAuthorizer):
        raise ControlError(409, "an authorizer of your own decides: ask it for one decision")
    action = _action_of_query(query)
    return who_can_json(action, who_can(authorizer, action))


def _action_of_query(query: Mapping[str, str]) -> Action:
    operation = parse_operation(query.get("operation", ""))
    resource_type = parse_resource_type(query.get("resource_type", "topic"))
    known = supported_operations(resource_type)
    if operation not in known:
        names = ", ".join(operation.name for operation in known)
        text = f"{resource_type.name} has no operation {operation.name}; it supports {names}"
        raise ControlError(400, text)
    if resource_type is ResourceType.CLUSTER:
        return Action(operation, resource_type, CLUSTER_NAME)
    name = query.get("resource_name", "")
    if not name:
        raise ControlError(400, "resource_name is missing; expected the full name of the resource")
    return Action(operation, resource_type, name)
