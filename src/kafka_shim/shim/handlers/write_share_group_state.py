"""85 WriteShareGroupState, versions 0-1. Between brokers, but served on every listener (KIP-932).

Without CLUSTER_ACTION every partition gets CLUSTER_AUTHORIZATION_FAILED (31). An older state epoch
gets FENCED_STATE_EPOCH (124), an older leader epoch FENCED_LEADER_EPOCH (74).

A state with more than 20,000 records in flight gets POLICY_VIOLATION (44), unlike in Kafka.
"""

from kafka_shim.authorizer.requirements import WRITE_SHARE_GROUP_STATE
from kafka_shim.protocol.messages.write_share_group_state import (
    PartitionData,
    PartitionResult,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateResult,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_state_results import results_by_topic
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_state import (
    ERROR_MESSAGES,
    IN_FLIGHT_MAX,
    NOT_A_BROKER,
)
from kafka_shim.shim.state.share_partitions.share_state_values import (
    DeliveryBatch,
    SharePartitionKey,
    ShareStateUpdate,
)


def handle(
    request: WriteShareGroupStateRequest, context: RequestContext
) -> WriteShareGroupStateResponse:
    context.access.require(WRITE_SHARE_GROUP_STATE, message=NOT_A_BROKER)

    def write_partition_state(topic_id: bytes, partition: PartitionData) -> PartitionResult:
        return _write_state((request.group_id, topic_id, partition.partition), partition, context)

    topics = request.topics if request.group_id else []
    return WriteShareGroupStateResponse(
        results_by_topic(topics, WriteStateResult, write_partition_state)
    )


error_response = mirroring_error_builder(
    WriteShareGroupStateResponse, request_field_names={"results": "topics"}
)


def _write_state(
    key: SharePartitionKey, partition: PartitionData, context: RequestContext
) -> PartitionResult:
    update = ShareStateUpdate(
        state_epoch=partition.state_epoch,
        leader_epoch=partition.leader_epoch,
        start_offset=partition.start_offset,
        finished_count=partition.delivery_complete_count,
        delivery_batches=[
            DeliveryBatch(row.first_offset, row.last_offset, row.delivery_state, row.delivery_count)
            for row in partition.state_batches
        ],
    )
    states = context.cluster.share_states
    error = states.apply_update(key, update, in_flight_max=IN_FLIGHT_MAX)
    return PartitionResult(
        partition=partition.partition, error_code=error, error_message=ERROR_MESSAGES.get(error)
    )
