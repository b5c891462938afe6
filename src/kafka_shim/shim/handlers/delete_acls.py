"""31 DeleteAcls, versions 0-3. One result per filter, in order, with the ACLs it matched (KIP-140).

On KRaft every filter is applied to the state before the request, so an ACL that two filters match
is returned by both; a ZooKeeper broker returns it only with the first.
"""

from kafka_shim.authorizer.acl_requests import ConnectionCloses, WireAcl, parse_filters
from kafka_shim.authorizer.authorizer import AclDeleteResult
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.requirements import DELETE_ACLS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.create_acls import NO_AUTHORIZER
from kafka_shim.shim.request.context import RequestContext


def handle(request: DeleteAclsRequest, context: RequestContext) -> DeleteAclsResponse:
    codes = [_filter_codes(acl_filter) for acl_filter in request.filters]
    read = parse_filters(codes, context.cluster.policy.rules)
    if isinstance(read, ConnectionCloses):
        raise CloseConnection(read.reason)
    context.access.require(DELETE_ACLS, message="cluster authorization failed")
    authorizer = context.access.authorizer
    if authorizer is None:
        return error_response(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
    results = authorizer.delete_acls(context.access.actor, read)
    return DeleteAclsResponse(filter_results=[_filter_result(result) for result in results])


error_response = mirroring_error_builder(
    DeleteAclsResponse, request_field_names={"filter_results": "filters"}
)


def _filter_result(result: AclDeleteResult) -> DeleteAclsFilterResult:
    if result.error is not None:
        return DeleteAclsFilterResult(error_code=result.error, error_message=result.message)
    return DeleteAclsFilterResult(
        error_message=None, matching_acls=[_matching_acl_row(acl) for acl in result.matches]
    )


def _matching_acl_row(acl: Acl) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=acl.resource_type,
        resource_name=acl.resource_name,
        pattern_type=acl.pattern_type,
        principal=acl.principal,
        host=acl.host,
        operation=acl.operation,
        permission_type=acl.permission,
    )


def _filter_codes(acl_filter: DeleteAclsFilter) -> WireAcl:
    return WireAcl(
        acl_filter.resource_type_filter,
        acl_filter.resource_name_filter,
        acl_filter.pattern_type_filter,
        acl_filter.principal_filter,
        acl_filter.host_filter,
        acl_filter.operation,
        acl_filter.permission_type,
    )
