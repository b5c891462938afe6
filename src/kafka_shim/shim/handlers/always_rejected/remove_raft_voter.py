"""81 RemoveRaftVoter, version 0. UNSUPPORTED_VERSION (35), as the quorum is static (KIP-853)."""

from typing import NoReturn

from kafka_shim.authorizer.requirements import REMOVE_RAFT_VOTER
from kafka_shim.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from kafka_shim.shim.handlers.always_rejected.static_quorum import reject_change_of_voters
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: RemoveRaftVoterRequest, context: RequestContext) -> NoReturn:
    reject_change_of_voters(REMOVE_RAFT_VOTER, request.cluster_id, context)


error_response = mirroring_error_builder(RemoveRaftVoterResponse)
