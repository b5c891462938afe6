"""87 ReadShareGroupStateSummary, versions 0-1. Between brokers, but on every listener (KIP-932).

Without CLUSTER_ACTION every partition gets CLUSTER_AUTHORIZATION_FAILED (31). A partition without
initialised state has start offset -1.
"""

from kafka_shim.authorizer.requirements import READ_SHARE_GROUP_STATE_SUMMARY
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.read_share_group_state_summary import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_state_results import results_by_topic
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_state import ERROR_MESSAGES, NOT_A_BROKER
from kafka_shim.shim.state.share_partitions.share_state_values import SharePartitionKey


def handle(
    request: ReadShareGroupStateSummaryRequest, context: RequestContext
) -> ReadShareGroupStateSummaryResponse:
    context.access.require(READ_SHARE_GROUP_STATE_SUMMARY, message=NOT_A_BROKER)

    def summarize_partition_state(topic_id: bytes, partition: PartitionData) -> PartitionResult:
        return _state_summary((request.group_id, topic_id, partition.partition), context)

    topics = request.topics if request.group_id else []
    return ReadShareGroupStateSummaryResponse(
        results_by_topic(topics, ReadStateSummaryResult, summarize_partition_state)
    )


error_response = mirroring_error_builder(
    ReadShareGroupStateSummaryResponse,
    request_field_names={"results": "topics"},
    constant_fields={"leader_epoch": 0},
)


def _state_summary(key: SharePartitionKey, context: RequestContext) -> PartitionResult:
    error, state = context.cluster.share_states.read_without_fencing(key)
    if error is not ErrorCode.NONE:
        return PartitionResult(
            partition=key[2], error_code=error, error_message=ERROR_MESSAGES[error]
        )
    if state is None:
        return PartitionResult(partition=key[2], start_offset=-1)
    return PartitionResult(
        partition=key[2],
        state_epoch=state.state_epoch,
        leader_epoch=state.leader_epoch,
        start_offset=state.start_offset,
        delivery_complete_count=state.finished_count if context.version >= 1 else -1,
    )
