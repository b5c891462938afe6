"""76 ShareGroupHeartbeat, version 1. Joins or leaves a share group, keeps a member alive, and
returns its assignment (KIP-932).

READ on the group, then the member id is checked, then DESCRIBE on every topic in the request: a
denied one fails the request.
"""

from kafka_shim.authorizer.requirements import (
    SHARE_GROUP_HEARTBEAT_GROUP,
    SHARE_GROUP_HEARTBEAT_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.share_group_heartbeat import (
    Assignment as AssignmentRow,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.group_target import HeartbeatResult
from kafka_shim.shim.state.groups.reconciliation import LEAVING
from kafka_shim.shim.state.groups.share.share_group import ShareHeartbeat


def handle(
    request: ShareGroupHeartbeatRequest, context: RequestContext
) -> ShareGroupHeartbeatResponse:
    context.require_group_protocol("share")
    context.access.require(SHARE_GROUP_HEARTBEAT_GROUP, request.group_id)
    if not request.member_id:
        raise RequestRejected(ErrorCode.INVALID_REQUEST)
    names = request.subscribed_topic_names or []
    if context.access.split_allowed(SHARE_GROUP_HEARTBEAT_TOPIC, names, str)[1]:
        raise RequestRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    _check_heartbeat_fields(request)
    context.require_group_coordinator(request.group_id)
    heartbeat = ShareHeartbeat(
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        rack_id=request.rack_id,
        topic_names=request.subscribed_topic_names,
        client_id=context.header.client_id or "",
        client_host=f"/{context.session.host}",
    )
    response = context.cluster.member_requests.handle_share_heartbeat(request.group_id, heartbeat)
    return _heartbeat_response(response)


error_response = mirroring_error_builder(ShareGroupHeartbeatResponse)


def _check_heartbeat_fields(request: ShareGroupHeartbeatRequest) -> None:
    """Raise the errors that do not depend on the group's state."""
    joins = request.member_epoch == 0
    for is_wrong, text in (
        (not request.group_id.strip(), "the group id is empty"),
        (request.rack_id == "", "the rack id is empty"),
        (joins and not request.subscribed_topic_names, "a joining member must send topics"),
        (request.member_epoch < LEAVING, "invalid member epoch"),
    ):
        if is_wrong:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)


def _heartbeat_response(response: HeartbeatResult) -> ShareGroupHeartbeatResponse:
    assignment = None
    if response.assignment is not None:
        assignment = AssignmentRow(
            topic_partitions=[
                TopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                for topic_id, partitions in response.assignment.items()
            ]
        )
    return ShareGroupHeartbeatResponse(
        member_id=response.member_id,
        member_epoch=response.member_epoch,
        heartbeat_interval_ms=response.interval_ms,
        assignment=assignment,
    )
