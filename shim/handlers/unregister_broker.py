"""64 UnregisterBroker, version 0. A running broker registers again at once, as a real one does."""

from authorizer.requirements import UNREGISTER_BROKER
from protocol.error_codes import ErrorCode
from protocol.messages.unregister_broker_request import UnregisterBrokerRequest
from protocol.messages.unregister_broker_response import UnregisterBrokerResponse
from shim.context import RequestContext
from shim.errors import Refused


def handle(request: UnregisterBrokerRequest, context: RequestContext) -> UnregisterBrokerResponse:
    says_why = context.behaviour.unregistering_says_why
    message = "cluster authorization failed" if says_why else ""
    context.access.require(UNREGISTER_BROKER, message=message)
    if request.broker_id not in context.cluster.nodes:
        text = f"broker {request.broker_id} is not registered"
        raise Refused(ErrorCode.BROKER_ID_NOT_REGISTERED, text if says_why else "")
    return UnregisterBrokerResponse(error_message="")


def refuse(
    request: UnregisterBrokerRequest, error: ErrorCode, message: str | None
) -> UnregisterBrokerResponse:
    return UnregisterBrokerResponse(error_code=error, error_message=message)
