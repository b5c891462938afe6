"""27 WriteTxnMarkers, versions 0-2. Ends transactions on partitions, as coordinators do (KIP-98).

ALTER or CLUSTER_ACTION on the cluster, or every partition of every marker gets
CLUSTER_AUTHORIZATION_FAILED (31). Markers of an older producer epoch get INVALID_PRODUCER_EPOCH
(47), those of an older coordinator epoch TRANSACTION_COORDINATOR_FENCED (52).

DEVIATION: a real broker does not respond if the last marker has only unknown partitions and an
earlier marker has others.
"""

from collections.abc import Iterable, Iterator, Mapping

from kafka_shim.authorizer.requirements import WRITE_TXN_MARKERS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic, distinct
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition
from kafka_shim.shim.state.transactions.transaction_markers import append_end_marker

_MarkerResult = tuple[str, int, ErrorCode]


def handle(request: WriteTxnMarkersRequest, context: RequestContext) -> WriteTxnMarkersResponse:
    denial = context.access.denial_error(WRITE_TXN_MARKERS)
    if denial is not ErrorCode.NONE:
        return error_response(request, denial, None)
    if any(marker.producer_id < 0 and _has_partitions(marker) for marker in request.markers):
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR, "a marker has no producer id")
    rows: dict[int, list[_MarkerResult]] = {}
    for marker in request.markers:
        if _has_partitions(marker):
            rows.setdefault(marker.producer_id, []).extend(
                _write_marker_to_partitions(marker, context)
            )
    return _group_by_producer(rows)


def _has_partitions(marker: WritableTxnMarker) -> bool:
    return any(topic.partition_indexes for topic in marker.topics)


def error_response(
    request: WriteTxnMarkersRequest, error: ErrorCode, message: str | None
) -> WriteTxnMarkersResponse:
    """Return the response to a denial, with only the last marker of each producer."""
    return _group_by_producer(
        {
            marker.producer_id: [
                (topic.name, index, error)
                for topic in marker.topics
                for index in topic.partition_indexes
            ]
            for marker in request.markers
        }
    )


def _group_by_producer(
    rows: Mapping[int, Iterable[_MarkerResult]],
) -> WriteTxnMarkersResponse:
    """Return the response with rows (topic, partition, code) by producer id, each once."""
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                producer_id=producer_id,
                topics=[
                    WritableTxnMarkerTopicResult(name=name, partitions=partitions)
                    for name, partitions in deduplicate_by_topic(
                        (name, index, WritableTxnMarkerPartitionResult(index, error))
                        for name, index, error in of_producer
                    )
                ],
            )
            for producer_id, of_producer in rows.items()
        ]
    )


def _write_marker_to_partitions(
    marker: WritableTxnMarker, context: RequestContext
) -> Iterator[_MarkerResult]:
    partitions = (
        (topic.name, index) for topic in marker.topics for index in topic.partition_indexes
    )
    for name, index in distinct(partitions):
        yield name, index, _write_marker(marker, name, index, context)


def _write_marker(
    marker: WritableTxnMarker, name: str, index: int, context: RequestContext
) -> ErrorCode:
    partition = context.cluster.topics.led_partition(name, index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    error = _marker_error(marker, partition, context)
    if error is not ErrorCode.NONE:
        return error
    append_end_marker(
        partition,
        (marker.producer_id, marker.producer_epoch),
        commit=marker.transaction_result,
        coordinator_epoch=marker.coordinator_epoch,
        now_ms=context.cluster.clock.now_ms(),
        facts=context.facts.records,
    )
    if name in context.cluster.topics.internal_names:
        context.cluster.groups.settle_pending_offsets(
            marker.producer_id, committed=marker.transaction_result
        )
    return ErrorCode.NONE


def _marker_error(
    marker: WritableTxnMarker, partition: Partition, context: RequestContext
) -> ErrorCode:
    if not partition.is_led_with_open_log_by(context.node_id):
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if marker.producer_epoch < 0:
        return ErrorCode.UNKNOWN_SERVER_ERROR
    known = partition.log.producers.get_producer(marker.producer_id)
    if known is None:
        return ErrorCode.NONE
    if marker.producer_epoch < known.epoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if marker.coordinator_epoch < known.coordinator_epoch:
        return ErrorCode.TRANSACTION_COORDINATOR_FENCED
    return ErrorCode.NONE
