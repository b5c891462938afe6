"""Requests to change the voters of the KRaft quorum, which is static (KIP-853)."""

from typing import NoReturn

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext


def reject_change_of_voters(
    requirement: Requirement, cluster_id: str | None, context: RequestContext
) -> NoReturn:
    """Raise RequestRejected: for a denial, for another cluster's id, or as the quorum is static."""
    context.access.require(requirement, message="cluster authorization failed")
    if cluster_id not in (None, context.cluster.cluster_id):
        text = f"this is cluster {context.cluster.cluster_id}, not `{cluster_id}`"
        raise RequestRejected(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    raise RequestRejected(
        ErrorCode.UNSUPPORTED_VERSION, "the quorum is static, since kraft.version is 0"
    )
