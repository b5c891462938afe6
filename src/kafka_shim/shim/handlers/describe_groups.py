"""15 DescribeGroups, versions 0-6. Classic groups, their members and assignments.

Denied groups come first. A group that does not exist has state `Dead`, no error, and authorized
operations if requested; since version 6 it gets GROUP_ID_NOT_FOUND (69) without them (KIP-1043).
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import DESCRIBE_GROUPS
from kafka_shim.protocol.enums import NO_OPERATIONS, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.classic.classic_members import DescribedMember
from kafka_shim.shim.state.java_collections import in_hash_map_order

CACHED_SINCE = 0
OPERATIONS_SINCE = 3
MISSING_IS_AN_ERROR_SINCE = 6
DEAD = "Dead"


def handle(request: DescribeGroupsRequest, context: RequestContext) -> DescribeGroupsResponse:
    names = request.groups
    if not context.facts.groups.describe_groups_lists_each_repeated_group:
        names = list(dict.fromkeys(names))
    allowed, denied = context.access.split_each_allowed(DESCRIBE_GROUPS, names)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    return DescribeGroupsResponse(
        groups=[_failed_group(group_id, refused, context) for group_id in denied]
        + [
            _describe_group(group_id, request.include_authorized_operations, context)
            for group_id in allowed
        ]
    )


error_response = mirroring_error_builder(
    DescribeGroupsResponse, constant_fields={"error_message": None}
)


def _failed_group(group_id: str, error: ErrorCode, context: RequestContext) -> DescribedGroup:
    return DescribedGroup(
        error_code=error,
        group_id=group_id,
        authorized_operations=_default_operations(context),
    )


def _default_operations(context: RequestContext) -> int:
    """Return the value of authorized operations that were not requested."""
    known = context.version >= OPERATIONS_SINCE
    return context.facts.access.unrequested_operations_value if known else NO_OPERATIONS


def _describe_group(
    group_id: str, wants_operations: bool, context: RequestContext
) -> DescribedGroup:
    error = context.group_coordinator_error(group_id)
    if error is not ErrorCode.NONE:
        return _failed_group(group_id, error, context)
    groups = context.cluster.groups
    group = groups.find_classic_group(group_id)
    if not groups.is_listed(group_id):
        group = None
    if group is None and context.version >= MISSING_IS_AN_ERROR_SINCE:
        return DescribedGroup(
            error_code=ErrorCode.GROUP_ID_NOT_FOUND,
            error_message=f"group `{group_id}` does not exist",
            group_id=group_id,
            group_state=DEAD,
            authorized_operations=NO_OPERATIONS,
        )
    operations = _default_operations(context)
    if wants_operations:
        operations = context.access.authorized_operations(ResourceType.GROUP, group_id)
    if group is None:
        return DescribedGroup(group_id=group_id, group_state=DEAD, authorized_operations=operations)
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state_name,
        protocol_type=group.protocol_type,
        protocol_data=group.stable_protocol_name,
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata,
                member_assignment=member.assignment,
            )
            for member in _members_in_coordinator_order(group.described_members(), context)
        ],
        authorized_operations=operations,
    )


def _members_in_coordinator_order(
    members: Iterable[DescribedMember], context: RequestContext
) -> list[DescribedMember]:
    """Return members in the coordinator's order, which is that of a HashMap in newer releases."""
    by_id = {member.member_id: member for member in members}
    if not context.facts.groups.java_group_coordinator:
        return list(by_id.values())
    return [by_id[member_id] for member_id in in_hash_map_order(by_id)]
