"""84 ReadShareGroupState, version 0. Between brokers, but served on every listener (KIP-932).

Without CLUSTER_ACTION every partition gets CLUSTER_AUTHORIZATION_FAILED (31). A partition without
initialised state gets INVALID_REQUEST (42).
"""

from kafka_shim.authorizer.requirements import READ_SHARE_GROUP_STATE
from kafka_shim.protocol.messages.read_share_group_state import (
    PartitionData,
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
    StateBatch,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_state_results import results_by_topic
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_state import ERROR_MESSAGES, NOT_A_BROKER
from kafka_shim.shim.state.share_partitions.share_state_values import SharePartitionKey


def handle(
    request: ReadShareGroupStateRequest, context: RequestContext
) -> ReadShareGroupStateResponse:
    context.access.require(READ_SHARE_GROUP_STATE, message=NOT_A_BROKER)

    def read_partition_state(topic_id: bytes, partition: PartitionData) -> PartitionResult:
        return _fencing_read(
            (request.group_id, topic_id, partition.partition), partition.leader_epoch, context
        )

    topics = request.topics if request.group_id else []
    return ReadShareGroupStateResponse(
        results_by_topic(topics, ReadStateResult, read_partition_state)
    )


error_response = mirroring_error_builder(
    ReadShareGroupStateResponse, request_field_names={"results": "topics"}
)


def _fencing_read(
    key: SharePartitionKey, leader_epoch: int, context: RequestContext
) -> PartitionResult:
    error, state = context.cluster.share_states.read_for_leader(key, leader_epoch)
    if state is None:
        return PartitionResult(
            partition=key[2], error_code=error, error_message=ERROR_MESSAGES[error]
        )
    return PartitionResult(
        partition=key[2],
        state_epoch=state.state_epoch,
        start_offset=state.start_offset,
        state_batches=[
            StateBatch(
                first_offset=delivery.first_offset,
                last_offset=delivery.last_offset,
                delivery_state=delivery.delivery_state,
                delivery_count=delivery.delivery_count,
            )
            for delivery in state.delivery_batches
        ],
    )
