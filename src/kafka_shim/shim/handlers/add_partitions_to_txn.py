"""24 AddPartitionsToTxn, versions 0-5. Adds partitions to a transaction (KIP-98).

Up to version 3 clients send it. They need WRITE on the transactional id, otherwise every partition
gets TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53); then WRITE on each topic. If one partition fails,
the others get OPERATION_NOT_ATTEMPTED (55). Internal topics get TOPIC_AUTHORIZATION_FAILED (29) for
all principals. Later versions are for brokers, with many transactions to add or to verify
(KIP-890); they need only CLUSTER_ACTION.
"""

from collections.abc import Iterable, Sequence

from kafka_shim.authorizer.requirements import (
    ADD_PARTITIONS_TO_TXN_CLUSTER,
    ADD_PARTITIONS_TO_TXN_TOPIC,
    ADD_PARTITIONS_TO_TXN_TRANSACTIONAL_ID,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from kafka_shim.shim.handlers.common.topic_access import TopicErrors
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.transactions.transaction import TopicPartition

BATCHED_SINCE = 4
FENCED_SINCE = 2
"""First version with PRODUCER_FENCED (KIP-588)."""
PartitionErrors = dict[TopicPartition, ErrorCode]


def handle(
    request: AddPartitionsToTxnRequest, context: RequestContext
) -> AddPartitionsToTxnResponse:
    if context.version >= BATCHED_SINCE:
        context.access.require(ADD_PARTITIONS_TO_TXN_CLUSTER)
        # of a transaction listed twice, the last entry's partitions are added, and a response with
        # one code for all of them lists those of the first entry
        added = {
            transaction.transactional_id: transaction.topics for transaction in request.transactions
        }
        topics_of_first_entry = {
            transaction.transactional_id: transaction.topics
            for transaction in reversed(request.transactions)
        }
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                _handle_broker_transaction(
                    transaction,
                    added[transaction.transactional_id],
                    topics_of_first_entry[transaction.transactional_id],
                    context,
                )
                for transaction in request.transactions
            ]
        )
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=_add_partitions_of_client(request, context)
    )


def error_response(
    request: AddPartitionsToTxnRequest, error: ErrorCode, message: str | None
) -> AddPartitionsToTxnResponse:
    topics = request.v3_and_below_topics
    if not topics:  # the batched form has a request-level error
        return AddPartitionsToTxnResponse(error_code=error)
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=_ordered_error_results(topics, error)
    )


def _add_partitions_of_client(
    request: AddPartitionsToTxnRequest, context: RequestContext
) -> list[AddPartitionsToTxnTopicResult]:
    topics = request.v3_and_below_topics
    transactional_id = request.v3_and_below_transactional_id
    denial = context.access.denial_error(ADD_PARTITIONS_TO_TXN_TRANSACTIONAL_ID, transactional_id)
    if denial is not NO_ERROR:
        return _error_results(topics, denial, context)
    errors = _partition_errors(topics, context)
    if any(errors.values()):
        return _group_errors_by_topic(errors, ErrorCode.OPERATION_NOT_ATTEMPTED)
    return _error_results(topics, _add_to_transaction(request, list(errors), context), context)


def _add_to_transaction(
    request: AddPartitionsToTxnRequest, partitions: list[TopicPartition], context: RequestContext
) -> ErrorCode:
    transactional_id = request.v3_and_below_transactional_id
    error = context.transaction_coordinator_error(transactional_id)
    if error is not NO_ERROR:
        return error
    error = context.cluster.transactions.add_partitions(
        transactional_id,
        request.v3_and_below_producer_id,
        request.v3_and_below_producer_epoch,
        partitions,
    )
    return _error_of_version(error, context)


def _partition_errors(
    topics: Sequence[AddPartitionsToTxnTopic], context: RequestContext
) -> PartitionErrors:
    errors: PartitionErrors = {}
    facts, cluster_topics = context.facts, context.cluster.topics
    needs_partitions = not facts.records.transaction_accepts_missing_partitions
    names = (topic.name for topic in topics for _ in topic.partitions)
    topic_errors = TopicErrors(context, ADD_PARTITIONS_TO_TXN_TOPIC, names)
    for topic in topics:
        name = topic.name
        if not topic.partitions:
            continue
        if name in cluster_topics.internal_names:
            error, denial_counts = facts.records.add_internal_partition_error, True
        else:
            error = topic_errors.error(name)
            denial_counts = not facts.access.denied_topics_are_unknown
        needs_partition = needs_partitions and not (error and denial_counts)
        for index in topic.partitions:
            errors[name, index] = error
            if needs_partition and cluster_topics.led_partition(name, index) is None:
                errors[name, index] = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return errors


def _handle_broker_transaction(
    transaction: AddPartitionsToTxnTransaction,
    topics_of_last_entry: list[AddPartitionsToTxnTopic],
    topics_of_first_entry: list[AddPartitionsToTxnTopic],
    context: RequestContext,
) -> AddPartitionsToTxnResult:
    """Handle one transaction of a broker's request; errors differ by partition only to verify."""
    transactions = context.cluster.transactions
    name = transaction.transactional_id
    owner = (transaction.producer_id, transaction.producer_epoch)
    partitions = [*_flatten_partitions(topics_of_last_entry)]
    topics = context.cluster.topics
    missing = {partition for partition in partitions if topics.led_partition(*partition) is None}
    error = context.transaction_coordinator_error(name) if name else ErrorCode.INVALID_REQUEST
    if missing:
        unknown, kept_out = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
        errors = {
            partition: unknown if partition in missing else kept_out for partition in partitions
        }
        results = _group_errors_by_topic(errors)
    elif transaction.verify_only:
        errors = {
            partition: _error_of_version(
                error or transactions.verify_partition_in_transaction(name, *owner, partition),
                context,
            )
            for partition in partitions
        }
        results = _group_errors_by_topic(errors)
    else:
        added = [*partitions]  # a plain list: the transaction changes in one time slice
        error = error or transactions.add_partitions(name, *owner, added)
        results = _ordered_error_results(topics_of_first_entry, _error_of_version(error, context))
    return AddPartitionsToTxnResult(transactional_id=name, topic_results=results)


def _error_of_version(error: ErrorCode, context: RequestContext) -> ErrorCode:
    """Return the error code of this version."""
    if error is ErrorCode.PRODUCER_FENCED and context.version < FENCED_SINCE:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.INVALID_TXN_STATE:
        return context.facts.records.unverified_partition_error
    return error


def _flatten_partitions(topics: Iterable[AddPartitionsToTxnTopic]) -> Iterable[TopicPartition]:
    return ((topic.name, index) for topic in topics for index in topic.partitions)


def _error_results(
    topics: Iterable[AddPartitionsToTxnTopic], error: ErrorCode, context: RequestContext
) -> list[AddPartitionsToTxnTopicResult]:
    """Return one error for every partition."""
    if context.facts.records.add_partitions_merges_repeated_partitions:
        errors = dict.fromkeys(_flatten_partitions(topics), error)
        return _group_errors_by_topic(errors)
    return _ordered_error_results(topics, error)


def _ordered_error_results(
    topics: Iterable[AddPartitionsToTxnTopic], error: ErrorCode
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [AddPartitionsToTxnPartitionResult(index, error) for index in topic.partitions],
        )
        for topic in topics
    ]


def _group_errors_by_topic(
    errors: PartitionErrors, error_of_others: ErrorCode = NO_ERROR
) -> list[AddPartitionsToTxnTopicResult]:
    """Return the results by topic; partitions without an error get `error_of_others`."""
    results_by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
    for (name, index), error in errors.items():
        results_by_topic.setdefault(name, []).append(
            AddPartitionsToTxnPartitionResult(index, error or error_of_others)
        )
    return [
        AddPartitionsToTxnTopicResult(name, results) for name, results in results_by_topic.items()
    ]
