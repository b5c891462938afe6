"""69 ConsumerGroupDescribe, versions 0-1. Groups of the consumer protocol, with the current and
target assignments of their members (KIP-848).

Denied groups come first. If the caller may not DESCRIBE a topic of an assignment, the group's entry
only has TOPIC_AUTHORIZATION_FAILED (29). Groups that do not exist or have another type get
GROUP_ID_NOT_FOUND (69).
"""

from kafka_shim.authorizer.requirements import (
    CONSUMER_GROUP_DESCRIBE_GROUP,
    CONSUMER_GROUP_DESCRIBE_TOPIC,
)
from kafka_shim.protocol.messages.consumer_group_describe import (
    Assignment as AssignmentRow,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
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
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
from kafka_shim.shim.state.groups.consumer.consumer_member import ConsumerMember
from kafka_shim.shim.state.groups.groups import Groups

CLASSIC_MEMBER = 0
CONSUMER_MEMBER = 1
MEMBER_TYPE_SINCE = 1


def handle(
    request: ConsumerGroupDescribeRequest, context: RequestContext
) -> ConsumerGroupDescribeResponse:
    return ConsumerGroupDescribeResponse(groups=DESCRIPTION.describe_all(request, context))


error_response = mirroring_error_builder(
    ConsumerGroupDescribeResponse, request_field_names={"groups": "group_ids"}
)


def _topic_names_of_group(group: ConsumerGroup, context: RequestContext) -> list[str]:
    members = group.members.values()
    shown = [group.described_assignment(member) for member in members]
    return assigned_topic_names(
        shown + [group.target.target_of_member(member.member_id) for member in members], context
    )


def _describe_group(
    group: ConsumerGroup, operations: int, context: RequestContext
) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.target.epoch,
        assignment_epoch=group.target.target_epoch,
        assignor_name=group.assignor_name,
        members=[
            _describe_member(group, member, context)
            for member in members_in_map_order(group.members)
        ],
        authorized_operations=operations,
    )


def _describe_member(
    group: ConsumerGroup, member: ConsumerMember, context: RequestContext
) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topic_names),
        subscribed_topic_regex=member.topic_regex or "",
        assignment=_assignment_row(group.described_assignment(member), context),
        target_assignment=_assignment_row(group.target.target_of_member(member.member_id), context),
        member_type=_member_type(member) if context.version >= MEMBER_TYPE_SINCE else -1,
    )


def _member_type(member: ConsumerMember) -> int:
    return CLASSIC_MEMBER if member.uses_classic_protocol else CONSUMER_MEMBER


def _assignment_row(assignment: Assignment, context: RequestContext) -> AssignmentRow:
    return AssignmentRow(
        [TopicPartitions(*topic) for topic in existing_topics_of_assignment(assignment, context)]
    )


DESCRIPTION = GroupDescribeApi(
    protocol="consumer",
    group_requirement=CONSUMER_GROUP_DESCRIBE_GROUP,
    topic_requirement=CONSUMER_GROUP_DESCRIBE_TOPIC,
    find_group=Groups.find_consumer_group,
    topic_names_of_group=_topic_names_of_group,
    describe=_describe_group,
    row_type=DescribedGroup,
)
