"""42 DeleteGroups, versions 0-2. Deletes groups without members, with their offsets (KIP-229).

DELETE on each group. GROUP_ID_NOT_FOUND (69) and NON_EMPTY_GROUP (68) are returned only to callers
with that permission.
"""

from kafka_shim.authorizer.requirements import DELETE_GROUPS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: DeleteGroupsRequest, context: RequestContext) -> DeleteGroupsResponse:
    names = list(dict.fromkeys(request.groups_names))
    allowed, denied = context.access.split_allowed(DELETE_GROUPS, names, str)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    return DeleteGroupsResponse(
        results=[_group_result(group_id, _delete_group(group_id, context)) for group_id in allowed]
        + [_group_result(group_id, refused) for group_id in denied]
    )


error_response = mirroring_error_builder(
    DeleteGroupsResponse,
    request_field_names={"results": "groups_names"},
    constant_fields={"error_message": None},
)


def _delete_group(group_id: str, context: RequestContext) -> ErrorCode:
    error = context.group_coordinator_error(group_id)
    return context.cluster.groups.delete_empty_group(group_id) if error is ErrorCode.NONE else error


def _group_result(group_id: str, error: ErrorCode) -> DeletableGroupResult:
    return DeletableGroupResult(group_id=group_id, error_code=error)
