"""20 DeleteTopics, versions 0-6. By name, or by id from version 6 (KIP-516).

KRaft tells no name to those who may not DESCRIBE it: by name they get 29 whether the topic exists
or not, by id 29 without the name. Its results come in no order. Brokers on ZooKeeper ask DESCRIBE
only for ids, and say that a missing topic is missing to those who may DELETE it.
"""

from collections import Counter
from collections.abc import Iterable

from authorizer.requirements import DELETE_TOPICS, DELETE_TOPICS_DESCRIBE
from protocol.error_codes import ErrorCode
from protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from protocol.messages.delete_topics_response import DeletableTopicResult, DeleteTopicsResponse
from shim.context import RequestContext
from shim.errors import Refused
from shim.handling.controller import require_controller
from shim.handling.topic_access import topic_error
from shim.state.topics import NO_ID, Topic


def handle(request: DeleteTopicsRequest, context: RequestContext) -> DeleteTopicsResponse:
    require_controller(context)
    _check_enabled(context)
    topics = _asked(request)
    context.access.nothing_more()  # malformed entries are answered without asking
    if context.behaviour.kraft:
        results, doomed = _judge(topics, context)
        results.extend(_deleted(topic) for topic in doomed)
        context.cluster.random.shuffle(results)
    else:
        results, doomed = _judge_in_order(topics, context)
    for topic in doomed:
        context.cluster.topics.delete(topic.name)
    return DeleteTopicsResponse(responses=results)


def refuse(
    request: DeleteTopicsRequest, error: ErrorCode, message: str | None
) -> DeleteTopicsResponse:
    return DeleteTopicsResponse(
        responses=[
            DeletableTopicResult(
                name=topic.name, topic_id=topic.topic_id, error_code=error, error_message=message
            )
            for topic in _asked(request)
        ]
    )


def _asked(request: DeleteTopicsRequest) -> list[DeleteTopicState]:
    """Only version 6 has entries with ids."""
    return request.topics or [DeleteTopicState(name=name) for name in request.topic_names]


def _check_enabled(context: RequestContext) -> None:
    if not context.topic_behaviour.topic_deletion_has_code:
        return
    if not context.cluster.configs.broker_bool("delete.topic.enable", context.node_id):
        error = ErrorCode.TOPIC_DELETION_DISABLED
        raise Refused(error if context.version >= 3 else ErrorCode.INVALID_REQUEST)


def _judge(
    topics: Iterable[DeleteTopicState], context: RequestContext
) -> tuple[list[DeletableTopicResult], list[Topic]]:
    """As KRaft: what is answered with an error, and what is deleted."""
    results = _malformed(topics)
    names = Counter(one.name for one in topics if one.name is not None and one.topic_id == NO_ID)
    ids = Counter(one.topic_id for one in topics if one.name is None and one.topic_id != NO_ID)
    results.extend(
        _failed(name, NO_ID, ErrorCode.INVALID_REQUEST, "topic name is given twice")
        for name, count in names.items()
        if count > 1
    )
    results.extend(
        _failed(None, topic_id, ErrorCode.INVALID_REQUEST, "topic id is given twice")
        for topic_id, count in ids.items()
        if count > 1
    )
    doomed: dict[bytes, Topic] = {}
    for topic_id in (one for one, count in ids.items() if count == 1):
        outcome = _judge_id(topic_id, context)
        if isinstance(outcome, Topic):
            doomed[topic_id] = outcome
        else:
            results.append(outcome)
    for name in (one for one, count in names.items() if count == 1):
        outcome = _judge_name(name, context)
        if not isinstance(outcome, Topic):
            results.append(outcome)
        elif outcome.topic_id in doomed:
            del doomed[outcome.topic_id]
            message = "topic is given by name and by id"
            error = ErrorCode.INVALID_REQUEST
            results.append(_failed(name, outcome.topic_id, error, message))
        else:
            doomed[outcome.topic_id] = outcome
    return results, list(doomed.values())


def _malformed(topics: Iterable[DeleteTopicState]) -> list[DeletableTopicResult]:
    results = []
    for one in topics:
        if one.name is None and one.topic_id == NO_ID:
            message = "neither topic name nor id is given"
            results.append(_failed(None, NO_ID, ErrorCode.INVALID_REQUEST, message))
        elif one.name is not None and one.topic_id != NO_ID:
            message = "topic name and id are both given"
            results.append(_failed(one.name, one.topic_id, ErrorCode.INVALID_REQUEST, message))
    return results


def _judge_id(topic_id: bytes, context: RequestContext) -> Topic | DeletableTopicResult:
    topic = context.cluster.topics.by_id(topic_id)
    if topic is None:
        return _failed(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if context.access.allows(DELETE_TOPICS, topic.name):
        return topic
    is_told = context.access.allows(DELETE_TOPICS_DESCRIBE, topic.name)
    name = topic.name if is_told else None
    return _failed(name, topic_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _judge_name(name: str, context: RequestContext) -> Topic | DeletableTopicResult:
    if not context.access.allows(DELETE_TOPICS_DESCRIBE, name):
        return _failed(name, NO_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    topic = context.cluster.topics.get(name)
    if topic is None:
        return _failed(name, NO_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if not context.access.allows(DELETE_TOPICS, name):
        return _failed(name, NO_ID, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return topic


def _deleted(topic: Topic) -> DeletableTopicResult:
    return DeletableTopicResult(name=topic.name, topic_id=topic.topic_id)


def _failed(
    name: str | None, topic_id: bytes, error: ErrorCode, message: str | None = None
) -> DeletableTopicResult:
    """Every error of KRaft has a text, its own or that of the code."""
    text = message or error.name.lower().replace("_", " ")
    return DeletableTopicResult(name=name, topic_id=topic_id, error_code=error, error_message=text)


def _judge_in_order(
    topics: Iterable[DeleteTopicState], context: RequestContext
) -> tuple[list[DeletableTopicResult], list[Topic]]:
    """As brokers on ZooKeeper: entry by entry, without texts."""
    if any(one.name is not None and one.topic_id != NO_ID for one in topics):
        raise Refused(ErrorCode.INVALID_REQUEST)
    results, doomed = [], {}
    entries = list(topics)
    if not context.topic_behaviour.answers_each_duplicate:
        entries = list({one.name: one for one in entries}.values())
    for one in entries:
        result = DeletableTopicResult(name=one.name, topic_id=one.topic_id)
        results.append(result)
        if one.topic_id != NO_ID:
            known = context.cluster.topics.by_id(one.topic_id)
            result.error_code = ErrorCode.UNKNOWN_TOPIC_ID
            if known is None:
                continue
            result.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            if not context.access.allows(DELETE_TOPICS_DESCRIBE, known.name):
                continue
            result.name = known.name
        if result.name is None:
            result.error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED  # nobody may delete nothing
            continue
        result.error_code = topic_error(context, DELETE_TOPICS, result.name)
        topic = context.cluster.topics.get(result.name)
        if topic is not None and result.error_code == ErrorCode.NONE:
            doomed[topic.name] = topic
    return results, list(doomed.values())
