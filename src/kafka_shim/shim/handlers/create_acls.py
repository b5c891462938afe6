"""30 CreateAcls, versions 0-3. Each creation succeeds or fails on its own (KIP-140, KIP-290).

Permission is checked before validation, but codes that cannot be parsed close the connection even
before that. Version 0 has no pattern type: LITERAL.
"""

from kafka_shim.authorizer.acl_requests import (
    AclElementError,
    ConnectionCloses,
    parse_creations,
)
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.requirements import CREATE_ACLS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_acls import (
    AclCreationResult,
    CreateAclsRequest,
    CreateAclsResponse,
)
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

NO_AUTHORIZER = "no authorizer is configured"


def handle(request: CreateAclsRequest, context: RequestContext) -> CreateAclsResponse:
    read = parse_creations(request.creations, context.cluster.policy.rules)
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
    facts = context.facts.access
    created_message = facts.acl_request_ok_message
    results = []
    for acl in read:
        outcome = acl if isinstance(acl, AclElementError) else next(created)
        error = outcome.error
        if error is None:
            results.append(AclCreationResult(error_message=created_message))
        else:
            has_message = (
                error is not ErrorCode.UNKNOWN_SERVER_ERROR
                or facts.unexpected_acl_error_has_message
            )
            results.append(AclCreationResult(error, outcome.message if has_message else None))
    return CreateAclsResponse(results=results)


error_response = mirroring_error_builder(
    CreateAclsResponse, request_field_names={"results": "creations"}
)
