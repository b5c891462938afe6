"""22 InitProducerId, versions 0-6. Returns a producer's id and epoch (KIP-98, KIP-360).

With a transactional id it needs WRITE on that id; without one, IDEMPOTENT_WRITE on the cluster or,
since KIP-679, WRITE on any topic. Permission is checked before all else. A producer that starts
while its predecessor has an open transaction aborts that, gets CONCURRENT_TRANSACTIONS (51), and
retries.
"""

from kafka_shim.authorizer.requirements import (
    INIT_PRODUCER_ID_IDEMPOTENT,
    INIT_PRODUCER_ID_TRANSACTIONAL,
    INIT_PRODUCER_ID_TWO_PHASE_COMMIT,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext

FENCED_SINCE = 4
"""From this version on a superseded producer gets its own error code (KIP-588)."""
TWO_PHASE_COMMIT_SINCE = 6


def handle(request: InitProducerIdRequest, context: RequestContext) -> InitProducerIdResponse:
    try:
        _require_producer_access(request, context)
    except RequestRejected as denial:
        epoch = context.facts.records.denied_init_producer_epoch
        return InitProducerIdResponse(error_code=denial.error, producer_id=-1, producer_epoch=epoch)
    if (request.producer_id == -1) != (request.producer_epoch == -1):
        raise RequestRejected(ErrorCode.INVALID_REQUEST)
    transactions = context.cluster.transactions
    if request.transactional_id is None:
        return InitProducerIdResponse(producer_id=transactions.new_producer_id(), producer_epoch=0)
    context.require_transaction_coordinator(request.transactional_id)
    error, producer_id, epoch = transactions.init_producer_id(
        request.transactional_id,
        request.transaction_timeout_ms,
        request.producer_id,
        request.producer_epoch,
    )
    if error is ErrorCode.PRODUCER_FENCED and context.version < FENCED_SINCE:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(error_code=error, producer_id=producer_id, producer_epoch=epoch)


error_response = mirroring_error_builder(
    InitProducerIdResponse, constant_fields={"producer_epoch": -1}
)


def _require_producer_access(request: InitProducerIdRequest, context: RequestContext) -> None:
    if request.transactional_id is None:
        context.access.require(INIT_PRODUCER_ID_IDEMPOTENT)
        return
    context.access.require(INIT_PRODUCER_ID_TRANSACTIONAL, request.transactional_id)
    if context.version >= TWO_PHASE_COMMIT_SINCE and request.enable2_pc:
        context.access.require(INIT_PRODUCER_ID_TWO_PHASE_COMMIT, request.transactional_id)
