"""4 LeaderAndIsr, versions 0-5. The controller assigns partitions to lead and follow to a broker.

CLUSTER_ACTION on the cluster, or the response and every partition get CLUSTER_AUTHORIZATION_FAILED
(31). Every other request gets a stale epoch.
"""

from collections.abc import Iterable

from kafka_shim.authorizer.requirements import LEADER_AND_ISR
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kafka_shim.shim.handlers.always_rejected.stale_epoch import (
    TopicPartition,
    denial_or_always_stale_epoch_error,
    partitions_deduplicated_by_release,
)
from kafka_shim.shim.request.context import RequestContext

BY_ID_SINCE = 5
"""First version whose response identifies topics by id."""


def handle(request: LeaderAndIsrRequest, context: RequestContext) -> LeaderAndIsrResponse:
    error = denial_or_always_stale_epoch_error(LEADER_AND_ISR, request.broker_epoch, context)
    if context.version >= BY_ID_SINCE:
        return _response_by_topic_id(request, error)
    lists_stale = context.facts.cluster.stale_controller_error_lists_partitions
    if error is ErrorCode.STALE_CONTROLLER_EPOCH and not lists_stale:
        return LeaderAndIsrResponse(error_code=error)
    return _response_by_topic_name(
        error, partitions_deduplicated_by_release(_partitions_of_request(request), context)
    )


def error_response(
    request: LeaderAndIsrRequest, error: ErrorCode, message: str | None
) -> LeaderAndIsrResponse:
    if any(any(topic.topic_id) for topic in request.topic_states):
        return _response_by_topic_id(request, error)
    return _response_by_topic_name(error, _partitions_of_request(request))


def _partitions_of_request(request: LeaderAndIsrRequest) -> list[TopicPartition]:
    """Return the request's partitions: by topic since version 2, in one list before."""
    return [
        *(
            (topic.topic_name, partition_state.partition_index)
            for topic in request.topic_states
            for partition_state in topic.partition_states
        ),
        *(
            (state.topic_name, state.partition_index)
            for state in request.ungrouped_partition_states
        ),
    ]


def _response_by_topic_name(
    error: ErrorCode, partitions: Iterable[TopicPartition]
) -> LeaderAndIsrResponse:
    return LeaderAndIsrResponse(
        error_code=error,
        partition_errors=[
            LeaderAndIsrPartitionError(name, index, error) for name, index in partitions
        ],
    )


def _response_by_topic_id(request: LeaderAndIsrRequest, error: ErrorCode) -> LeaderAndIsrResponse:
    return LeaderAndIsrResponse(
        error_code=error,
        topics=[
            LeaderAndIsrTopicError(
                topic.topic_id,
                [
                    LeaderAndIsrPartitionError(
                        partition_index=partition_state.partition_index, error_code=error
                    )
                    for partition_state in topic.partition_states
                ],
            )
            for topic in request.topic_states
        ],
    )
