"""93 StreamsGroupTopologyDescriptionUpdate, version 0. A Streams client describes its topology, for
a plug-in of the broker to keep (KIP-1331).

READ on the group, or 30. A broker without such a plug-in, as this one, answers 35 (seen on 4.4.0).
"""

from kafka_shim.authorizer.requirements import STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_GROUP
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.streams_group_topology_description_update_request import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from kafka_shim.protocol.messages.streams_group_topology_description_update_response import (
    StreamsGroupTopologyDescriptionUpdateResponse,
)
from kafka_shim.shim.errors import Refused
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: StreamsGroupTopologyDescriptionUpdateRequest, context: RequestContext
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    context.access.require(STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_GROUP, request.group_id)
    text = "no plug-in of this broker keeps descriptions of topologies"
    raise Refused(ErrorCode.UNSUPPORTED_VERSION, text)


def refuse(
    request: StreamsGroupTopologyDescriptionUpdateRequest,
    error: ErrorCode,
    message: str | None,
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    return StreamsGroupTopologyDescriptionUpdateResponse(error_code=error, error_message=message)
