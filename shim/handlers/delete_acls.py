"""31 DeleteAcls, versions 0-3. One result a filter, in order, with what it matched (KIP-140).

On KRaft every filter is held against the state before the request, so an ACL that two filters
match is reported by both; a ZooKeeper broker reports it under the first alone.
"""

from authorizer.authorizer import AclDeleteResult
from authorizer.model import Acl
from authorizer.requirements import DELETE_ACLS
from authorizer.validate import AclCodes, Closes, read_filters
from protocol.error_codes import ErrorCode
from protocol.messages.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from protocol.messages.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from shim.context import RequestContext
from shim.errors import CloseConnection
from shim.handlers.create_acls import NO_AUTHORIZER


def handle(request: DeleteAclsRequest, context: RequestContext) -> DeleteAclsResponse:
    read = read_filters([_codes(one) for one in request.filters], context.acl_rules)
    if isinstance(read, Closes):
        raise CloseConnection(read.why)
    context.access.require(DELETE_ACLS, message="cluster authorization failed")
    authorizer = context.access.authorizer
    if authorizer is None:
        return refuse(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
    return DeleteAclsResponse(
        filter_results=[
            _result(result) for result in authorizer.delete_acls(context.access.actor, read)
        ]
    )


def refuse(request: DeleteAclsRequest, error: ErrorCode, message: str | None) -> DeleteAclsResponse:
    result = DeleteAclsFilterResult(error_code=error, error_message=message)
    return DeleteAclsResponse(filter_results=[result for _ in request.filters])


def _result(result: AclDeleteResult) -> DeleteAclsFilterResult:
    if result.error is not None:
        return DeleteAclsFilterResult(error_code=result.error, error_message=result.message)
    return DeleteAclsFilterResult(
        error_message=None, matching_acls=[_matching(acl) for acl in result.matches]
    )


def _matching(acl: Acl) -> DeleteAclsMatchingAcl:
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


def _codes(one: DeleteAclsFilter) -> AclCodes:
    return AclCodes(
        one.resource_type_filter,
        one.resource_name_filter,
        one.pattern_type_filter,
        one.principal_filter,
        one.host_filter,
        one.operation,
        one.permission_type,
    )
