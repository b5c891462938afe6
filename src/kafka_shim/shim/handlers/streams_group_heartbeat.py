"""88 StreamsGroupHeartbeat, versions 0-1. Joins or leaves a streams group, keeps a member alive,
and returns its tasks (KIP-1071).

READ on the group; then the topology's names are checked, where an invalid one gives
STREAMS_INVALID_TOPOLOGY (130); then DESCRIBE on all its topics: a denied one fails the request.
Missing internal topics are created if the caller has CREATE, otherwise a status names them. They
are checked as CreateTopics checks topics: the group stays `NotReady` while one cannot be created.
Members may be static since 4.4.
"""

import contextlib
from collections.abc import Mapping

from kafka_shim.authorizer.requirements import (
    STREAMS_GROUP_HEARTBEAT_CREATE,
    STREAMS_GROUP_HEARTBEAT_GROUP,
    STREAMS_GROUP_HEARTBEAT_TOPIC,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
)
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    CopartitionGroup as CopartitionGroupRow,
    EndpointToPartitions,
    RequestTaskIds,
    ResponseEndpoint,
    ResponseTaskIds,
    Status as StatusRow,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
    TaskOffset,
    TopicInfo,
    TopicPartition,
    Topology,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.topic_plan import (
    DEFAULT_COUNT,
    PartitionBudget,
    TopicError,
    plan_topic_creation,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.reconciliation import LEAVING_FOR_A_WHILE
from kafka_shim.shim.state.groups.streams.streams_member import (
    EndpointTasks,
    StreamsHeartbeat,
    StreamsHeartbeatResult,
    StreamsStatus,
    TaskOffsets,
)
from kafka_shim.shim.state.groups.streams.streams_topology import (
    CopartitionGroup,
    InternalTopic,
    StreamsTopology,
    Subtopology,
)
from kafka_shim.shim.state.groups.streams.task_kinds import (
    active_tasks_as_standby,
    active_tasks_by_subtopology,
    standby_tasks_by_subtopology,
)


def handle(
    request: StreamsGroupHeartbeatRequest, context: RequestContext
) -> StreamsGroupHeartbeatResponse:
    context.require_group_protocol("streams")
    context.access.require(STREAMS_GROUP_HEARTBEAT_GROUP, request.group_id)
    topology = None if request.topology is None else _parse_topology(request.topology)
    if topology is not None:
        message = topology.invalid_topic_name_error(context.cluster.topics.internal_names)
        if message is not None:
            raise RequestRejected(ErrorCode.STREAMS_INVALID_TOPOLOGY, message)
        names = _distinct_topic_names(topology)
        if context.access.split_allowed(STREAMS_GROUP_HEARTBEAT_TOPIC, names, str)[1]:
            raise RequestRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    _check_fields_supported(request, context)
    _check_heartbeat_fields(request, topology)
    context.require_group_coordinator(request.group_id)
    response = context.cluster.member_requests.handle_streams_heartbeat(
        request.group_id, _heartbeat_of_request(request, topology, context)
    )
    return _heartbeat_response(response, _create_internal_topics(response, context))


def error_response(
    request: StreamsGroupHeartbeatRequest, error: ErrorCode, message: str | None
) -> StreamsGroupHeartbeatResponse:
    return StreamsGroupHeartbeatResponse(error_code=error, error_message=message)


def _check_fields_supported(request: StreamsGroupHeartbeatRequest, context: RequestContext) -> None:
    """Raise RequestRejected for fields that the release does not support yet."""
    is_early = not context.facts.groups.streams_supports_static_members
    reported = (request.task_offsets, request.task_end_offsets)
    subtopologies = [] if request.topology is None else request.topology.subtopologies
    for is_unsupported, feature in (
        (is_early and request.instance_id is not None, "static members"),
        (is_early and reported != (None, None), "task offsets"),
        (is_early and bool(request.warmup_tasks), "warm-up tasks"),
        (any(subtopology.source_topic_regex for subtopology in subtopologies), "expressions"),
    ):
        if is_unsupported:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, f"{feature} are not supported")


def _check_heartbeat_fields(
    request: StreamsGroupHeartbeatRequest, topology: StreamsTopology | None
) -> None:
    """Raise the errors that do not depend on the group's state."""
    joins = request.member_epoch == 0
    tasks = (request.active_tasks, request.standby_tasks, request.warmup_tasks)
    some_tasks = sum(task_ids is not None for task_ids in tasks)
    for is_wrong, text in (
        (not request.member_id.strip(), "the member id is empty"),
        (not request.group_id.strip(), "the group id is empty"),
        (request.instance_id == "", "the instance id is empty"),
        (request.rack_id == "", "the rack id is empty"),
        (
            joins and request.rebalance_timeout_ms == -1,
            "a joining member must send a rebalance timeout",
        ),
        (joins and topology is None, "a joining member must send a topology"),
        (
            joins and any(task_ids != [] for task_ids in tasks),
            "a joining member cannot have running tasks",
        ),
        (
            not joins and topology is not None,
            "only joining members may send a topology",
        ),
        (some_tasks not in (0, len(tasks)), "either all task lists or none must be set"),
        (
            request.member_epoch == LEAVING_FOR_A_WHILE and request.instance_id is None,
            "only static members can leave temporarily",
        ),
        (request.member_epoch < LEAVING_FOR_A_WHILE, "invalid member epoch"),
    ):
        if is_wrong:
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    tags = [tag.key for tag in request.client_tags or ()]
    if len(set(tags)) < len(tags) or (
        topology is not None and topology.has_duplicate_subtopology_ids
    ):
        # Not foreseen by Kafka, whose maps refuse it.
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    sourceless = None if topology is None else topology.subtopology_without_sources()
    if sourceless is not None:
        text = f"subtopology `{sourceless}` has no source topics"
        raise RequestRejected(ErrorCode.STREAMS_INVALID_TOPOLOGY, text)


def _parse_topology(topology: Topology) -> StreamsTopology:
    return StreamsTopology(
        topology.epoch,
        tuple(
            Subtopology(
                subtopology.subtopology_id,
                tuple(subtopology.source_topics),
                tuple(subtopology.repartition_sink_topics),
                tuple(_internal_topic(topic) for topic in subtopology.repartition_source_topics),
                tuple(_internal_topic(topic) for topic in subtopology.state_changelog_topics),
                tuple(map(_copartition_group, subtopology.copartition_groups)),
            )
            for subtopology in topology.subtopologies
        ),
    )


def _copartition_group(group: CopartitionGroupRow) -> CopartitionGroup:
    return CopartitionGroup(
        tuple(group.source_topics),
        tuple(group.repartition_source_topics),
        tuple(group.source_topic_regex),
    )


def _distinct_topic_names(topology: StreamsTopology) -> list[str]:
    return list(dict.fromkeys(topology.all_topic_names()))


def _internal_topic(topic: TopicInfo) -> InternalTopic:
    configs = tuple((config.key, config.value) for config in topic.topic_configs)
    return InternalTopic(topic.name, topic.partitions, topic.replication_factor, configs)


def _heartbeat_of_request(
    request: StreamsGroupHeartbeatRequest,
    topology: StreamsTopology | None,
    context: RequestContext,
) -> StreamsHeartbeat:
    endpoint = request.user_endpoint
    tags = request.client_tags
    return StreamsHeartbeat(
        member_id=request.member_id,
        member_epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topology=topology,
        owned=_reported_tasks(request),
        reported_tasks=_reported_partitions_by_subtopology(request),
        task_offsets=_task_offsets_of_rows(request.task_offsets),
        task_end_offsets=_task_offsets_of_rows(request.task_end_offsets),
        process_id=request.process_id,
        endpoint=None if endpoint is None else (endpoint.host, endpoint.port),
        endpoint_epoch=request.endpoint_information_epoch,
        client_tags=None if tags is None else {tag.key: tag.value for tag in tags},
        shuts_down_application=request.shutdown_application,
        is_version_1=context.version >= 1,
        client_id=context.header.client_id or "",
        client_host=f"/{context.session.host}",
    )


def _reported_tasks(request: StreamsGroupHeartbeatRequest) -> Assignment | None:
    """Return the active and standby tasks that a member runs; None if it does not report them."""
    if request.active_tasks is None:
        return None
    return _assignment_of_task_ids(request.active_tasks) | active_tasks_as_standby(
        _assignment_of_task_ids(request.standby_tasks or [])
    )


def _assignment_of_task_ids(tasks: list[RequestTaskIds]) -> Assignment:
    return {task.subtopology_id.encode(): frozenset(task.partitions) for task in tasks}


def _reported_partitions_by_subtopology(
    request: StreamsGroupHeartbeatRequest,
) -> dict[str, frozenset[int]]:
    """Return the partitions of all reported tasks, by subtopology."""
    partitions: dict[str, frozenset[int]] = {}
    for tasks in (request.active_tasks, request.standby_tasks, request.warmup_tasks):
        for task in tasks or ():
            before = partitions.get(task.subtopology_id, frozenset())
            partitions[task.subtopology_id] = before | frozenset(task.partitions)
    return partitions


def _task_offsets_of_rows(offsets: list[TaskOffset] | None) -> TaskOffsets | None:
    if offsets is None:
        return None
    return tuple((row.subtopology_id, row.partition, row.offset) for row in offsets)


def _create_internal_topics(response: StreamsHeartbeatResult, context: RequestContext) -> list[str]:
    """Create missing internal topics; return the names of those that the caller may not create."""
    names = [topic.name for topic, _ in response.topics_to_create]
    denied = context.access.split_allowed(STREAMS_GROUP_HEARTBEAT_CREATE, names, str)[1]
    if denied:
        return denied
    budget = PartitionBudget()
    for topic, partitions in response.topics_to_create:
        with contextlib.suppress(TopicError):
            _create_internal_topic(topic, partitions, budget, context)
    return []


def _create_internal_topic(
    topic: InternalTopic, partitions: int, budget: PartitionBudget, context: RequestContext
) -> None:
    """Create an internal topic. Raise TopicError where CreateTopics rejects such a topic."""
    creatable = CreatableTopic(
        name=topic.name,
        num_partitions=partitions,
        replication_factor=topic.replication_factor or DEFAULT_COUNT,
        configs=[CreatableTopicConfig(name=name, value=value) for name, value in topic.configs],
    )
    budget.check_within_limit(partitions)  # placing that many replicas would block other clients
    plan = plan_topic_creation(creatable, context.cluster)
    budget.reserve(len(plan.assignments))
    context.cluster.topics.create_topic(plan.name, plan.assignments, plan.configs)
    context.cluster.replace_stopped_leaders()


def _heartbeat_response(
    result: StreamsHeartbeatResult, topics_denied_to_create: list[str]
) -> StreamsGroupHeartbeatResponse:
    statuses = []
    for status, text in result.statuses:
        if status is StreamsStatus.MISSING_INTERNAL_TOPICS and topics_denied_to_create:
            names = ", ".join(topics_denied_to_create)
            detail = f"{text}; Unauthorized to CREATE on topics {names}."
            statuses.append(StatusRow(status_code=status, status_detail=detail))
        else:
            statuses.append(StatusRow(status_code=status, status_detail=text))
    response = StreamsGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.member_epoch,
        heartbeat_interval_ms=result.interval_ms,
        task_offset_interval_ms=result.task_offset_interval_ms,
        acceptable_recovery_lag=result.recovery_lag,
        status=statuses,
        topology_description_required=result.requests_description,
        endpoint_information_epoch=result.endpoint_epoch,
        partitions_by_user_endpoint=_partitions_by_endpoint(result.endpoints),
    )
    if result.tasks is not None:
        response.active_tasks = _task_ids_by_subtopology(active_tasks_by_subtopology(result.tasks))
        response.standby_tasks = _task_ids_by_subtopology(
            standby_tasks_by_subtopology(result.tasks)
        )
        response.warmup_tasks = []
    return response


def _task_ids_by_subtopology(tasks: Assignment) -> list[ResponseTaskIds]:
    return [
        ResponseTaskIds(subtopology_id=subtopology_id.decode(), partitions=sorted(partitions))
        for subtopology_id, partitions in tasks.items()
    ]


def _partitions_by_endpoint(
    endpoints: tuple[EndpointTasks, ...] | None,
) -> list[EndpointToPartitions] | None:
    if endpoints is None:
        return None
    return [
        EndpointToPartitions(
            user_endpoint=ResponseEndpoint(host=at.endpoint[0], port=at.endpoint[1]),
            active_partitions=_topic_partition_rows(at.active),
            standby_partitions=_topic_partition_rows(at.standby),
        )
        for at in endpoints
    ]


def _topic_partition_rows(
    partitions_by_topic: Mapping[str, frozenset[int]],
) -> list[TopicPartition]:
    return [
        TopicPartition(topic=topic, partitions=sorted(partitions))
        for topic, partitions in partitions_by_topic.items()
    ]
