"""86 DeleteShareGroupState, version 0. Between brokers, but served on every listener (KIP-932).

Without CLUSTER_ACTION every partition gets CLUSTER_AUTHORIZATION_FAILED (31).
"""

from kafka_shim.authorizer.requirements import DELETE_SHARE_GROUP_STATE
from kafka_shim.protocol.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateResult,
    PartitionData,
    PartitionResult,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_state_results import results_by_topic
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_state import ERROR_MESSAGES, NOT_A_BROKER


def handle(
    request: DeleteShareGroupStateRequest, context: RequestContext
) -> DeleteShareGroupStateResponse:
    context.access.require(DELETE_SHARE_GROUP_STATE, message=NOT_A_BROKER)
    delete = context.cluster.share_states.delete_state

    def delete_partition_state(topic_id: bytes, partition: PartitionData) -> PartitionResult:
        error = delete((request.group_id, topic_id, partition.partition))
        return PartitionResult(partition.partition, error, ERROR_MESSAGES.get(error))

    topics = request.topics if request.group_id else []
    return DeleteShareGroupStateResponse(
        results_by_topic(topics, DeleteStateResult, delete_partition_state)
    )


error_response = mirroring_error_builder(
    DeleteShareGroupStateResponse, request_field_names={"results": "topics"}
)
