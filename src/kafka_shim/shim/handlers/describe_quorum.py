"""55 DescribeQuorum, versions 0-2 (KIP-836, KIP-853). The only partition of `__cluster_metadata`:
the controller leads it, the other brokers follow. If the request has any other topic or partition,
all of them get UNKNOWN_TOPIC_OR_PARTITION (3).

DEVIATION: the response lists no listener of the controller, as clients cannot connect to one.
"""

from kafka_shim.authorizer.requirements import DESCRIBE_QUORUM
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    Node,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import METADATA_LOG


def handle(request: DescribeQuorumRequest, context: RequestContext) -> DescribeQuorumResponse:
    context.access.require(DESCRIBE_QUORUM, message="cluster authorization failed")
    requested_partitions = [
        (topic.topic_name, part.partition_index)
        for topic in request.topics
        for part in topic.partitions
    ]
    lists_nodes = context.version >= 2
    is_known = requested_partitions == [(METADATA_LOG, 0)]
    return DescribeQuorumResponse(
        error_message="",
        topics=[
            ResponseTopicData(
                topic_name=topic.topic_name,
                partitions=[
                    _describe_metadata_quorum(context)
                    if is_known
                    else _unknown_partition_row(partition.partition_index)
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
        ],
        nodes=[Node(node_id=context.cluster.controller_id)] if is_known and lists_nodes else [],
    )


error_response = mirroring_error_builder(DescribeQuorumResponse, constant_fields={"topics": []})


def _unknown_partition_row(index: int) -> ResponsePartitionData:
    return ResponsePartitionData(
        partition_index=index,
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        error_message="only the partition of the metadata log can be described",
    )


def _describe_metadata_quorum(context: RequestContext) -> ResponsePartitionData:
    cluster = context.cluster
    end = cluster.counters.requests  # stands for the growing end of the metadata log
    replicas = {
        node_id: ReplicaState(
            replica_id=node_id,
            log_end_offset=end,
            last_fetch_timestamp=cluster.clock.now_ms(),
            last_caught_up_timestamp=cluster.clock.now_ms(),
        )
        for node_id, node in cluster.nodes.items()
        if node.is_alive or node_id == cluster.controller_id
    }
    voter = replicas.pop(cluster.controller_id)
    return ResponsePartitionData(
        partition_index=0,
        leader_id=cluster.controller_id,
        leader_epoch=1,
        high_watermark=end,
        current_voters=[voter],
        observers=list(replicas.values()),
    )
