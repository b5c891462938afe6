"""65 DescribeTransactions, version 0. The state of transactional ids (KIP-664).

DESCRIBE on each transactional id, or TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53); only callers with
it get TRANSACTIONAL_ID_NOT_FOUND (105) for an unknown one. Topics without DESCRIBE are left out.
"""

from kafka_shim.authorizer.requirements import (
    DESCRIBE_TRANSACTIONS_TOPIC,
    DESCRIBE_TRANSACTIONS_TRANSACTIONAL_ID,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.transactions.transaction import Transaction


def handle(
    request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    context.access.declare_no_further_checks()  # a request may name no transactional id
    return DescribeTransactionsResponse(
        transaction_states=[
            _describe_transaction(name, context) for name in request.transactional_ids
        ]
    )


error_response = mirroring_error_builder(
    DescribeTransactionsResponse, request_field_names={"transaction_states": "transactional_ids"}
)


def _describe_transaction(name: str, context: RequestContext) -> TransactionState:
    error = context.access.denial_error(DESCRIBE_TRANSACTIONS_TRANSACTIONAL_ID, name)
    if error is ErrorCode.NONE and not name:
        error = ErrorCode.INVALID_REQUEST
    if error is ErrorCode.NONE:
        error = context.transaction_coordinator_error(name)
    transaction = context.cluster.transactions.get_for_reading(name)
    if error is ErrorCode.NONE and transaction is None:
        error = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    if error is not ErrorCode.NONE or transaction is None:
        return TransactionState(error_code=error, transactional_id=name)
    return TransactionState(
        transactional_id=name,
        transaction_state=transaction.state.value,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.started_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.epoch,
        topics=_visible_topics_of_transaction(transaction, context),
    )


def _visible_topics_of_transaction(
    transaction: Transaction, context: RequestContext
) -> list[TopicData]:
    rows: dict[str, TopicData] = {}
    for name, index in transaction.partitions:
        if name not in rows and not context.access.allows(DESCRIBE_TRANSACTIONS_TOPIC, name):
            continue
        rows.setdefault(name, TopicData(name, [])).partitions.append(index)
    return list(rows.values())
