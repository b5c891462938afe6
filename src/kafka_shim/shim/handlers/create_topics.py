"""19 CreateTopics, versions 0-7. Each topic is created or fails on its own (KIP-4, KIP-277,
KIP-525).

CREATE on the cluster or on the topic; a topic's validation errors are returned only to callers that
may create it. Without DESCRIBE_CONFIGS the topic is created, but the response omits its configs,
partition count and replication factor (version 5). DEVIATION: a new topic is in Metadata
immediately; brokers of a real cluster get it a moment later.
"""

from collections import Counter
from collections.abc import Collection

from kafka_shim.authorizer.requirements import CREATE_TOPICS, CREATE_TOPICS_CONFIGS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import require_controller
from kafka_shim.shim.handlers.common.topic_changes import (
    every_partition_was_led,
    hold_timed_out_response,
    take_mutation_quota,
)
from kafka_shim.shim.handlers.common.topic_plan import (
    PartitionBudget,
    TopicError,
    TopicPlan,
    plan_topic_creation,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import METADATA_LOG, NO_ID
from kafka_shim.shim.wait import PendingResponse

STRICT_QUOTAS_SINCE = 6

MANY_CREATED = 2_000
"""More partitions are not created in one time slice."""


def handle(
    request: CreateTopicsRequest, context: RequestContext
) -> CreateTopicsResponse | PendingResponse[CreateTopicsResponse]:
    require_controller(context)
    response = _create_topics(request, context)
    codes = {topic.error_code for topic in response.topics}
    return hold_timed_out_response(response, codes, request.timeout_ms, context)


def _create_topics(request: CreateTopicsRequest, context: RequestContext) -> CreateTopicsResponse:
    if context.cluster.policy.bind(CREATE_TOPICS).error is ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        context.access.require(CREATE_TOPICS)  # before CREATE on topics existed (KIP-277)
    counts = Counter(topic.name for topic in request.topics)
    checked_names = _names_to_authorize(counts, context)
    allowed = _creatable_names(checked_names, context)
    describable = _config_describable_names(checked_names, context)
    creatable = [
        topic for topic in request.topics if topic.name in allowed and counts[topic.name] == 1
    ]
    _check_created_record_count(creatable, context)
    results = {}
    budget = PartitionBudget()
    validate_only = (
        request.validate_only and context.facts.topics.create_topics_honours_validate_only
    )
    for topic in creatable:
        results[topic.name] = _create_topic(
            topic,
            context,
            budget,
            validate_only=validate_only,
            returns_configs=topic.name in describable,
        )
    if context.facts.topics.topic_admin_lists_each_repeated_name:
        responses = []
        for topic in request.topics:
            response = results.get(topic.name) or _rejected_topic_result(
                topic.name, counts, allowed, context
            )
            if topic.name not in results and topic.name not in describable:
                response.topic_config_error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            responses.append(response)
        return CreateTopicsResponse(topics=responses)
    rejected_names = sorted(counts.keys() - results.keys(), key=lambda name: counts[name] == 1)
    return CreateTopicsResponse(
        topics=[
            *results.values(),
            *(_rejected_topic_result(name, counts, allowed, context) for name in rejected_names),
        ]
    )


def error_response(
    request: CreateTopicsRequest, error: ErrorCode, message: str | None
) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[
            CreatableTopicResult(name=name, error_code=error, error_message=message)
            for name in dict.fromkeys(topic.name for topic in request.topics)
        ]
    )


def _names_to_authorize(counts: Counter[str], context: RequestContext) -> list[str]:
    """Return the names whose permissions are checked; a KRaft controller rejects repeated ones."""
    checks_repeated = not context.facts.topics.delete_topics_rejects_repeated_topics
    return [name for name, count in counts.items() if count == 1 or checks_repeated]


def _creatable_names(names: Collection[str], context: RequestContext) -> frozenset[str]:
    """Return the names that the caller may create; never the metadata log."""
    permitted_names = [name for name in names if not _is_forbidden_metadata_topic(name, context)]
    if not permitted_names:
        context.access.check_cluster_need(CREATE_TOPICS)
    allowed, _ = context.access.split_allowed(CREATE_TOPICS, permitted_names, lambda name: name)
    return frozenset(allowed)


def _config_describable_names(names: Collection[str], context: RequestContext) -> frozenset[str]:
    permitted_names = [name for name in names if not _is_forbidden_metadata_topic(name, context)]
    return frozenset(
        context.access.filter_visible(CREATE_TOPICS_CONFIGS, permitted_names, lambda name: name)
    )


def _is_forbidden_metadata_topic(name: str, context: RequestContext) -> bool:
    is_reserved = context.facts.topics.create_metadata_topic_error != ErrorCode.NONE
    return name == METADATA_LOG and is_reserved


def _rejected_topic_result(
    name: str, counts: Counter[str], creatable_names: Collection[str], context: RequestContext
) -> CreatableTopicResult:
    """Return the row of a duplicate, of the metadata log or of a denied topic, in this order."""
    message: str | None
    if counts[name] > 1:
        error, message = ErrorCode.INVALID_REQUEST, f"topic `{name}` is duplicate"
    elif _is_forbidden_metadata_topic(name, context):
        error = ErrorCode(context.facts.topics.create_metadata_topic_error)
        message = f"topic `{name}` is reserved for the controllers"
    else:
        assert name not in creatable_names
        error = context.cluster.policy.bind(CREATE_TOPICS).error
        message = context.facts.topics.create_topics_denial_message
    return CreatableTopicResult(name=name, error_code=error, error_message=message)


def _check_created_record_count(topics: list[CreatableTopic], context: RequestContext) -> None:
    """Raise POLICY_VIOLATION if the request exceeds a batch of the metadata log (KAFKA-14996)."""
    records_max = context.facts.topics.created_records_per_request_max
    if records_max is None:
        return
    records = len(topics) + sum(max(topic.num_partitions, 0) for topic in topics)
    if records > records_max:
        message = f"{records} topics and partitions in one request: at most {records_max}"
        raise RequestRejected(ErrorCode.POLICY_VIOLATION, message)


def _create_topic(
    topic: CreatableTopic,
    context: RequestContext,
    budget: PartitionBudget,
    *,
    validate_only: bool,
    returns_configs: bool,
) -> CreatableTopicResult:
    try:
        budget.check_within_limit(
            topic.num_partitions
        )  # placing that many replicas would block other clients
        plan = plan_topic_creation(topic, context.cluster)
        budget.reserve(len(plan.assignments))
        if not validate_only or context.facts.users.validate_only_counts_for_mutation_quota:
            take_mutation_quota(context, len(plan.assignments), STRICT_QUOTAS_SINCE)
    except TopicError as failure:
        return CreatableTopicResult(
            name=topic.name, error_code=failure.error, error_message=failure.message
        )
    topic_id = _apply_plan(plan, context, validate_only=validate_only)
    returned_id = (
        topic_id
        if returns_configs or context.facts.topics.create_topics_returns_ids_without_configs
        else NO_ID
    )
    created_topic = context.cluster.topics.get(plan.name)
    if created_topic is not None and not every_partition_was_led(created_topic):
        return CreatableTopicResult(
            name=plan.name,
            topic_id=returned_id,
            error_code=ErrorCode.REQUEST_TIMED_OUT,
            error_message=None,
        )
    if returns_configs:
        return _topic_result_with_configs(plan, topic_id, context)
    return CreatableTopicResult(
        name=plan.name,
        topic_id=returned_id,
        error_message=None,
        topic_config_error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    )


def _apply_plan(plan: TopicPlan, context: RequestContext, *, validate_only: bool) -> bytes:
    """Create the topic and return its id; if only validated, a new id on some releases."""
    topics = context.cluster.topics
    if not validate_only:
        topic = topics.create_topic(plan.name, plan.assignments, plan.configs)
        context.cluster.replace_stopped_leaders()
        return topic.topic_id
    return (
        topics.new_topic_id()
        if context.facts.topics.create_topics_returns_ids_without_configs
        else NO_ID
    )


def _topic_result_with_configs(
    plan: TopicPlan, topic_id: bytes, context: RequestContext
) -> CreatableTopicResult:
    configs = []
    if context.version >= 5 and context.facts.topics.create_topics_returns_configs:
        configs = [
            CreatableTopicConfigs(
                name=entry.name,
                value=entry.value,
                read_only=entry.read_only,
                config_source=entry.source,
                is_sensitive=entry.is_sensitive,
            )
            for entry in context.cluster.configs.topic_entries(
                plan.configs,
                keeps_spelling_and_internal_configs=context.facts.topics.create_topics_returns_configs_as_sent,
            )
        ]
    return CreatableTopicResult(
        name=plan.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(plan.assignments),
        replication_factor=len(plan.assignments[0]),
        configs=configs,
    )
