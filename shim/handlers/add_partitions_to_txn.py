"""24 AddPartitionsToTxn, versions 0-5. Makes partitions part of a transaction (KIP-98).

Up to version 3 clients send it: WRITE on the transactional id, or every partition is 53; then WRITE
topic by topic. One partition that cannot be added keeps the others out (55), and internal topics
are 29 for everyone. Later versions are for brokers, with many transactions, to add or to verify
(KIP-890): they need CLUSTER_ACTION and nothing else.
"""

from collections.abc import Iterable

from authorizer.requirements import (
    ADD_PARTITIONS_TO_TXN_CLUSTER,
    ADD_PARTITIONS_TO_TXN_TOPIC,
    ADD_PARTITIONS_TO_TXN_TRANSACTIONAL_ID,
)
from protocol.error_codes import ErrorCode
from protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from protocol.messages.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from shim.context import RequestContext
from shim.state.transactions import TopicPartition
from shim.topic_access import topic_error

BATCHED_SINCE = 4
FENCED_SINCE = 2
"""From here on a superseded producer is told so by a code of its own (KIP-588)."""
Errors = dict[TopicPartition, ErrorCode]


def handle(
    request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    if context.version >= BATCHED_SINCE:
        context.access.require(ADD_PARTITIONS_TO_TXN_CLUSTER)
        # a transaction that is given twice has the partitions that stand with its last one
        topics_of = {one.transactional_id: one.topics for one in request.transactions}
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                _batched(one, topics_of[one.transactional_id], context)
                for one in request.transactions
            ]
        )
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_of_client(request, context))


def refuse(
    request: AddPartitionsToTxnRequest, error: ErrorCode, message: str | None
) -> AddPartitionsToTxnResponse:
    topics = request.v3_and_below_topics
    if not topics:  # the batched form has a code for the whole
        return AddPartitionsToTxnResponse(error_code=error)
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=_by_topic(topics, dict.fromkeys(_partitions(topics), error))
    )


def _of_client(
    request: AddPartitionsToTxnRequest, context: RequestContext
) -> list[AddPartitionsToTxnTopicResult]:
    """The code of every partition of a client's request."""
    transactional_id = request.v3_and_below_transactional_id
    topics = request.v3_and_below_topics
    partitions = list(_partitions(topics))
    error = context.access.error(ADD_PARTITIONS_TO_TXN_TRANSACTIONAL_ID, transactional_id)
    if error is ErrorCode.NONE:
        errors = _topic_errors(topics, context)
        if any(errors.values()):
            not_tried = ErrorCode.OPERATION_NOT_ATTEMPTED
            return _merged({one: error or not_tried for one, error in errors.items()})
        error = _add(request, partitions, context)
    errors = dict.fromkeys(partitions, error)
    merges = context.record_behaviour.merges_added_partitions
    return _merged(errors) if merges else _by_topic(topics, errors)


def _add(
    request: AddPartitionsToTxnRequest, partitions: list[TopicPartition], context: RequestContext
) -> ErrorCode:
    transactional_id = request.v3_and_below_transactional_id
    error = context.transaction_coordinator_error(transactional_id)
    if error is not ErrorCode.NONE:
        return error
    error = context.cluster.transactions.add_partitions(
        transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        partitions,
    )
    return _spoken(error, context)


def _topic_errors(topics: Iterable[AddPartitionsToTxnTopic], context: RequestContext) -> Errors:
    errors: Errors = {}
    behaviour = context.record_behaviour
    for topic in topics:
        error = behaviour.internal_partition_error
        if topic.name not in context.cluster.topics.internal_names:
            error = topic_error(context, ADD_PARTITIONS_TO_TXN_TOPIC, topic.name)
        for index in topic.partitions:
            is_missing = context.cluster.topics.partition(topic.name, index) is None
            is_missing = is_missing and not behaviour.adds_missing_partitions
            missing = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_missing else ErrorCode.NONE
            errors[topic.name, index] = missing if error is ErrorCode.NONE else error
    return errors


def _batched(
    transaction: AddPartitionsToTxnTransaction,
    added: list[AddPartitionsToTxnTopic],
    context: RequestContext,
) -> AddPartitionsToTxnResult:
    """One transaction of a broker's request; only verifying looks at each partition."""
    transactions = context.cluster.transactions
    name = transaction.transactional_id
    owner = (transaction.producer_id, transaction.producer_epoch)
    partitions = list(_partitions(added))
    topics = context.cluster.topics
    missing = [one for one in partitions if topics.partition(*one) is None]
    error = context.transaction_coordinator_error(name) if name else ErrorCode.INVALID_REQUEST
    errors: Errors
    if missing:
        errors = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
        errors |= dict.fromkeys(missing, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    elif error is not ErrorCode.NONE:
        errors = dict.fromkeys(partitions, error)
    elif transaction.verify_only:
        errors = {one: transactions.verify(name, *owner, one) for one in partitions}
    else:
        error = transactions.add_partitions(name, *owner, partitions)
        errors = dict.fromkeys(partitions, error)
    spoken = {one: _spoken(error, context) for one, error in errors.items()}
    merges = missing or transaction.verify_only
    results = _merged(spoken) if merges else _by_topic(added, spoken)
    return AddPartitionsToTxnResult(transactional_id=name, topic_results=results)


def _spoken(error: ErrorCode, context: RequestContext) -> ErrorCode:
    """The code as this version knows it."""
    if error is ErrorCode.PRODUCER_FENCED and context.version < FENCED_SINCE:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.INVALID_TXN_STATE:
        return context.record_behaviour.unverified_error
    return error


def _partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> Iterable[TopicPartition]:
    return ((topic.name, index) for topic in topics for index in topic.partitions)


def _by_topic(
    topics: Iterable[AddPartitionsToTxnTopic], errors: Errors
) -> list[AddPartitionsToTxnTopicResult]:
    """The codes as the request has the partitions, also twice."""
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [
                AddPartitionsToTxnPartitionResult(index, errors[topic.name, index])
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]


def _merged(errors: Errors) -> list[AddPartitionsToTxnTopicResult]:
    """The codes with each topic and partition once."""
    found: dict[str, AddPartitionsToTxnTopicResult] = {}
    for (name, index), error in errors.items():
        topic = found.setdefault(name, AddPartitionsToTxnTopicResult(name, []))
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(index, error))
    return list(found.values())
