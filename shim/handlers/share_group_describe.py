"""77 ShareGroupDescribe, version 1. Share groups, their members and what those were given
(KIP-932).

As in ConsumerGroupDescribe, denied groups come first, one topic that may not be described
replaces the whole group by an entry with 29, and missing groups are 69.
"""

from authorizer.requirements import SHARE_GROUP_DESCRIBE_GROUP, SHARE_GROUP_DESCRIBE_TOPIC
from protocol.enums import NO_OPERATIONS, ResourceType
from protocol.error_codes import ErrorCode
from protocol.messages.share_group_describe_request import ShareGroupDescribeRequest
from protocol.messages.share_group_describe_response import (
    Assignment as AssignmentRow,
    DescribedGroup,
    Member,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from shim.context import RequestContext
from shim.state.assignors import Assignment
from shim.state.share_group import ASSIGNOR, ShareGroup, ShareMember

DENIED_TOPIC = "the group has topics that the caller may not describe"


def handle(
    request: ShareGroupDescribeRequest, context: RequestContext
) -> ShareGroupDescribeResponse:
    if "share" not in context.cluster.groups.settings.protocols:
        context.access.nothing_more()
        return refuse(request, ErrorCode.UNSUPPORTED_VERSION, None)
    allowed, denied = context.access.split(SHARE_GROUP_DESCRIBE_GROUP, request.group_ids, str)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ShareGroupDescribeResponse(
        groups=[_failed(group_id, refused) for group_id in denied]
        + [
            _described(group_id, request.include_authorized_operations, context)
            for group_id in allowed
        ]
    )


def refuse(
    request: ShareGroupDescribeRequest, error: ErrorCode, message: str | None
) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(
        groups=[_failed(group_id, error, message) for group_id in request.group_ids]
    )


def _failed(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(error_code=error, error_message=message, group_id=group_id)


def _described(group_id: str, wants_operations: bool, context: RequestContext) -> DescribedGroup:
    error = context.coordinator_error(group_id) if group_id else ErrorCode.INVALID_GROUP_ID
    if error is not ErrorCode.NONE:
        return _failed(group_id, error)
    group = context.cluster.groups.share(group_id)
    if group is None:
        text = f"there is no share group `{group_id}`"
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
        assignor_name=ASSIGNOR,
        members=[_member(member, context) for member in group.members.values()],
        authorized_operations=operations,
    )


def _may_see_topics(group: ShareGroup, context: RequestContext) -> bool:
    topic_ids = {topic_id for member in group.members.values() for topic_id in member.assigned}
    topics = [context.cluster.topics.by_id(topic_id) for topic_id in topic_ids]
    names = sorted(topic.name for topic in topics if topic is not None)
    return not context.access.split(SHARE_GROUP_DESCRIBE_TOPIC, names, str)[1]


def _member(member: ShareMember, context: RequestContext) -> Member:
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        assignment=_row(member.assigned, context),
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
