"""83 InitializeShareGroupState, version 0. Between brokers, but served on every listener (KIP-932).

Without CLUSTER_ACTION every partition gets CLUSTER_AUTHORIZATION_FAILED (31).
"""

from kafka_shim.authorizer.requirements import INITIALIZE_SHARE_GROUP_STATE
from kafka_shim.protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateResult,
    PartitionData,
    PartitionResult,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_state_results import results_by_topic
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_state import ERROR_MESSAGES, NOT_A_BROKER


def handle(
    request: InitializeShareGroupStateRequest, context: RequestContext
) -> InitializeShareGroupStateResponse:
    context.access.require(INITIALIZE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    initialise = context.cluster.share_states.reset_state

    def initialize_partition_state(topic_id: bytes, partition: PartitionData) -> PartitionResult:
        key = (request.group_id, topic_id, partition.partition)
        error = initialise(key, partition.state_epoch, partition.start_offset)
        return PartitionResult(partition.partition, error, ERROR_MESSAGES.get(error))

    topics = request.topics if request.group_id else []
    return InitializeShareGroupStateResponse(
        results_by_topic(topics, InitializeStateResult, initialize_partition_state)
    )


error_response = mirroring_error_builder(
    InitializeShareGroupStateResponse, request_field_names={"results": "topics"}
)
