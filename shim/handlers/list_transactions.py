"""66 ListTransactions, versions 0-2. The transactional ids of a coordinator (KIP-664).

Those that may not be described are left out. Filters by state, producer, duration (KIP-994) and
pattern (KIP-1152); state names that nobody knows are told, and match nothing.
"""

import re

from authorizer.requirements import LIST_TRANSACTIONS
from protocol.error_codes import ErrorCode
from protocol.messages.list_transactions_request import ListTransactionsRequest
from protocol.messages.list_transactions_response import (
    ListTransactionsResponse,
    TransactionState,
)
from shim.context import RequestContext
from shim.errors import Refused
from shim.state.transactions import State, Transaction

KNOWN_STATES = frozenset(state.value for state in State)


def handle(request: ListTransactionsRequest, context: RequestContext) -> ListTransactionsResponse:
    context.access.nothing_more()  # there may be nothing to list
    pattern = _pattern(request.transactional_id_pattern)
    now_ms = context.cluster.clock.now_ms()
    found = [
        one
        for one in context.cluster.transactions
        if _matches(one, request, now_ms)
        and (pattern is None or pattern.fullmatch(one.transactional_id))
        and context.transaction_coordinator_error(one.transactional_id) is ErrorCode.NONE
    ]
    visible = context.access.visible(LIST_TRANSACTIONS, found, lambda one: one.transactional_id)
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in request.state_filters if name not in KNOWN_STATES],
        transaction_states=[
            TransactionState(one.transactional_id, one.producer_id, one.state.value)
            for one in visible
        ],
    )


def refuse(
    request: ListTransactionsRequest, error: ErrorCode, message: str | None
) -> ListTransactionsResponse:
    return ListTransactionsResponse(error_code=error)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    """Java's and Python's expressions agree on what is used in names."""
    if not text:
        return None
    try:
        return re.compile(text)
    except re.error as fault:
        raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION) from fault


def _matches(one: Transaction, request: ListTransactionsRequest, now_ms: int) -> bool:
    if request.state_filters and one.state.value not in request.state_filters:
        return False
    if request.producer_id_filters and one.producer_id not in request.producer_id_filters:
        return False
    if request.duration_filter < 0:
        return True
    return now_ms - one.started_ms >= request.duration_filter
