"""93 StreamsGroupTopologyDescriptionUpdate, version 0. A Streams client sends the description of
its topology, which a plug-in of the broker stores (KIP-1331).

READ on the group, or GROUP_AUTHORIZATION_FAILED (30). Without such a plug-in a permitted caller
gets UNSUPPORTED_VERSION (35).
"""

from kafka_shim.authorizer.requirements import STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_GROUP
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
    TopologyDescription,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.streams_group_describe import PROCESSOR, SINK, SOURCE
from kafka_shim.shim.request.context import RequestContext


def handle(
    request: StreamsGroupTopologyDescriptionUpdateRequest, context: RequestContext
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    groups = context.cluster.groups
    if "streams" not in groups.settings.enabled_protocols:
        raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION)
    context.access.require(STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE_GROUP, request.group_id)
    descriptions = context.cluster.member_requests.topology_descriptions
    if not descriptions.are_stored_by_plugin:
        text = "the broker has no plugin for topology descriptions"
        raise RequestRejected(ErrorCode.UNSUPPORTED_VERSION, text)
    if not (request.member_id.strip() and request.group_id.strip()):
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "the member id or the group id is empty")
    context.require_group_coordinator(request.group_id)
    group = groups.find_streams_group(request.group_id)
    if group is None:
        text = f"unknown streams group `{request.group_id}`"
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, text)
    group.require_member(request.member_id)
    if request.topology_epoch != group.topology_epoch:
        text = f"the group runs the topology of epoch {group.topology_epoch}"
        raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    _check_description_nodes(request.topology_description)
    descriptions.store_description(group, request.topology_description)
    return StreamsGroupTopologyDescriptionUpdateResponse()


def _check_description_nodes(description: TopologyDescription) -> None:
    """Raise RequestRejected for unknown types of nodes, and for stores with wrong nodes."""
    nodes = [node for subtopology in description.subtopologies for node in subtopology.nodes]
    for store in description.global_stores:
        nodes += [store.source, store.processor]
        if (store.source.node_type, store.processor.node_type) != (SOURCE, PROCESSOR):
            text = "a global store must have a source and a processor"
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)
    for node in nodes:
        if node.node_type not in (SOURCE, PROCESSOR, SINK):
            text = f"node `{node.name}` has the unknown type {node.node_type}"
            raise RequestRejected(ErrorCode.INVALID_REQUEST, text)


error_response = mirroring_error_builder(StreamsGroupTopologyDescriptionUpdateResponse)
