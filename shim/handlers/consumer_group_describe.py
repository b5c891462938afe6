"""69 ConsumerGroupDescribe, versions 0-1. Groups of the consumer protocol with what their members
have and should have (KIP-848).

Denied groups come first. If the caller may not describe one topic of an assignment, the whole
group is replaced by an entry with 29. Groups that are missing or of another type are 69.
"""

from authorizer.requirements import CONSUMER_GROUP_DESCRIBE_GROUP, CONSUMER_GROUP_DESCRIBE_TOPIC
from protocol.enums import NO_OPERATIONS, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.consumer_group_describe_request import ConsumerGroupDescribeRequest
from protocol.messages.consumer_group_describe_response import (
    Assignment as AssignmentRow,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
    TopicPartitions,
)
from shim.context import RequestContext
from shim.state.assignors import Assignment
from shim.state.consumer_group import ConsumerGroup
from shim.state.consumer_member import ConsumerMember

CONSUMER_MEMBER = 1
MEMBER_TYPE_SINCE = 1
DENIED_TOPIC = "the group has topics that the caller may not describe"


def handle(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    if "consumer" not in context.cluster.groups.settings.protocols:
        context.access.nothing_more()
        return refuse(request, ErrorCode.UNSUPPORTED_VERSION, None)
    allowed, denied = context.access.split(CONSUMER_GROUP_DESCRIBE_GROUP, request.group_ids, str)
    if "" in allowed and not context.group_behaviour.describes_empty_group_id:
        return refuse(request, ErrorCode.UNKNOWN_SERVER_ERROR, None)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ConsumerGroupDescribeResponse(
        groups=[_failed(group_id, refused) for group_id in denied]
        + [
            _described(group_id, request.include_authorized_operations, context)
            for group_id in allowed
        ]
    )


def refuse(
    request: ConsumerGroupDescribeRequest, error: ErrorCode, message: str | None
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(
        groups=[_failed(group_id, error, message) for group_id in request.group_ids]
    )


def _failed(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(error_code=error, error_message=message, group_id=group_id)


def _described(group_id: str, wants_operations: bool, context: RequestContext) -> DescribedGroup:
    error = context.coordinator_error(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if error is not ErrorCode.NONE:
        return _failed(group_id, error)
    group = context.cluster.groups.consumer(group_id)
    if group is None:
        text = f"there is no consumer group `{group_id}`"
        return _failed(group_id, ErrorCode.GROUP_ID_NOT_FOUND, text)
    if not _may_see_topics(group, context):
        return _failed(group_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED, DENIED_TOPIC)
    operations = NO_OPERATIONS
    if wants_operations:
        operations = context.access.operations(ResourceType.GROUP, group_id)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        group_epoch=group.target.epoch,
        assignment_epoch=group.target.target_epoch,
        assignor_name=group.assignor_name,
        members=[_member(group, member, context) for member in group.members.values()],
        authorized_operations=operations,
    )


def _may_see_topics(group: ConsumerGroup, context: RequestContext) -> bool:
    topic_ids = {
        topic_id
        for member in group.members.values()
        for assignment in (group.shown_assignment(member), group.target.of(member.member_id))
        for topic_id in assignment
    }
    topics = [context.cluster.topics.by_id(topic_id) for topic_id in topic_ids]
    names = sorted(topic.name for topic in topics if topic is not None)
    return not context.access.split(CONSUMER_GROUP_DESCRIBE_TOPIC, names, str)[1]


def _member(group: ConsumerGroup, member: ConsumerMember, context: RequestContext) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_regex or "",
        assignment=_row(group.shown_assignment(member), context),
        target_assignment=_row(group.target.of(member.member_id), context),
        member_type=CONSUMER_MEMBER if context.version >= MEMBER_TYPE_SINCE else -1,
    )


def _row(assignment: Assignment, context: RequestContext) -> AssignmentRow:
    rows = []
    for topic_id, partitions in assignment.items():
        topic = context.cluster.topics.by_id(topic_id)
        if topic is not None:
            rows.append(
                TopicPartitions(
                    topic_id=topic_id, topic_name=topic.name, partitions=sorted(partitions)
                )
            )
    return AssignmentRow(topic_partitions=rows)
