"""6 UpdateMetadata, versions 0-7. The controller sends a broker the cluster's metadata.

CLUSTER_ACTION on the cluster, or CLUSTER_AUTHORIZATION_FAILED (31). Every other request gets a
stale epoch.
"""

from kafka_shim.authorizer.requirements import UPDATE_METADATA
from kafka_shim.protocol.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from kafka_shim.shim.handlers.always_rejected.stale_epoch import (
    denial_or_always_stale_epoch_error,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: UpdateMetadataRequest, context: RequestContext) -> UpdateMetadataResponse:
    error = denial_or_always_stale_epoch_error(UPDATE_METADATA, request.broker_epoch, context)
    return UpdateMetadataResponse(error_code=error)


error_response = mirroring_error_builder(UpdateMetadataResponse)
