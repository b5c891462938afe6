"""37 CreatePartitions, versions 0-3. Adds partitions, for each topic on its own (KIP-195).

Validation errors are returned only to callers with ALTER on the topic. A topic that is listed twice
gets INVALID_REQUEST (42) before that check. A denial has a message on ZooKeeper, but not on KRaft.
"""

from kafka_shim.authorizer.acl_requests import is_valid_zookeeper_subpath
from kafka_shim.authorizer.requirements import CREATE_PARTITIONS_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import require_controller
from kafka_shim.shim.handlers.common.duplicates import repeated_value_counts
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.common.topic_changes import (
    every_partition_was_led,
    hold_timed_out_response,
    take_mutation_quota,
)
from kafka_shim.shim.handlers.common.topic_plan import (
    PartitionBudget,
    TopicError,
    check_partition_count,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.placement import place_replicas_live_first
from kafka_shim.shim.state.topics import Topic
from kafka_shim.shim.wait import PendingResponse

STRICT_QUOTAS_SINCE = 3

MANY_CREATED = 2_000
"""More partitions are not created in one time slice."""


def handle(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse | PendingResponse[CreatePartitionsResponse]:
    require_controller(context)
    response = _add_partitions_to_topics(request, context)
    codes = {result.error_code for result in response.results}
    return hold_timed_out_response(response, codes, request.timeout_ms, context)


def _add_partitions_to_topics(
    request: CreatePartitionsRequest, context: RequestContext
) -> CreatePartitionsResponse:
    context.access.declare_no_further_checks()  # a topic given twice needs no check
    unlikely_fail = context.facts.topics.zookeeper_invalid_name_fails_create_partitions
    repeated_names = repeated_value_counts([topic.name for topic in request.topics])
    once = [topic for topic in request.topics if topic.name not in repeated_names]
    allowed, denied = context.access.split_allowed(
        CREATE_PARTITIONS_TOPIC, once, lambda topic: topic.name
    )
    validate_only = (
        request.validate_only and context.facts.topics.create_partitions_honours_validate_only
    )
    results = [
        _failed_topic(name, ErrorCode.INVALID_REQUEST, "duplicate topic") for name in repeated_names
    ]
    error = context.cluster.policy.bind(CREATE_PARTITIONS_TOPIC).error
    has_message = context.facts.topics.create_partitions_denial_has_message
    message = "topic authorization failed" if has_message else None
    results.extend(_failed_topic(topic.name, error, message) for topic in denied)
    budget = PartitionBudget()
    for request_topic in allowed:
        if unlikely_fail and not is_valid_zookeeper_subpath(request_topic.name):
            raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
        try:
            _create_partitions(request_topic, context, budget, validate_only=validate_only)
        except TopicError as failure:
            results.append(_failed_topic(request_topic.name, failure.error, failure.message))
        else:
            results.append(CreatePartitionsTopicResult(name=request_topic.name))
    return CreatePartitionsResponse(results=results)


error_response = mirroring_error_builder(
    CreatePartitionsResponse, request_field_names={"results": "topics"}
)


def _failed_topic(name: str, error: ErrorCode, message: str | None) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=error, error_message=message)


def _create_partitions(
    request_topic: CreatePartitionsTopic,
    context: RequestContext,
    budget: PartitionBudget,
    *,
    validate_only: bool,
) -> None:
    cluster = context.cluster
    topic = cluster.topics.get(request_topic.name)
    if topic is None:
        has_message = context.facts.topics.create_partitions_denial_has_message
        message = f"unknown topic `{request_topic.name}`" if has_message else None
        raise TopicError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, message)
    added = request_topic.count - len(topic.partitions)
    if added <= 0:
        message = (
            f"the topic has {len(topic.partitions)} partitions, {request_topic.count} is not more"
        )
        raise TopicError(ErrorCode.INVALID_PARTITIONS, message)
    records_max = context.facts.topics.created_records_per_request_max
    if records_max is not None and added > records_max:
        raise TopicError(ErrorCode.UNKNOWN_SERVER_ERROR, None)  # as by KRaft: no code for it
    check_partition_count(request_topic.count)
    budget.reserve(added)
    assignments = _replicas_of_new_partitions(request_topic, topic, added, context)
    if not validate_only or context.facts.users.validate_only_counts_for_mutation_quota:
        take_mutation_quota(context, added, STRICT_QUOTAS_SINCE)
    if not validate_only:
        cluster.topics.add_partitions(topic, assignments)
        cluster.replace_stopped_leaders()
        if not every_partition_was_led(topic):
            raise TopicError(ErrorCode.REQUEST_TIMED_OUT, None)


def _replicas_of_new_partitions(
    request_topic: CreatePartitionsTopic, topic: Topic, added: int, context: RequestContext
) -> list[list[int]]:
    factor = len(topic.partitions[0].replicas)
    nodes = context.cluster.nodes
    if request_topic.assignments is None:
        alive, stopped = (
            context.cluster.live_nodes(),
            context.cluster.stopped_replica_candidates(),
        )
        if factor > len(alive) + len(stopped):
            hosts = len(alive) + len(stopped)
            message = f"replication factor {factor}: there are only {hosts} brokers"
            raise TopicError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
        count = len(topic.partitions)
        return place_replicas_live_first(
            alive, stopped, added, factor, context.cluster.random, count
        )
    requested_replicas = [assignment.broker_ids for assignment in request_topic.assignments]
    if len(requested_replicas) != added:
        raise _invalid_assignment_error(
            f"replicas are assigned for {len(requested_replicas)} partitions, but {added} are to be"
            " created"
        )
    for replicas in requested_replicas:
        if not replicas or len(set(replicas)) < len(replicas):
            raise _invalid_assignment_error("a partition has no replicas, or a duplicate one")
        if any(node_id not in nodes for node_id in replicas):
            raise _invalid_assignment_error("unknown broker in the replicas")
        if len(replicas) != factor:
            raise _invalid_assignment_error(
                f"each partition must have {factor} replicas, like the existing ones"
            )
    return requested_replicas


def _invalid_assignment_error(message: str) -> TopicError:
    return TopicError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
