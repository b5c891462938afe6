"""Requests that only the controller answers: brokers on ZooKeeper send the client there.

KRaft brokers forward them, so every broker of the emulated cluster answers (KIP-590).
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext


def serves_controller_requests(context: RequestContext) -> bool:
    """Return whether this broker may answer for the controller."""
    return (
        context.facts.cluster.brokers_forward_admin_requests
        or context.node_id == context.cluster.controller_id
    )


def require_controller(context: RequestContext) -> None:
    """Raise RequestRejected (NOT_CONTROLLER) if the request has to go to another broker."""
    if not serves_controller_requests(context):
        raise RequestRejected(ErrorCode.NOT_CONTROLLER)
