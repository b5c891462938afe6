"""Which principals are allowed an operation, for the control API."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import parse_operation, parse_resource_type
from kafka_shim.authorizer.acl_rules import supported_operations
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.explaining.who_can import who_can, who_can_json
from kafka_shim.authorizer.model import Action
from kafka_shim.protocol.enums import CLUSTER_NAME, ResourceType
from kafka_shim.shim.control.control_error import ControlError, authorizer_of
from kafka_shim.shim.state.cluster import Cluster


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
