"""Client for CreateAcls, DescribeAcls and DeleteAcls.

Unknown enum codes of newer brokers become UNKNOWN, as in Kafka's own client.
"""

from collections.abc import Iterable, Sequence

from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.remedy import Step
from kafka_shim.client.client import Client, ClientError
from kafka_shim.protocol.code_names import enum_member, error_name_with_code
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from kafka_shim.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
)
from kafka_shim.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
)

EVERY_ACL = AclFilter()

_ADVICE: dict[int, str] = {
    ErrorCode.SECURITY_DISABLED: "the broker has no authorizer: set authorizer.class.name",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "this needs {operation} on the cluster",
}


def describe_acls(client: Client, acl_filter: AclFilter = EVERY_ACL) -> list[Acl]:
    """Return the ACLs that the filter selects, in the broker's order."""
    request = DescribeAclsRequest(
        acl_filter.resource_type,
        acl_filter.resource_name,
        _filter_pattern_type_in_version(
            acl_filter, client.negotiated_version(ApiKey.DESCRIBE_ACLS)
        ),
        acl_filter.principal,
        acl_filter.host,
        acl_filter.operation,
        acl_filter.permission,
    )
    response = client.send_request(ApiKey.DESCRIBE_ACLS, request)
    _raise_for_error(response.error_code, response.error_message, "list ACLs", "Describe")
    return [
        _acl_from_response(resource, acl)
        for resource in response.resources
        for acl in resource.acls
    ]


def create_acls(client: Client, acls: Iterable[Acl]) -> None:
    """Store the ACLs; the first one that is refused makes the error, the others may be stored."""
    creations = [
        AclCreation(
            acl.resource_type,
            acl.resource_name,
            acl.pattern_type,
            acl.principal,
            acl.host,
            acl.operation,
            acl.permission,
        )
        for acl in acls
    ]
    version = client.negotiated_version(ApiKey.CREATE_ACLS)
    if version == 0 and any(c.resource_pattern_type != PatternType.LITERAL for c in creations):
        raise ClientError("this broker is older than prefixed ACLs (KIP-290)")
    for result in client.send_request(ApiKey.CREATE_ACLS, CreateAclsRequest(creations)).results:
        _raise_for_error(result.error_code, result.error_message, "create the ACL", "Alter")


def delete_acls(client: Client, filters: Sequence[AclFilter]) -> list[Acl]:
    """Delete the ACLs that the filters select, and return them."""
    version = client.negotiated_version(ApiKey.DELETE_ACLS)
    wire_filters = [
        DeleteAclsFilter(
            acl_filter.resource_type,
            acl_filter.resource_name,
            _filter_pattern_type_in_version(acl_filter, version),
            acl_filter.principal,
            acl_filter.host,
            acl_filter.operation,
            acl_filter.permission,
        )
        for acl_filter in filters
    ]
    removed: dict[Acl, None] = {}
    for result in client.send_request(
        ApiKey.DELETE_ACLS, DeleteAclsRequest(wire_filters)
    ).filter_results:
        _raise_for_error(result.error_code, result.error_message, "remove the ACLs", "Alter")
        for match in result.matching_acls:
            _raise_for_error(match.error_code, match.error_message, "remove the ACL", "Alter")
            removed[_acl_from_response(match, match)] = None
    return list(removed)


def send_acl_changes(client: Client, steps: Sequence[Step]) -> None:
    """Send one request with steps that all add or all remove. Raise ClientError if it fails."""
    acls = [step.acl for step in steps]
    if steps[0].is_addition:
        create_acls(client, acls)
    else:
        delete_acls(client, [acl.to_exact_filter() for acl in acls])


def _acl_from_response(
    resource: DescribeAclsResource | DeleteAclsMatchingAcl,
    entry: AclDescription | DeleteAclsMatchingAcl,
) -> Acl:
    return Acl(
        enum_member(ResourceType, resource.resource_type),
        resource.resource_name,
        enum_member(PatternType, resource.pattern_type),
        entry.principal,
        entry.host,
        enum_member(Operation, entry.operation),
        enum_member(Permission, entry.permission_type),
    )


def _filter_pattern_type_in_version(acl_filter: AclFilter, version: int) -> PatternType:
    """Return the pattern type; in version 0, which has only literal patterns, ANY is LITERAL
    (KIP-290).
    """
    pattern_type = acl_filter.pattern_type
    if version > 0 or pattern_type is PatternType.LITERAL:
        return pattern_type
    if pattern_type is PatternType.ANY:
        return PatternType.LITERAL
    raise ClientError(f"this broker is older than {pattern_type.name.lower()} filters (KIP-290)")


def _raise_for_error(code: int, message: str | None, task: str, operation: str) -> None:
    if code == ErrorCode.NONE:
        return
    parts = [f"cannot {task}: {error_name_with_code(code)}"]
    if message:
        parts.append(message)
    advice = _ADVICE.get(code)
    if advice:
        parts.append(advice.format(operation=operation))
    raise ClientError("; ".join(parts), code)
