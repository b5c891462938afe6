"""86 DeleteShareGroupState, version 0. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31.
"""

from authorizer.requirements import DELETE_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.delete_share_group_state_request import (
    DeleteShareGroupStateRequest,
    PartitionData,
)
from protocol.messages.delete_share_group_state_response import (
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionResult,
)
from shim.context import RequestContext
from shim.handling.share_state_results import results_of
from shim.state.sharing.share_state import FAULTS, NOT_A_BROKER


def handle(
    request: DeleteShareGroupStateRequest, context: RequestContext
) -> DeleteShareGroupStateResponse:
    context.access.require(DELETE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    delete = context.cluster.share_states.delete

    def deleted(topic_id: bytes, one: PartitionData) -> PartitionResult:
        error = delete((request.group_id, topic_id, one.partition))
        return PartitionResult(one.partition, error, FAULTS.get(error))

    topics = request.topics if request.group_id else []
    return DeleteShareGroupStateResponse(results_of(topics, DeleteStateResult, deleted))


def refuse(
    request: DeleteShareGroupStateRequest, error: ErrorCode, message: str | None
) -> DeleteShareGroupStateResponse:
    def refused(_: bytes, one: PartitionData) -> PartitionResult:
        return PartitionResult(one.partition, error, message)

    return DeleteShareGroupStateResponse(results_of(request.topics, DeleteStateResult, refused))
