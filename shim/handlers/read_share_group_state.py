"""84 ReadShareGroupState, version 0. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31. A partition that was never begun is 42.
"""

from authorizer.requirements import READ_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.read_share_group_state_request import (
    PartitionData,
    ReadShareGroupStateRequest,
)
from protocol.messages.read_share_group_state_response import (
    PartitionResult,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)
from shim.context import RequestContext
from shim.handling.share_state_results import results_of
from shim.state.sharing.share_state import FAULTS, NOT_A_BROKER, Key


def handle(
    request: ReadShareGroupStateRequest, context: RequestContext
) -> ReadShareGroupStateResponse:
    context.access.require(READ_SHARE_GROUP_STATE, message=NOT_A_BROKER)

    def read(topic_id: bytes, one: PartitionData) -> PartitionResult:
        return _read((request.group_id, topic_id, one.partition), one.leader_epoch, context)

    topics = request.topics if request.group_id else []
    return ReadShareGroupStateResponse(results_of(topics, ReadStateResult, read))


def refuse(
    request: ReadShareGroupStateRequest, error: ErrorCode, message: str | None
) -> ReadShareGroupStateResponse:
    def refused(_: bytes, one: PartitionData) -> PartitionResult:
        return PartitionResult(one.partition, error, message)

    return ReadShareGroupStateResponse(results_of(request.topics, ReadStateResult, refused))


def _read(key: Key, leader_epoch: int, context: RequestContext) -> PartitionResult:
    error, found = context.cluster.share_states.read(key, leader_epoch)
    if found is None:
        return PartitionResult(partition=key[2], error_code=error, error_message=FAULTS[error])
    return PartitionResult(
        partition=key[2],
        state_epoch=found.state_epoch,
        start_offset=found.start_offset,
        state_batches=[
            StateBatch(
                first_offset=one.first,
                last_offset=one.last,
                delivery_state=one.state,
                delivery_count=one.count,
            )
            for one in found.deliveries
        ],
    )
