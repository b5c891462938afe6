"""A described topology as StreamsGroupDescribe shows it: each node with what its type has."""

from collections.abc import Iterable

from kafka_shim.protocol.messages import streams_group_topology_description_update_request as told
from kafka_shim.protocol.messages.streams_group_describe_response import (
    TopologyDescription,
    TopologyDescriptionGlobalStore,
    TopologyDescriptionNode,
    TopologyDescriptionSubtopology,
)

SOURCE, PROCESSOR, SINK = 1, 2, 3
"""Types of nodes."""


def shown(description: told.TopologyDescription) -> TopologyDescription:
    """Return the description in the form of the response."""
    return TopologyDescription(
        subtopologies=[
            TopologyDescriptionSubtopology(
                subtopology_id=subtopology.subtopology_id,
                nodes=[_node(node) for node in subtopology.nodes],
            )
            for subtopology in description.subtopologies
        ],
        global_stores=[
            TopologyDescriptionGlobalStore(
                source=_node(store.source), processor=_node(store.processor)
            )
            for store in description.global_stores
        ],
    )


def _node(node: told.TopologyDescriptionNode) -> TopologyDescriptionNode:
    return TopologyDescriptionNode(
        name=node.name,
        node_type=node.node_type,
        source_topics=_once(node.source_topics) if node.node_type == SOURCE else [],
        sink_topic=node.sink_topic if node.node_type == SINK else None,
        stores=_once(node.stores) if node.node_type == PROCESSOR else [],
        successors=_once(node.successors),
    )


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
