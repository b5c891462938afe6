"""86 DeleteShareGroupState, version 0. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31.
"""

from authorizer.requirements import DELETE_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.delete_share_group_state_request import DeleteShareGroupStateRequest
from protocol.messages.delete_share_group_state_response import (
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionResult,
)
from shim.context import RequestContext
from shim.state.share_state import FAULTS, NOT_A_BROKER


def handle(
    request: DeleteShareGroupStateRequest, context: RequestContext
) -> DeleteShareGroupStateResponse:
    context.access.require(DELETE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    delete = context.cluster.share_states.delete
    results = []
    for topic in request.topics if request.group_id else ():
        partitions = []
        for one in topic.partitions:
            error = delete((request.group_id, topic.topic_id, one.partition))
            partitions.append(
                PartitionResult(
                    partition=one.partition, error_code=error, error_message=FAULTS.get(error)
                )
            )
        results.append(DeleteStateResult(topic_id=topic.topic_id, partitions=partitions))
    return DeleteShareGroupStateResponse(results=results)


def refuse(
    request: DeleteShareGroupStateRequest, error: ErrorCode, message: str | None
) -> DeleteShareGroupStateResponse:
    return DeleteShareGroupStateResponse(
        results=[
            DeleteStateResult(
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
