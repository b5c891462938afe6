"""6 UpdateMetadata, versions 0-7. The controller tells a broker what there is in the cluster.

CLUSTER_ACTION on the cluster, or 31. Never obeyed: see `shim.handling.orders`.
"""

from authorizer.requirements import UPDATE_METADATA
from protocol.error_codes import ErrorCode
from protocol.messages.update_metadata_request import UpdateMetadataRequest
from protocol.messages.update_metadata_response import UpdateMetadataResponse
from shim.context import RequestContext
from shim.handling import orders


def handle(request: UpdateMetadataRequest, context: RequestContext) -> UpdateMetadataResponse:
    error = orders.refusal(UPDATE_METADATA, request.broker_epoch, context)
    return UpdateMetadataResponse(error_code=error)


def refuse(
    request: UpdateMetadataRequest, error: ErrorCode, message: str | None
) -> UpdateMetadataResponse:
    return UpdateMetadataResponse(error_code=error)
