"""66 ListTransactions, versions 0-2. The transactional ids of a coordinator (KIP-664).

Ids without DESCRIBE are left out. Filters: state, producer, duration (KIP-994) and pattern
(KIP-1152). Unknown state names are returned, and match nothing. The pattern is matched only against
ids that the caller may see, since the run time of the match would reveal others.
"""

from kafka_shim.authorizer.requirements import LIST_TRANSACTIONS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.re2_patterns import InvalidPatternError, Pattern, compile_client_pattern
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.transactions.transaction import Transaction, TransactionalIdState

KNOWN_STATES = frozenset(state.value for state in TransactionalIdState)


def handle(request: ListTransactionsRequest, context: RequestContext) -> ListTransactionsResponse:
    context.access.declare_no_further_checks()  # there may be nothing to list
    pattern = _compile_id_pattern(request.transactional_id_pattern)
    now_ms = context.cluster.clock.now_ms()
    matches = [
        transaction
        for transaction in context.cluster.transactions
        if _matches_request_filters(transaction, request, now_ms)
        and (pattern is None or pattern.fullmatch(transaction.transactional_id))
        and context.transaction_coordinator_error(transaction.transactional_id) is ErrorCode.NONE
    ]
    visible = context.access.filter_visible(
        LIST_TRANSACTIONS, matches, lambda transaction: transaction.transactional_id
    )
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in KNOWN_STATES],
        transaction_states=[
            TransactionState(
                transaction.transactional_id, transaction.producer_id, transaction.state.value
            )
            for transaction in visible
        ],
    )


error_response = mirroring_error_builder(ListTransactionsResponse)


def _compile_id_pattern(expression: str | None) -> Pattern | None:
    if not expression:
        return None
    try:
        return compile_client_pattern(expression)
    except InvalidPatternError as error:
        raise RequestRejected(ErrorCode.INVALID_REGULAR_EXPRESSION) from error


def _matches_request_filters(
    transaction: Transaction, request: ListTransactionsRequest, now_ms: int
) -> bool:
    if request.state_filters and transaction.state.value not in request.state_filters:
        return False
    if request.producer_id_filters and transaction.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return now_ms - transaction.started_ms >= request.duration_filter
