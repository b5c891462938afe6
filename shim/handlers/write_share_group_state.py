"""85 WriteShareGroupState, versions 0-1. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31. Older epochs are fenced: 124 the state's, 74 the
leader's.
"""

from authorizer.requirements import WRITE_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.write_share_group_state_request import (
    PartitionData,
    WriteShareGroupStateRequest,
)
from protocol.messages.write_share_group_state_response import (
    PartitionResult,
    WriteShareGroupStateResponse,
    WriteStateResult,
)
from shim.context import RequestContext
from shim.handling.share_state_results import results_of
from shim.state.sharing.share_state import FAULTS, NOT_A_BROKER, Deliveries, Key, StateUpdate


def handle(
    request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    context.access.require(WRITE_SHARE_GROUP_STATE, message=NOT_A_BROKER)

    def written(topic_id: bytes, one: PartitionData) -> PartitionResult:
        return _write((request.group_id, topic_id, one.partition), one, context)

    topics = request.topics if request.group_id else []
    return WriteShareGroupStateResponse(results_of(topics, WriteStateResult, written))


def refuse(
    request: WriteShareGroupStateRequest, error: ErrorCode, message: str | None
) -> WriteShareGroupStateResponse:
    def refused(_: bytes, one: PartitionData) -> PartitionResult:
        return PartitionResult(one.partition, error, message)

    return WriteShareGroupStateResponse(results_of(request.topics, WriteStateResult, refused))


def _write(key: Key, one: PartitionData, context: RequestContext) -> PartitionResult:
    update = StateUpdate(
        state_epoch=one.state_epoch,
        leader_epoch=one.leader_epoch,
        start_offset=one.start_offset,
        complete=one.delivery_complete_count,
        deliveries=[
            Deliveries(row.first_offset, row.last_offset, row.delivery_state, row.delivery_count)
            for row in one.state_batches
        ],
    )
    error = context.cluster.share_states.write(key, update)
    return PartitionResult(
        partition=one.partition, error_code=error, error_message=FAULTS.get(error)
    )
