"""16 ListGroups, versions 0-5. The groups that this broker coordinates, optionally filtered by
state (KIP-518) and type (KIP-848).

With DESCRIBE on the cluster all groups are listed, without it those with DESCRIBE on the group, and
never an error (KIP-231); the oldest releases return CLUSTER_AUTHORIZATION_FAILED (31) instead.
"""

from kafka_shim.authorizer.requirements import LIST_GROUPS
from kafka_shim.protocol.error_codes import NO_ERROR
from kafka_shim.protocol.messages.list_groups import (
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.group import Group

CACHED_SINCE = 0


def handle(request: ListGroupsRequest, context: RequestContext) -> ListGroupsResponse:
    groups = context.cluster.groups
    ours = [
        group
        for group in groups
        if context.group_coordinator_error(group.group_id) is NO_ERROR
        and groups.is_listed(group.group_id)
        and _matches_filter(group.state_name, request.states_filter, context)
        and _matches_filter(group.type.value, request.types_filter, context)
    ]
    visible = _groups_in_map_order(_visible_groups(ours, context), context)
    return ListGroupsResponse(
        groups=[
            ListedGroup(
                group_id=group.group_id,
                protocol_type=group.protocol_type,
                group_state=group.state_name,
                group_type=group.type.value,
            )
            for group in visible
        ]
    )


error_response = mirroring_error_builder(ListGroupsResponse)


def _visible_groups(groups: list[Group], context: RequestContext) -> list[Group]:
    if context.cluster.policy.bind(LIST_GROUPS).error is not NO_ERROR:
        context.access.require(LIST_GROUPS)
        return groups
    context.access.check_cluster_need(LIST_GROUPS)
    return context.access.filter_visible(LIST_GROUPS, groups, lambda group: group.group_id)


def _groups_in_map_order(groups: list[Group], context: RequestContext) -> list[Group]:
    if not context.facts.groups.java_group_coordinator:
        return groups
    by_id = {group.group_id: group for group in groups}
    ordered_ids = context.cluster.coordinators.listed_group_ids(by_id, context.node_id)
    return [by_id[group_id] for group_id in ordered_ids]


def _matches_filter(value: str, filter_values: list[str], context: RequestContext) -> bool:
    if not filter_values:
        return True
    if context.facts.groups.list_groups_filters_ignore_case:
        return value.lower() in {name.lower() for name in filter_values}
    return value in filter_values
