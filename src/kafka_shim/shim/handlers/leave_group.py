"""13 LeaveGroup, versions 0-5. Since version 3 for many members, each with its own error; static
members may be identified by instance id alone (KIP-345).
"""

from kafka_shim.authorizer.requirements import LEAVE_GROUP
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.leave_group import (
    LeaveGroupRequest,
    LeaveGroupResponse,
    MemberResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

MANY_SINCE = 3


def handle(request: LeaveGroupRequest, context: RequestContext) -> LeaveGroupResponse:
    context.access.require(LEAVE_GROUP, request.group_id)
    groups = context.cluster.groups
    error = groups.empty_group_id_error(request.group_id)
    if error is NO_ERROR:
        error = context.group_coordinator_error(request.group_id)
    if error is not NO_ERROR:
        single_member_error = context.facts.groups.single_leave_error
        if single_member_error is not None and context.version < MANY_SINCE:
            error = ErrorCode(single_member_error)
        return error_response(request, error, None)
    if context.version < MANY_SINCE:
        (error,) = context.cluster.member_requests.handle_leave(
            request.group_id, [(request.member_id, None)]
        )
        return LeaveGroupResponse(error_code=error)
    members = request.members
    identities = [(member.member_id, member.group_instance_id) for member in members]
    errors = context.cluster.member_requests.handle_leave(request.group_id, identities)
    return LeaveGroupResponse(
        members=[
            MemberResponse(member.member_id, member.group_instance_id, error)
            for member, error in zip(members, errors, strict=True)
        ]
    )


error_response = mirroring_error_builder(LeaveGroupResponse, constant_fields={"members": []})
