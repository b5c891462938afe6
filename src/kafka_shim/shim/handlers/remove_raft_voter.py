"""81 RemoveRaftVoter, version 0. UNSUPPORTED_VERSION (35), as the quorum is static (KIP-853)."""

from kafka_shim.authorizer.requirements import REMOVE_RAFT_VOTER
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.remove_raft_voter_request import RemoveRaftVoterRequest
from kafka_shim.protocol.messages.remove_raft_voter_response import RemoveRaftVoterResponse
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.add_raft_voter import require_null_or_matching_cluster_id
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: RemoveRaftVoterRequest, context: RequestContext) -> RemoveRaftVoterResponse:
    context.access.require(REMOVE_RAFT_VOTER, message="cluster authorization failed")
    require_null_or_matching_cluster_id(request.cluster_id, context)
    raise RequestRejected(
        ErrorCode.UNSUPPORTED_VERSION, "the quorum is static, since kraft.version is 0"
    )


error_response = mirroring_error_builder(RemoveRaftVoterResponse)
