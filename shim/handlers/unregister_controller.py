"""94 UnregisterController, version 0. Removes a controller that is gone from the quorum's list.

ALTER on the cluster, or 31. The active controller cannot remove itself (42), and other ids are
unknown (136): each node of the shim is a broker, and one of them controls (seen on 4.4.0).
"""

from kafka_shim.authorizer.requirements import UNREGISTER_CONTROLLER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.unregister_controller_request import UnregisterControllerRequest
from kafka_shim.protocol.messages.unregister_controller_response import (
    UnregisterControllerResponse,
)
from kafka_shim.shim.errors import Refused
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: UnregisterControllerRequest, context: RequestContext
) -> UnregisterControllerResponse:
    context.access.require(UNREGISTER_CONTROLLER, message="cluster authorization failed")
    if request.controller_id == context.cluster.controller_id:
        text = "the active controller cannot unregister itself"
        raise Refused(ErrorCode.INVALID_REQUEST, text)
    text = f"controller {request.controller_id} is not registered"
    raise Refused(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)


def refuse(
    request: UnregisterControllerRequest, error: ErrorCode, message: str | None
) -> UnregisterControllerResponse:
    return UnregisterControllerResponse(error_code=error, error_message=message)
