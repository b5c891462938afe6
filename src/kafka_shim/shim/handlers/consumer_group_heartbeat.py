"""68 ConsumerGroupHeartbeat, versions 0-1. Joins or leaves a group, keeps a member alive, and
returns its assignment (KIP-848).

READ on the group, then DESCRIBE on every topic in the request: a denied one fails the request,
whether it exists or not. Denied topics that match a regular expression (version 1) are left out.
"""

from kafka_shim.authorizer.requirements import (
    CONSUMER_GROUP_HEARTBEAT_GROUP,
    CONSUMER_GROUP_HEARTBEAT_REGEX,
    CONSUMER_GROUP_HEARTBEAT_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.consumer_group_heartbeat import (
    Assignment as AssignmentRow,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ResponseTopicPartitions,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerHeartbeat
from kafka_shim.shim.state.groups.group_target import HeartbeatResult
from kafka_shim.shim.state.groups.reconciliation import LEAVING_FOR_A_WHILE

MEMBER_ID_BY_CLIENT_SINCE = 1


def handle(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerGroupHeartbeatResponse:
    context.require_group_protocol("consumer")
    context.access.require(CONSUMER_GROUP_HEARTBEAT_GROUP, request.group_id)
    names = dict.fromkeys(request.subscribed_topic_names or [])
    if context.access.split_allowed(CONSUMER_GROUP_HEARTBEAT_TOPIC, names, str)[1]:
        raise RequestRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    _check_heartbeat_fields(request, context)
    context.require_group_coordinator(request.group_id)
    response = context.cluster.member_requests.handle_consumer_heartbeat(
        request.group_id, _heartbeat_of_request(request, context)
    )
    return _heartbeat_response(response)


error_response = mirroring_error_builder(ConsumerGroupHeartbeatResponse)


def _check_heartbeat_fields(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> None:
    """Raise the errors that do not depend on the group's state."""
    joins = request.member_epoch == 0
    needs_id = context.version >= MEMBER_ID_BY_CLIENT_SINCE or not joins
    names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
    can_be_empty = not context.facts.groups.consumer_groups_are_preview
    subscribes = bool(names) or (can_be_empty and not (names is None and regex is None))
    leaves_temporarily = request.member_epoch == LEAVING_FOR_A_WHILE
    for is_wrong, text in (
        (needs_id and not request.member_id.strip(), "the member id is empty"),
        (not request.group_id.strip(), "the group id is empty"),
        (request.instance_id == "", "the instance id is empty"),
        (request.rack_id == "", "the rack id is empty"),
        (
            joins and request.rebalance_timeout_ms == -1,
            "a joining member must send a rebalance timeout",
        ),
        (joins and request.topic_partitions != [], "a joining member cannot own partitions"),
        (joins and not subscribes, "a joining member must send topics or a regular expression"),
        (
            leaves_temporarily and request.instance_id is None,
            "only static members can leave temporarily",
        ),
        (request.member_epoch < LEAVING_FOR_A_WHILE, "invalid member epoch"),
    ):
        if is_wrong:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    assignors = context.cluster.groups.settings.consumer_assignor_names
    if request.server_assignor is not None and request.server_assignor not in assignors:
        text = f"assignor `{request.server_assignor}` is not one of {', '.join(assignors)}"
        raise RequestRejected(ErrorCode.UNSUPPORTED_ASSIGNOR, text)


def _heartbeat_of_request(
    request: ConsumerGroupHeartbeatRequest, context: RequestContext
) -> ConsumerHeartbeat:
    member_id = request.member_id
    if not member_id:  # version 0, joining
        member_id = context.cluster.member_requests.new_member_id()
    owned: Assignment | None = None
    if request.topic_partitions is not None:
        owned = {topic.topic_id: frozenset(topic.partitions) for topic in request.topic_partitions}
    return ConsumerHeartbeat(
        member_id=member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topic_names=request.subscribed_topic_names,
        topic_regex=request.subscribed_topic_regex,
        server_assignor=request.server_assignor,
        owned=owned,
        client_id=context.header.client_id or "",
        client_host=f"/{context.session.host}",
        visible_topic_names=lambda names: list(
            context.access.filter_visible(CONSUMER_GROUP_HEARTBEAT_REGEX, names, str)
        ),
    )


def _heartbeat_response(response: HeartbeatResult) -> ConsumerGroupHeartbeatResponse:
    assignment = None
    if response.assignment is not None:
        assignment = AssignmentRow(
            topic_partitions=[
                ResponseTopicPartitions(topic_id=topic_id, partitions=sorted(partitions))
                for topic_id, partitions in response.assignment.items()
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        member_id=response.member_id,
        member_epoch=response.member_epoch,
        heartbeat_interval_ms=response.interval_ms,
        assignment=assignment,
    )
