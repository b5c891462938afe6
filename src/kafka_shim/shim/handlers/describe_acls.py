"""29 DescribeAcls, versions 0-3. The ACLs that match a filter, grouped by resource (KIP-140).

Filters of version 0 match only literal ACLs (KIP-290). The order is undefined on a real broker;
here it is the order of creation.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.acl_requests import ConnectionCloses, WireAcl, parse_filters
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.requirements import DESCRIBE_ACLS
from kafka_shim.authorizer.store import AclStore, entries_of_grant
from kafka_shim.protocol.enums import PatternType, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_acls import (
    AclDescription,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

CACHED_SINCE = 0
NO_AUTHORIZER = "no authorizer is configured on the broker"


def handle(request: DescribeAclsRequest, context: RequestContext) -> DescribeAclsResponse:
    read = parse_filters([_filter_codes(request)], context.cluster.policy.rules)
    if isinstance(read, ConnectionCloses):
        raise CloseConnection(read.reason)
    context.access.require(DESCRIBE_ACLS, message="cluster authorization failed")
    authorizer = context.access.authorizer_of_this_broker
    if authorizer is None:
        return error_response(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
    resources = (
        _matching_resources(authorizer.store, read[0], context)
        if isinstance(authorizer, StandardAuthorizer)
        else _acls_grouped_by_resource(authorizer.acls(read[0]), context)
    )
    return DescribeAclsResponse(
        error_message=context.facts.access.acl_request_ok_message, resources=resources
    )


error_response = mirroring_error_builder(DescribeAclsResponse)


def _filter_codes(request: DescribeAclsRequest) -> WireAcl:
    return WireAcl(
        request.resource_type_filter,
        request.resource_name_filter,
        request.pattern_type_filter,
        request.principal_filter,
        request.host_filter,
        request.operation,
        request.permission_type,
    )


def _matching_resources(
    store: AclStore, acl_filter: AclFilter, context: RequestContext
) -> list[DescribeAclsResource]:
    """Return the resources with matching ACLs, from their patterns, without making the ACLs."""
    return [
        DescribeAclsResource(
            pattern.resource_type,
            pattern.resource_name,
            pattern.pattern_type,
            [
                AclDescription(subject.principal, subject.host, operation, permission)
                for subject, grant in grants
                for operation, permission in entries_of_grant(grant)
            ],
        )
        for pattern, grants in store.grants_matching(acl_filter)
    ]


def _acls_grouped_by_resource(
    acls: Iterable[Acl], context: RequestContext
) -> list[DescribeAclsResource]:
    """Return the resources of the ACLs of a user's own authorizer, in any order."""
    resources: dict[tuple[ResourceType, str, PatternType], list[AclDescription]] = {}
    for acl in acls:
        key = (acl.resource_type, acl.resource_name, acl.pattern_type)
        resources.setdefault(key, []).append(
            AclDescription(acl.principal, acl.host, acl.operation, acl.permission)
        )
    return [
        DescribeAclsResource(kind, name, pattern, rows)
        for (kind, name, pattern), rows in resources.items()
    ]
