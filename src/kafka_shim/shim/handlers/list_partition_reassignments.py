"""46 ListPartitionReassignments, version 0. Always empty: see AlterPartitionReassignments.

A denial repeats the requested partitions, without replicas (KIP-455).
"""

from kafka_shim.authorizer.requirements import LIST_PARTITION_REASSIGNMENTS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import require_controller
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: ListPartitionReassignmentsRequest,
    context: RequestContext,
) -> ListPartitionReassignmentsResponse:
    error = context.access.denial_error(LIST_PARTITION_REASSIGNMENTS)
    if error is not ErrorCode.NONE:
        raise RequestRejected(error, "cluster authorization failed")
    require_controller(context)
    return ListPartitionReassignmentsResponse(
        error_message=context.facts.topics.reassignment_ok_message
    )


error_response = mirroring_error_builder(
    ListPartitionReassignmentsResponse, request_field_names={"partitions": "partition_indexes"}
)
