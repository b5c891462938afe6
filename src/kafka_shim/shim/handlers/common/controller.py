"""Requests that only the controller answers: brokers on ZooKeeper send the client there.

KRaft brokers forward them, so every broker of the emulated cluster answers (KIP-590).
"""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext


def is_controller(context: RequestContext) -> bool:
    """Whether this broker may answer for the controller."""
    return (
        context.facts.cluster.brokers_forward_admin_requests
        or context.node_id == context.cluster.controller_id
    )


def require_controller(context: RequestContext) -> None:
    """Refuse the whole request with 41 where it has to go to another broker."""
    if not is_controller(context):
        raise RequestRejected(ErrorCode.NOT_CONTROLLER)
