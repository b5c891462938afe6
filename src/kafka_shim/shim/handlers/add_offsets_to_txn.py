"""25 AddOffsetsToTxn, versions 0-4. Makes a group's offsets part of a transaction (KIP-98).

WRITE on the transactional id, or TRANSACTIONAL_ID_AUTHORIZATION_FAILED (53); then READ on the
group, or GROUP_AUTHORIZATION_FAILED (30).
"""

from kafka_shim.authorizer.requirements import (
    ADD_OFFSETS_TO_TXN_GROUP,
    ADD_OFFSETS_TO_TXN_TRANSACTIONAL_ID,
)
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.coordinators import KeyType

FENCED_SINCE = 2
"""From this version on a superseded producer gets its own error code (KIP-588)."""


def handle(request: AddOffsetsToTxnRequest, context: RequestContext) -> AddOffsetsToTxnResponse:
    context.access.require(ADD_OFFSETS_TO_TXN_TRANSACTIONAL_ID, request.transactional_id)
    context.access.require(ADD_OFFSETS_TO_TXN_GROUP, request.group_id)
    context.require_transaction_coordinator(request.transactional_id)
    coordinators = context.cluster.coordinators
    offsets = coordinators.get_or_create_topic(KeyType.GROUP).name
    index = coordinators.coordinator_partition_creating_topic(KeyType.GROUP, request.group_id).index
    error = context.cluster.transactions.add_partitions(
        request.transactional_id, request.producer_id, request.producer_epoch, [(offsets, index)]
    )
    if error is ErrorCode.PRODUCER_FENCED and context.version < FENCED_SINCE:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return AddOffsetsToTxnResponse(error_code=error)


error_response = mirroring_error_builder(AddOffsetsToTxnResponse)
