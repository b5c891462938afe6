"""26 EndTxn, versions 0-5. Commits or aborts a transaction (KIP-98).

WRITE on the transactional id, or TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53). Since version 5 every
end begins a new producer epoch, which the response contains; a retry gets the same one (KIP-890).
"""

from kafka_shim.authorizer.requirements import END_TXN
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.end_txn import EndTxnRequest, EndTxnResponse
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

FENCED_SINCE = 2
"""First version with PRODUCER_FENCED (KIP-588)."""
BUMPS_EPOCH_SINCE = 5


def handle(request: EndTxnRequest, context: RequestContext) -> EndTxnResponse:
    context.access.require(END_TXN, request.transactional_id)
    context.require_transaction_coordinator(request.transactional_id)
    bumps_epoch = context.version >= BUMPS_EPOCH_SINCE
    error, producer_id, epoch = context.cluster.transactions.end_transaction(
        request.transactional_id,
        request.producer_id,
        request.producer_epoch,
        commit=request.committed,
        bumps_epoch=bumps_epoch,
    )
    if error is ErrorCode.PRODUCER_FENCED and context.version < FENCED_SINCE:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    if error is not NO_ERROR:
        raise RequestRejected(error)
    if not bumps_epoch:
        return EndTxnResponse()
    return EndTxnResponse(producer_id=producer_id, producer_epoch=epoch)


error_response = mirroring_error_builder(EndTxnResponse)
