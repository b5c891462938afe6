"""20 DeleteTopics, versions 0-6. By name, or by id since version 6 (KIP-516).

KRaft hides names from callers without DESCRIBE: they get TOPIC_AUTHORIZATION_FAILED (29) by name,
whether or not the topic exists, and by id, without the name. Its results are unordered. Brokers on
ZooKeeper check DESCRIBE only for ids, and return UNKNOWN_TOPIC_OR_PARTITION (3) for a missing topic
to callers with DELETE.
"""

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kafka_shim.authorizer.requirements import DELETE_TOPICS, DELETE_TOPICS_DESCRIBE
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import require_controller
from kafka_shim.shim.handlers.common.duplicates import last_row_per_key
from kafka_shim.shim.handlers.common.topic_access import topic_error
from kafka_shim.shim.handlers.common.topic_changes import take_mutation_quota
from kafka_shim.shim.handlers.common.topic_plan import TopicError
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import NO_ID, Topic

STRICT_QUOTAS_SINCE = 5


class _AuthorizedNames(NamedTuple):
    """The topics that the caller may DESCRIBE, and DELETE."""

    describe: frozenset[str]
    delete: frozenset[str]


class _DeletionPlan(NamedTuple):
    """Rows of the response, and topics to delete."""

    results: list[DeletableTopicResult]
    deletable: list[Topic]


def handle(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    require_controller(context)
    _check_deletion_enabled(context)
    topics = _requested_topic_states(request)
    context.access.declare_no_further_checks()  # malformed entries need no check
    if context.facts.topics.delete_topics_rejects_repeated_topics:
        results, deletable = _plan_deletion_as_kraft(topics, context)
        results.extend(map(_deleted_topic_result, deletable))
        results = _shuffle_results(results, context.cluster.random.getrandbits(32))
    else:
        results, deletable = _plan_deletion_as_zookeeper(topics, context)
    for topic in _apply_mutation_quota(deletable, results, context):
        if context.cluster.topics.by_id(topic.topic_id) is topic:
            context.cluster.topics.delete_topic(topic.name)
    return DeleteTopicsResponse(responses=results)


def _apply_mutation_quota(
    deletable: list[Topic], results: list[DeletableTopicResult], context: RequestContext
) -> Iterator[Topic]:
    """Yield the topics that the client's quota allows to delete; set the error of the others."""
    for topic in deletable:
        try:
            take_mutation_quota(context, len(topic.partitions), STRICT_QUOTAS_SINCE)
        except TopicError as failure:
            for result in results:
                if result.topic_id == topic.topic_id or result.name == topic.name:
                    result.error_code, result.error_message = failure.error, failure.message
        else:
            yield topic


def error_response(
    request: DeleteTopicsRequest, error: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name, topic_id=topic.topic_id, error_code=error, error_message=message
            )
            for topic in _requested_topic_states(request)
        ]
    )


def _requested_topic_states(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """Return the requested topics as entries of version 6, which may have ids."""
    return request.topics or [DeleteTopicState(name=name) for name in request.topic_names]


def _check_deletion_enabled(context: RequestContext) -> None:
    if not context.facts.topics.disabled_topic_deletion_has_own_error:
        return
    if not context.cluster.configs.effective_broker_bool("delete.topic.enable", context.node_id):
        error = ErrorCode.TOPIC_DELETION_DISABLED
        raise RequestRejected(error if context.version >= 3 else ErrorCode.INVALID_REQUEST)


def _plan_deletion_as_kraft(
    topics: Iterable[DeleteTopicState], context: RequestContext
) -> _DeletionPlan:
    """Return the error rows and the topics to delete, as KRaft does."""
    results, names, ids = _separate_invalid_topics(topics)
    names_once, ids_once = names, ids
    rights = _deletable_names(names_once, ids_once, context)
    deletable: dict[bytes, Topic] = {}
    for topic_id in ids_once:
        outcome = _topic_to_delete_by_id(topic_id, rights, context)
        if isinstance(outcome, Topic):
            deletable[topic_id] = outcome
        else:
            results.append(outcome)
    for name in names_once:
        outcome = _topic_to_delete_by_name(name, rights, context)
        if not isinstance(outcome, Topic):
            results.append(outcome)
        elif outcome.topic_id in deletable:
            del deletable[outcome.topic_id]
            message = "the topic is named and also given by id"
            error = ErrorCode.INVALID_REQUEST
            results.append(_failed_topic_result(name, outcome.topic_id, error, message))
        else:
            deletable[outcome.topic_id] = outcome
    return _DeletionPlan(results, list(deletable.values()))


def _separate_invalid_topics(
    topics: Iterable[DeleteTopicState],
) -> tuple[list[DeletableTopicResult], list[str], list[bytes]]:
    """Return the error rows of entries that need no check, and the other names and ids."""
    results = _malformed_rows(topics)
    names = Counter(
        topic.name for topic in topics if topic.name is not None and topic.topic_id == NO_ID
    )
    ids = Counter(
        topic.topic_id for topic in topics if topic.name is None and topic.topic_id != NO_ID
    )
    results.extend(
        _failed_topic_result(name, NO_ID, ErrorCode.INVALID_REQUEST, "duplicate topic name")
        for name, count in names.items()
        if count > 1
    )
    results.extend(
        _failed_topic_result(None, topic_id, ErrorCode.INVALID_REQUEST, "duplicate topic id")
        for topic_id, count in ids.items()
        if count > 1
    )
    return (
        results,
        [name for name, count in names.items() if count == 1],
        [topic_id for topic_id, count in ids.items() if count == 1],
    )


def _shuffle_results(results: list[DeletableTopicResult], seed: int) -> list[DeletableTopicResult]:
    random.Random(seed).shuffle(results)  # noqa: S311 - no secret
    return results


def _malformed_rows(topics: Iterable[DeleteTopicState]) -> list[DeletableTopicResult]:
    results = []
    for topic in topics:
        if topic.name is None and topic.topic_id == NO_ID:
            message = "neither a topic name nor a topic id is given"
            results.append(_failed_topic_result(None, NO_ID, ErrorCode.INVALID_REQUEST, message))
        elif topic.name is not None and topic.topic_id != NO_ID:
            message = "both a topic name and a topic id are given"
            results.append(
                _failed_topic_result(topic.name, topic.topic_id, ErrorCode.INVALID_REQUEST, message)
            )
    return results


def _deletable_names(
    names: Iterable[str], ids: Iterable[bytes], context: RequestContext
) -> _AuthorizedNames:
    """Check DESCRIBE on all topics, then DELETE, also on missing ones, as 4.3.1's log shows."""
    existing_topics = map(context.cluster.topics.by_id, ids)
    named = dict.fromkeys([*names, *(topic.name for topic in existing_topics if topic is not None)])
    context.access.check_cluster_need(DELETE_TOPICS)
    described = context.access.filter_visible(DELETE_TOPICS_DESCRIBE, named, str)
    return _AuthorizedNames(
        frozenset(described), frozenset(context.access.filter_visible(DELETE_TOPICS, named, str))
    )


def _topic_to_delete_by_id(
    topic_id: bytes, rights: _AuthorizedNames, context: RequestContext
) -> Topic | DeletableTopicResult:
    topic = context.cluster.topics.by_id(topic_id)
    if topic is None:
        return _failed_topic_result(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if topic.name in rights.delete:
        return topic
    name = topic.name if topic.name in rights.describe else None
    return _failed_topic_result(name, topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _topic_to_delete_by_name(
    name: str, rights: _AuthorizedNames, context: RequestContext
) -> Topic | DeletableTopicResult:
    if name not in rights.describe:
        return _failed_topic_result(name, NO_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    topic = context.cluster.topics.get(name)
    if topic is None:
        return _failed_topic_result(name, NO_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if name not in rights.delete:
        return _failed_topic_result(name, NO_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return topic


def _deleted_topic_result(topic: Topic) -> DeletableTopicResult:
    return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _failed_topic_result(
    name: str | None, topic_id: bytes, error: ErrorCode, message: str | None = None
) -> DeletableTopicResult:
    """Return an error row with a message, by default the error's name, as in KRaft."""
    text = message or error.name.lower().replace("_", " ")
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error, error_message=text)


def _plan_deletion_as_zookeeper(
    topics: Iterable[DeleteTopicState], context: RequestContext
) -> _DeletionPlan:
    """Return all rows and the topics to delete as brokers on ZooKeeper do: in order, no messages.

    Raise RequestRejected if a topic has both a name and an id.
    """
    if any(topic.name is not None and topic.topic_id != NO_ID for topic in topics):
        raise RequestRejected(ErrorCode.INVALID_REQUEST)
    results, deletable = [], {}
    if not context.facts.topics.topic_admin_lists_each_repeated_name:
        topics = last_row_per_key(topics, lambda entry: entry.name)
    for entry in topics:
        result = DeletableTopicResult(name=entry.name, topic_id=entry.topic_id)
        results.append(result)
        if entry.topic_id != NO_ID:
            known = context.cluster.topics.by_id(entry.topic_id)
            result.error_code = ErrorCode.UNKNOWN_TOPIC_ID
            if known is None:
                continue
            result.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            if not context.access.allows(DELETE_TOPICS_DESCRIBE, known.name):
                continue
            result.name = known.name
        if result.name is None:
            result.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED  # no topic, so denied
            continue
        result.error_code = topic_error(context, DELETE_TOPICS, result.name)
        topic = context.cluster.topics.get(result.name)
        if topic is not None and result.error_code == ErrorCode.NONE:
            deletable[topic.name] = topic
    return _DeletionPlan(results, list(deletable.values()))
