"""80 AddRaftVoter, versions 0-1. UNSUPPORTED_VERSION (35), as the quorum is static (KIP-853)."""

from kafka_shim.authorizer.requirements import ADD_RAFT_VOTER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.add_raft_voter_request import AddRaftVoterRequest
from kafka_shim.protocol.messages.add_raft_voter_response import AddRaftVoterResponse
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: AddRaftVoterRequest, context: RequestContext) -> AddRaftVoterResponse:
    context.access.require(ADD_RAFT_VOTER, message="cluster authorization failed")
    require_null_or_matching_cluster_id(request.cluster_id, context)
    raise RequestRejected(
        ErrorCode.UNSUPPORTED_VERSION, "the quorum is static, since kraft.version is 0"
    )


error_response = mirroring_error_builder(AddRaftVoterResponse)


def require_null_or_matching_cluster_id(cluster_id: str | None, context: RequestContext) -> None:
    """Raise RequestRejected for the id of another cluster; null means any cluster."""
    if cluster_id not in (None, context.cluster.cluster_id):
        text = f"this is cluster {context.cluster.cluster_id}, not `{cluster_id}`"
        raise RequestRejected(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
