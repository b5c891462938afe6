"""83 InitializeShareGroupState, version 0. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition is 31.
"""

from authorizer.requirements import INITIALIZE_SHARE_GROUP_STATE
from protocol.error_codes import ErrorCode
from protocol.messages.initialize_share_group_state_request import InitializeShareGroupStateRequest
from protocol.messages.initialize_share_group_state_response import (
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionResult,
)
from shim.context import RequestContext
from shim.state.share_state import FAULTS, NOT_A_BROKER


def handle(
    request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    context.access.require(INITIALIZE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    if not request.group_id:
        return InitializeShareGroupStateResponse()
    states = context.cluster.share_states
    results = []
    for topic in request.topics:
        partitions = []
        for one in topic.partitions:
            key = (request.group_id, topic.topic_id, one.partition)
            error = states.initialise(key, one.state_epoch, one.start_offset)
            partitions.append(
                PartitionResult(
                    partition=one.partition, error_code=error, error_message=FAULTS.get(error)
                )
            )
        results.append(InitializeStateResult(topic_id=topic.topic_id, partitions=partitions))
    return InitializeShareGroupStateResponse(results=results)


def refuse(
    request: InitializeShareGroupStateRequest, error: ErrorCode, message: str | None
) -> InitializeShareGroupStateResponse:
    return InitializeShareGroupStateResponse(
        results=[
            InitializeStateResult(
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
