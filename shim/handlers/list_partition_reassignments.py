"""46 ListPartitionReassignments, version 0. There are never any: see AlterPartitionReassignments.

A denial repeats the partitions that were asked for, without replicas (KIP-455).
"""

from authorizer.requirements import LIST_PARTITION_REASSIGNMENTS
from protocol.error_codes import ErrorCode
from protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from shim.context import RequestContext
from shim.errors import Refused
from shim.handling.controller import require_controller


def handle(
    request: ListPartitionReassignmentsRequest,
    context: RequestContext,
) -> ListPartitionReassignmentsResponse:
    error = context.access.error(LIST_PARTITION_REASSIGNMENTS)
    if error is not ErrorCode.NONE:
        raise Refused(error, "cluster authorization failed")
    require_controller(context)
    return ListPartitionReassignmentsResponse(error_message=None if context.behaviour.kraft else "")


def refuse(
    request: ListPartitionReassignmentsRequest, error: ErrorCode, message: str | None
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(
        error_code=error,
        error_message=message,
        topics=[
            OngoingTopicReassignment(
                name=topic.name,
                partitions=[
                    OngoingPartitionReassignment(partition_index=index)
                    for index in topic.partition_indexes
                ],
            )
            for topic in request.topics or []
        ],
    )
