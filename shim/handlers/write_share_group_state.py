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
from shim.state.share_state import FAULTS, NOT_A_BROKER, Deliveries, StateUpdate


def handle(
    request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    context.access.require(WRITE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    return WriteShareGroupStateResponse(
        results=[
            WriteStateResult(
                topic_id=topic.topic_id,
                partitions=[
                    _write(request.group_id, topic.topic_id, one, context)
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
            if request.group_id
        ]
    )


def refuse(
    request: WriteShareGroupStateRequest, error: ErrorCode, message: str | None
) -> WriteShareGroupStateResponse:
    return WriteShareGroupStateResponse(
        results=[
            WriteStateResult(
                topic_id=topic.topic_id,
                partitions=[
                    PartitionResult(
                        partition=one.partition, error_code=error, error_message=message
                    )
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ]
    )


def _write(
    group_id: str, topic_id: bytes, one: PartitionData, context: RequestContext
) -> PartitionResult:
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
    error = context.cluster.share_states.write((group_id, topic_id, one.partition), update)
    return PartitionResult(
        partition=one.partition, error_code=error, error_message=FAULTS.get(error)
    )
