"""94 UnregisterController, version 0. Removes a stopped controller from the quorum's list.

ALTER on the cluster, or CLUSTER_AUTHORIZATION_FAILED (31). The active controller cannot remove
itself: INVALID_REQUEST (42). Other ids get CONTROLLER_ID_NOT_REGISTERED (136), since each node of
the shim is a broker, one of which is the controller (observed on 4.4.0).
"""

from kafka_shim.authorizer.requirements import UNREGISTER_CONTROLLER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: UnregisterControllerRequest, context: RequestContext
) -> UnregisterControllerResponse:
    context.access.require(UNREGISTER_CONTROLLER, message="cluster authorization failed")
    if request.controller_id == context.cluster.controller_id:
        text = "the active controller cannot unregister itself"
        raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    text = f"controller {request.controller_id} is not registered"
    raise RequestRejected(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)


error_response = mirroring_error_builder(UnregisterControllerResponse)
