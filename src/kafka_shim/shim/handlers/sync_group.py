"""14 SyncGroup, versions 0-5. Answered once the leader has sent the assignments.

Since version 5 a request without protocol type or name gets INCONSISTENT_GROUP_PROTOCOL (23),
before permission is checked.
"""

from kafka_shim.authorizer.requirements import SYNC_GROUP
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.classic.classic_members import SyncRequest, SyncResponse
from kafka_shim.shim.wait import PendingResponse

PROTOCOL_NAMED_SINCE = 5


def handle(
    request: SyncGroupRequest, context: RequestContext
) -> PendingResponse[SyncGroupResponse]:
    unnamed = request.protocol_type is None or request.protocol_name is None
    if context.version >= PROTOCOL_NAMED_SINCE and unnamed:
        raise RequestRejected(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    context.access.require(SYNC_GROUP, request.group_id)
    wait: PendingResponse[SyncGroupResponse] = PendingResponse()

    def response(synced: SyncResponse) -> None:
        wait.complete(
            SyncGroupResponse(
                error_code=synced.error,
                protocol_type=synced.protocol_type,
                protocol_name=synced.protocol_name,
                assignment=synced.assignment,
            )
        )

    error = context.group_coordinator_error(request.group_id)
    if error is NO_ERROR:
        context.cluster.member_requests.handle_sync(
            request.group_id, _sync_request(request), response
        )
    else:
        response(SyncResponse(error=error))
    return wait


error_response = mirroring_error_builder(SyncGroupResponse)


def _sync_request(request: SyncGroupRequest) -> SyncRequest:
    return SyncRequest(
        member_id=request.member_id,
        instance_id=request.group_instance_id,
        generation_id=request.generation_id,
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignments={
            assignment.member_id: assignment.assignment for assignment in request.assignments
        },
    )
