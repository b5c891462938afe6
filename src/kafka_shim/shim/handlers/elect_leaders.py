"""43 ElectLeaders, versions 0-2. Elects the preferred or any live replica (KIP-183, KIP-460).

Version 0 has only the preferred election, and returns a denial only on the partitions. A partition
that needs no election gets ELECTION_NOT_NEEDED (84), and is omitted if all partitions were
requested.
"""

from collections.abc import Iterator

from kafka_shim.authorizer.requirements import ELECT_LEADERS
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.elect_leaders import (
    ElectLeadersRequest,
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import serves_controller_requests
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import Partition

PREFERRED = 0
UNCLEAN = 1


def handle(request: ElectLeadersRequest, context: RequestContext) -> ElectLeadersResponse:
    response = _elect(request, context)
    if not context.facts.topics.elect_leaders_lists_partitions_as_requested:
        response.replica_election_results = _merge_duplicate_rows(response.replica_election_results)
    return response


error_response = mirroring_error_builder(
    ElectLeadersResponse,
    request_field_names={
        "replica_election_results": "topic_partitions",
        "partition_result": "partitions",
    },
)


def _merge_duplicate_rows(results: list[ReplicaElectionResult]) -> list[ReplicaElectionResult]:
    rows = (
        (result.topic, row.partition_id, row)
        for result in results
        for row in result.partition_result
    )
    return [
        ReplicaElectionResult(topic=name, partition_result=partitions)
        for name, partitions in deduplicate_by_topic(rows)
    ]


def _elect(request: ElectLeadersRequest, context: RequestContext) -> ElectLeadersResponse:
    if context.facts.topics.elect_leaders_is_supported:
        error = context.access.denial_error(ELECT_LEADERS)
    else:
        context.access.declare_no_further_checks()
        # DEVIATION: a real broker never responds if all topics are requested.
        error = ErrorCode.UNSUPPORTED_VERSION
    if error is not ErrorCode.NONE:
        denied = error_response(request, error, context.facts.topics.elect_leaders_denial_message)
        if context.version == 0:
            denied.error_code = ErrorCode.NONE
        return denied
    if request.topic_partitions == [] and not context.facts.topics.empty_election_checks_type:
        return ElectLeadersResponse()  # even with an invalid type (the oracle's seed 93060)
    if context.version > 0 and request.election_type not in (PREFERRED, UNCLEAN):
        error = ErrorCode(context.facts.topics.unknown_election_type_error)
        has_text = context.facts.topics.unknown_election_type_has_message
        message = f"election type {request.election_type} is unknown" if has_text else None
        raise RequestRejected(error, message)
    if request.topic_partitions is None:
        return ElectLeadersResponse(
            replica_election_results=list(_elect_for_all_partitions(request, context))
        )
    return ElectLeadersResponse(
        replica_election_results=[
            ReplicaElectionResult(
                topic=topic.topic,
                partition_result=[
                    _partition_result(index, _elect_leader(topic.topic, index, request, context))
                    for index in topic.partitions
                ],
            )
            for topic in request.topic_partitions
        ]
    )


def _elect_for_all_partitions(
    request: ElectLeadersRequest, context: RequestContext
) -> Iterator[ReplicaElectionResult]:
    """Elect leaders of all partitions; yield every topic, without rows of ELECTION_NOT_NEEDED."""
    for topic in context.cluster.topics:
        results = []
        for partition in topic.partitions:
            error = _elect_leader(topic.name, partition.index, request, context)
            if error is not ErrorCode.ELECTION_NOT_NEEDED:
                results.append(_partition_result(partition.index, error))
        yield ReplicaElectionResult(topic=topic.name, partition_result=results)


def _elect_leader(
    topic_name: str, index: int, request: ElectLeadersRequest, context: RequestContext
) -> ErrorCode:
    if not serves_controller_requests(context):
        return ErrorCode.NOT_CONTROLLER
    partition = context.cluster.topics.controller_partition(topic_name, index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    nodes = context.cluster.nodes
    alive = [
        replica for replica in partition.replicas if replica in nodes and nodes[replica].is_alive
    ]
    unneeded = ErrorCode(context.facts.topics.election_not_needed_error)
    if request.election_type == UNCLEAN:
        if partition.leader_id in alive:
            return unneeded
        return _elect_first_candidate(
            partition, alive, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, context
        )
    preferred = [
        replica
        for replica in partition.replicas[:1]
        if replica in alive and replica in partition.isr
    ]
    if preferred and partition.leader_id == preferred[0]:
        return unneeded
    return _elect_first_candidate(
        partition, preferred, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, context
    )


def _elect_first_candidate(
    partition: Partition,
    candidates: list[int],
    no_candidate_error: ErrorCode,
    context: RequestContext,
) -> ErrorCode:
    if not candidates:
        return no_candidate_error
    context.cluster.topics.elect_leader(partition, candidates[0])
    return ErrorCode.NONE


def _partition_result(index: int, error: ErrorCode) -> PartitionResult:
    message = None if error is ErrorCode.NONE else error.name.lower().replace("_", " ")
    return PartitionResult(partition_id=index, error_code=error, error_message=message)
