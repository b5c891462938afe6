"""64 UnregisterBroker, version 0. A running broker registers again immediately, as in Kafka."""

from kafka_shim.authorizer.requirements import UNREGISTER_BROKER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.unregister_broker import (
    UnregisterBrokerRequest,
    UnregisterBrokerResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: UnregisterBrokerRequest, context: RequestContext) -> UnregisterBrokerResponse:
    has_message = context.facts.cluster.unregister_has_message
    message = "cluster authorization failed" if has_message else ""
    context.access.require(UNREGISTER_BROKER, message=message)
    if request.broker_id not in context.cluster.nodes:
        text = f"broker {request.broker_id} is not registered"
        raise RequestRejected(ErrorCode.BROKER_ID_NOT_REGISTERED, text if has_message else "")
    return UnregisterBrokerResponse(error_message="")


error_response = mirroring_error_builder(UnregisterBrokerResponse)
