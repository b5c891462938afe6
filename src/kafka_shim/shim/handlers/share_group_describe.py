"""77 ShareGroupDescribe, version 1. Share groups, their members and assignments (KIP-932).

As in ConsumerGroupDescribe, denied groups come first; if the caller may not DESCRIBE a topic, the
group's entry only has TOPIC_AUTHORIZATION_FAILED (29); missing groups get GROUP_ID_NOT_FOUND (69).
"""

from kafka_shim.authorizer.requirements import (
    SHARE_GROUP_DESCRIBE_GROUP,
    SHARE_GROUP_DESCRIBE_TOPIC,
)
from kafka_shim.protocol.messages.share_group_describe import (
    Assignment as AssignmentRow,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from kafka_shim.shim.handlers.common.group_description import (
    GroupDescribeApi,
    assigned_topic_names,
    existing_topics_of_assignment,
    members_in_map_order,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.groups.share.share_group import ASSIGNOR, ShareGroup, ShareMember


def handle(
    request: ShareGroupDescribeRequest, context: RequestContext
) -> ShareGroupDescribeResponse:
    return ShareGroupDescribeResponse(groups=DESCRIPTION.describe_all(request, context))


error_response = mirroring_error_builder(
    ShareGroupDescribeResponse, request_field_names={"groups": "group_ids"}
)


def _assigned_topic_names_of_group(group: ShareGroup, context: RequestContext) -> list[str]:
    return assigned_topic_names([member.assigned for member in group.members.values()], context)


def _describe_group(group: ShareGroup, operations: int, context: RequestContext) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.target.epoch,
        assignment_epoch=group.target.target_epoch,
        assignor_name=ASSIGNOR,
        members=[
            _describe_member(member, context) for member in members_in_map_order(group.members)
        ],
        authorized_operations=operations,
    )


def _describe_member(member: ShareMember, context: RequestContext) -> Member:
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        assignment=AssignmentRow(
            [
                TopicPartitions(*topic)
                for topic in existing_topics_of_assignment(member.assigned, context)
            ]
        ),
    )


DESCRIPTION = GroupDescribeApi(
    protocol="share",
    group_requirement=SHARE_GROUP_DESCRIBE_GROUP,
    topic_requirement=SHARE_GROUP_DESCRIBE_TOPIC,
    find_group=Groups.find_share_group,
    topic_names_of_group=_assigned_topic_names_of_group,
    describe=_describe_group,
    row_type=DescribedGroup,
)
