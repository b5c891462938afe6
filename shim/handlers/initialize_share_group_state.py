"""83 InitializeShareGroupState, version 0. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31.
"""

from authorizer.requirements import INITIALIZE_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.initialize_share_group_state_request import (
    InitializeShareGroupStateRequest,
    PartitionData,
)
from protocol.messages.initialize_share_group_state_response import (
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionResult,
)
from shim.context import RequestContext
from shim.handling.share_state_results import results_of
from shim.state.sharing.share_state import FAULTS, NOT_A_BROKER


def handle(
    request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    context.access.require(INITIALIZE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    initialise = context.cluster.share_states.initialise

    def begun(topic_id: bytes, one: PartitionData) -> PartitionResult:
        key = (request.group_id, topic_id, one.partition)
        error = initialise(key, one.state_epoch, one.start_offset)
        return PartitionResult(one.partition, error, FAULTS.get(error))

    topics = request.topics if request.group_id else []
    return InitializeShareGroupStateResponse(results_of(topics, InitializeStateResult, begun))


def refuse(
    request: InitializeShareGroupStateRequest, error: ErrorCode, message: str | None
) -> InitializeShareGroupStateResponse:
    def refused(_: bytes, one: PartitionData) -> PartitionResult:
        return PartitionResult(one.partition, error, message)

    return InitializeShareGroupStateResponse(
        results_of(request.topics, InitializeStateResult, refused)
    )
