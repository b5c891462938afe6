"""89 StreamsGroupDescribe, versions 0-1. Streams groups: their topology, their members, and the
current and target tasks of those (KIP-1071).

As in ConsumerGroupDescribe, denied groups come first; if the caller may not DESCRIBE a topic of the
topology, the group's entry only has TOPIC_AUTHORIZATION_FAILED (29); missing groups get
GROUP_ID_NOT_FOUND (69).
"""

from collections.abc import Iterable, Mapping

from kafka_shim.authorizer.requirements import (
    STREAMS_GROUP_DESCRIBE_GROUP,
    STREAMS_GROUP_DESCRIBE_TOPIC,
)
from kafka_shim.protocol.messages import streams_group_topology_description_update as stored
from kafka_shim.protocol.messages.streams_group_describe import (
    Assignment as AssignmentRow,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
    Subtopology as SubtopologyRow,
    TaskIds,
    TaskOffset,
    TopicInfo,
    Topology,
    TopologyDescription,
    TopologyDescriptionGlobalStore,
    TopologyDescriptionNode,
    TopologyDescriptionSubtopology,
)
from kafka_shim.shim.handlers.common.group_description import GroupDescribeApi, members_in_map_order
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.groups.member_requests import MemberRequests
from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
from kafka_shim.shim.state.groups.streams.streams_member import StreamsMember, TaskOffsets
from kafka_shim.shim.state.groups.streams.streams_topology import InternalTopic
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_by_subtopology,
    standby_tasks_by_subtopology,
)

_NOT_STORED, _AVAILABLE = 1, 3
"""States of a topology's description (KIP-1331)."""


def handle(
    request: StreamsGroupDescribeRequest, context: RequestContext
) -> StreamsGroupDescribeResponse:
    groups = DESCRIPTION.describe_all(request, context)
    for group in groups if request.include_topology_description else ():
        if not group.error_code:
            _add_topology_description(group, context.cluster.member_requests)
    return StreamsGroupDescribeResponse(groups=groups)


def _add_topology_description(group_row: DescribedGroup, requests: MemberRequests) -> None:
    group = requests.groups.find_streams_group(group_row.group_id)
    description = (
        None if group is None else requests.topology_descriptions.current_description(group)
    )
    if description is None:
        group_row.topology_description_status = _NOT_STORED
    else:
        group_row.topology_description_status = _AVAILABLE
        group_row.topology_description = convert_topology(description)


error_response = mirroring_error_builder(
    StreamsGroupDescribeResponse, request_field_names={"groups": "group_ids"}
)


def _topic_names_of_topology(group: StreamsGroup, _context: RequestContext) -> list[str]:
    return [] if group.topology is None else list(dict.fromkeys(group.topology.all_topic_names()))


def _describe_group(
    group: StreamsGroup, operations: int, context: RequestContext
) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.target.epoch,
        assignment_epoch=group.target.target_epoch,
        topology=_describe_topology(group),
        members=[_describe_member(group, member) for member in members_in_map_order(group.members)],
        authorized_operations=operations,
        assignor_name=group.assignor_name,
    )


def _describe_topology(group: StreamsGroup) -> Topology | None:
    configured = group.tasks.configured
    if group.topology is None or configured is None:
        return None
    shows_counts = configured.is_ready and group.shows_partition_counts
    partition_counts = configured.partitions if shows_counts else {}
    return Topology(
        epoch=group.topology.epoch,
        subtopologies=[
            SubtopologyRow(
                subtopology_id=subtopology.subtopology_id,
                source_topics=sorted(subtopology.sources),
                repartition_sink_topics=sorted(subtopology.sinks),
                state_changelog_topics=[
                    _internal_topic_info(topic, partition_counts)
                    for topic in subtopology.changelogs
                ],
                repartition_source_topics=[
                    _internal_topic_info(topic, partition_counts)
                    for topic in subtopology.repartition
                ],
            )
            for subtopology in group.topology.subtopologies
        ],
    )


def _internal_topic_info(topic: InternalTopic, partition_counts: Mapping[str, int]) -> TopicInfo:
    return TopicInfo(
        name=topic.name,
        partitions=partition_counts.get(topic.name, topic.partitions),
        replication_factor=topic.replication_factor,
        topic_configs=[KeyValue(key=key, value=value) for key, value in topic.configs],
    )


def _describe_member(group: StreamsGroup, member: StreamsMember) -> Member:
    endpoint = None
    if member.endpoint is not None:
        endpoint = Endpoint(host=member.endpoint[0], port=member.endpoint[1])
    return Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=endpoint,
        client_tags=[KeyValue(key=key, value=value) for key, value in member.client_tags.items()],
        task_offsets=_task_offset_rows(member.task_offsets),
        task_end_offsets=_task_offset_rows(member.task_end_offsets),
        assignment=_assignment_row(member.assigned),
        target_assignment=_assignment_row(group.target.target_of_member(member.member_id)),
    )


def _task_offset_rows(offsets: TaskOffsets) -> list[TaskOffset]:
    return [TaskOffset(*row) for row in sorted(offsets)]


def _assignment_row(assignment: Assignment) -> AssignmentRow:
    return AssignmentRow(
        active_tasks=_task_ids_by_subtopology(active_tasks_by_subtopology(assignment)),
        standby_tasks=_task_ids_by_subtopology(standby_tasks_by_subtopology(assignment)),
    )


def _task_ids_by_subtopology(tasks: Assignment) -> list[TaskIds]:
    return [
        TaskIds(subtopology_id=subtopology_id.decode(), partitions=sorted(partitions))
        for subtopology_id, partitions in tasks.items()
    ]


DESCRIPTION = GroupDescribeApi(
    protocol="streams",
    group_requirement=STREAMS_GROUP_DESCRIBE_GROUP,
    topic_requirement=STREAMS_GROUP_DESCRIBE_TOPIC,
    find_group=Groups.find_streams_group,
    topic_names_of_group=_topic_names_of_topology,
    describe=_describe_group,
    row_type=DescribedGroup,
)


SOURCE, PROCESSOR, SINK = 1, 2, 3
"""Types of nodes."""


def convert_topology(description: stored.TopologyDescription) -> TopologyDescription:
    """Return the description in the form of the response."""
    return TopologyDescription(
        subtopologies=[
            TopologyDescriptionSubtopology(
                subtopology_id=subtopology.subtopology_id,
                nodes=[_convert_node(node) for node in subtopology.nodes],
            )
            for subtopology in description.subtopologies
        ],
        global_stores=[
            TopologyDescriptionGlobalStore(
                source=_convert_node(store.source), processor=_convert_node(store.processor)
            )
            for store in description.global_stores
        ],
    )


def _convert_node(node: stored.TopologyDescriptionNode) -> TopologyDescriptionNode:
    return TopologyDescriptionNode(
        name=node.name,
        node_type=node.node_type,
        source_topics=_deduplicated(node.source_topics) if node.node_type == SOURCE else [],
        sink_topic=node.sink_topic if node.node_type == SINK else None,
        stores=_deduplicated(node.stores) if node.node_type == PROCESSOR else [],
        successors=_deduplicated(node.successors),
    )


def _deduplicated(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
