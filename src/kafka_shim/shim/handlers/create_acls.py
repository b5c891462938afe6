"""30 CreateAcls, versions 0-3. Each creation succeeds or fails on its own (KIP-140, KIP-290).

Permission is checked before validation, but codes that cannot be parsed close the connection even
before that. Version 0 has no pattern type: LITERAL.
"""

from kafka_shim.authorizer.acl_requests import (
    AclElementError,
    ConnectionCloses,
    WireAcl,
    parse_creations,
)
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.requirements import CREATE_ACLS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_acls import (
    AclCreation,
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

NO_AUTHORIZER = "no authorizer is configured"


def handle(request: CreateAclsRequest, context: RequestContext) -> CreateAclsResponse:
    codes = [_acl_codes(creation) for creation in request.creations]
    read = parse_creations(codes, context.cluster.policy.rules)
    if isinstance(read, ConnectionCloses):
        raise CloseConnection(read.reason)
    context.access.require(CREATE_ACLS, message="cluster authorization failed")
    authorizer = context.access.authorizer
    if authorizer is None:
        return error_response(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER)
    acls = [acl for acl in read if isinstance(acl, Acl)]
    created = iter(
        authorizer.create_valid_acls(acls)
        if isinstance(authorizer, StandardAuthorizer)
        else authorizer.create_acls(context.access.actor, acls)
    )
    unexpected_has_message = context.facts.access.unexpected_acl_error_has_message
    results = []
    for acl in read:
        outcome = acl if isinstance(acl, AclElementError) else next(created)
        if outcome.error is None:
            message = context.facts.access.acl_request_ok_message
            results.append(AclCreationResult(error_message=message))
        else:
            has_message = (
                outcome.error is not ErrorCode.UNKNOWN_SERVER_ERROR or unexpected_has_message
            )
            message = outcome.message if has_message else None
            results.append(AclCreationResult(error_code=outcome.error, error_message=message))
    return CreateAclsResponse(results=results)


error_response = mirroring_error_builder(
    CreateAclsResponse, request_field_names={"results": "creations"}
)


def _acl_codes(creation: AclCreation) -> WireAcl:
    return WireAcl(
        creation.resource_type,
        creation.resource_name,
        creation.resource_pattern_type,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )
