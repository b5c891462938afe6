"""11 JoinGroup, versions 0-9. Answered when the next generation begins, or with an error
immediately.

Since version 4 a new dynamic member first gets its id with MEMBER_ID_REQUIRED (KIP-394). Version 0
has no rebalance timeout; the session timeout is used.
"""

from kafka_shim.authorizer.requirements import JOIN_GROUP
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.classic.classic_members import JoinRequest, JoinResponse
from kafka_shim.shim.wait import PendingResponse

MEMBER_ID_REQUIRED_SINCE = 4
SKIP_ASSIGNMENT_SINCE = 9
STATIC_MEMBERS_SINCE = 5
NULL_PROTOCOL_SINCE = 7


def handle(
    request: JoinGroupRequest, context: RequestContext
) -> JoinGroupResponse | PendingResponse[JoinGroupResponse]:
    denial = context.access.denial_error(JOIN_GROUP, request.group_id)
    if denial is not NO_ERROR:
        return _response(JoinResponse(error=denial), context)
    wait: PendingResponse[JoinGroupResponse] = PendingResponse()

    def send_join_response(joined: JoinResponse) -> None:
        if _has_unsupported_static_members(joined, context):
            wait.complete(error_response(request, ErrorCode.UNSUPPORTED_VERSION, None))
            return
        response = _response(joined, context)
        if joined.error is not NO_ERROR:
            response.generation_id = context.facts.groups.failed_join_generation
        wait.complete(response)

    error = context.group_coordinator_error(request.group_id)
    if error is NO_ERROR:
        joining = _join_request(request, context)
        context.cluster.member_requests.handle_join(request.group_id, joining, send_join_response)
    else:
        send_join_response(JoinResponse(error=error, member_id=request.member_id))
    return wait


error_response = mirroring_error_builder(JoinGroupResponse)


def _has_unsupported_static_members(joined: JoinResponse, context: RequestContext) -> bool:
    """Return whether a response lists static members, of which its version does not know."""
    return (
        context.version < STATIC_MEMBERS_SINCE
        and context.facts.groups.static_members_fail_old_leader
        and any(member.instance_id is not None for member in joined.members)
    )


def _join_request(request: JoinGroupRequest, context: RequestContext) -> JoinRequest:
    version = context.version
    rebalance_ms = request.session_timeout_ms if version == 0 else request.rebalance_timeout_ms
    return JoinRequest(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        client_id=context.header.client_id or "",
        client_host=f"/{context.session.host}",
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=rebalance_ms,
        protocol_type=request.protocol_type,
        protocols=tuple((protocol.name, protocol.metadata) for protocol in request.protocols),
        requires_known_member_id=version >= MEMBER_ID_REQUIRED_SINCE,
        supports_skip_assignment=version >= SKIP_ASSIGNMENT_SINCE,
    )


def _response(joined: JoinResponse, context: RequestContext) -> JoinGroupResponse:
    name = joined.protocol_name
    if name is None and context.version < NULL_PROTOCOL_SINCE:
        name = ""
    return JoinGroupResponse(
        error_code=joined.error,
        generation_id=joined.generation_id,
        protocol_type=joined.protocol_type,
        protocol_name=name,
        leader=joined.leader_id,
        skip_assignment=joined.skip_assignment,
        member_id=joined.member_id,
        members=[
            JoinGroupResponseMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                metadata=member.metadata,
            )
            for member in joined.members
        ],
    )
