"""APIs whose requests are checked, and then always rejected; they change nothing.

All need CLUSTER_ACTION on the cluster (94: ALTER), or get CLUSTER_AUTHORIZATION_FAILED (31).

4 LeaderAndIsr, 5 StopReplica, 6 UpdateMetadata: orders of the controller to a broker. The epoch of
the broker or of the controller is always stale. A denied LeaderAndIsr or StopReplica lists the
partitions.

7 ControlledShutdown: a stopping broker asks the controller to move its leaders. DEVIATION: a real
controller moves them, also for a client. Brokers here never send this request, so a known broker
id gets STALE_BROKER_EPOCH (77), as if that broker was restarted since.

56 AlterPartition: a leader reports its in-sync replicas to the controller (KIP-497). It needs a
broker epoch, which no client has.

80 AddRaftVoter, 81 RemoveRaftVoter: the voter is checked; then the quorum is static (KIP-853).

94 UnregisterController: removes a stopped controller from the quorum's list. Each node of the shim
is a broker, one of which is the controller (observed on 4.4.0).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

import msgspec

from kafka_shim.authorizer import requirements
from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.add_raft_voter import AddRaftVoterRequest, AddRaftVoterResponse
from kafka_shim.protocol.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
)
from kafka_shim.protocol.messages.controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from kafka_shim.protocol.messages.leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
)
from kafka_shim.protocol.messages.remove_raft_voter import (
    RemoveRaftVoterRequest,
    RemoveRaftVoterResponse,
)
from kafka_shim.protocol.messages.stop_replica import (
    StopReplicaPartitionError,
    StopReplicaRequest,
    StopReplicaResponse,
)
from kafka_shim.protocol.messages.unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kafka_shim.protocol.messages.update_metadata import (
    UpdateMetadataRequest,
    UpdateMetadataResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.controller import (
    require_controller,
    serves_controller_requests,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.topics import NO_ID

NO_EPOCH: Final = -1
CONTROLLER_LISTENERS: Final = "controller.listener.names"
TOPIC_IDS_SINCE: Final = 5
"""First version of LeaderAndIsr whose response identifies topics by id."""

TopicPartition = tuple[str, int]


class RejectingHandler(NamedTuple):
    """The two functions of a handler, for an API without a module of its own."""

    handle: Callable[[Any, RequestContext], Any]
    error_response: Callable[[Any, ErrorCode, str | None], Any]


def _create_rejecting_handler(
    requirement: Requirement,
    response_type: type[msgspec.Struct],
    rejection: Callable[[Any, RequestContext], RequestRejected],
    denial_message: str | None = None,
    **constant_fields: Any,
) -> RejectingHandler:
    """Return a handler that checks the requirement and then rejects the request."""

    def handle(request: Any, context: RequestContext) -> NoReturn:
        context.access.require(requirement, message=denial_message)
        raise rejection(request, context)

    return RejectingHandler(
        handle, mirroring_error_builder(response_type, constant_fields=constant_fields)
    )


def _stale_epoch_error(broker_epoch: int) -> ErrorCode:
    """Return which epoch of an order is stale; the broker's is in orders since KIP-380."""
    is_broker_epoch = broker_epoch != NO_EPOCH
    return ErrorCode.STALE_BROKER_EPOCH if is_broker_epoch else ErrorCode.STALE_CONTROLLER_EPOCH


def _update_metadata_rejection(
    request: UpdateMetadataRequest, context: RequestContext
) -> RequestRejected:
    return RequestRejected(_stale_epoch_error(request.broker_epoch))


def _controlled_shutdown_rejection(
    request: ControlledShutdownRequest, context: RequestContext
) -> RequestRejected:
    if not serves_controller_requests(context):
        return RequestRejected(ErrorCode.STALE_CONTROLLER_EPOCH)
    if request.broker_id in context.cluster.nodes:
        return RequestRejected(ErrorCode.STALE_BROKER_EPOCH)
    if request.broker_epoch == NO_EPOCH:
        return RequestRejected(ErrorCode.BROKER_NOT_AVAILABLE)
    return RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)  # KIP-380


def _alter_partition_rejection(
    request: AlterPartitionRequest, context: RequestContext
) -> RequestRejected:
    require_controller(context)
    return RequestRejected(ErrorCode.STALE_BROKER_EPOCH)


def _voter_change_rejection(
    request: AddRaftVoterRequest | RemoveRaftVoterRequest, context: RequestContext
) -> RequestRejected:
    if request.cluster_id not in (None, context.cluster.cluster_id):
        text = f"this is cluster {context.cluster.cluster_id}, not `{request.cluster_id}`"
        return RequestRejected(ErrorCode.INCONSISTENT_CLUSTER_ID, text)
    lacks_endpoint = False
    if isinstance(request, AddRaftVoterRequest):
        names = context.cluster.configs.effective_broker_value(CONTROLLER_LISTENERS)
        default = (names or "CONTROLLER").split(",")[0]
        lacks_endpoint = default not in {listener.name for listener in request.listeners}
    for is_wrong, text in (
        (request.voter_id < 0, f"invalid voter id {request.voter_id}"),
        (request.voter_directory_id == NO_ID, "the voter has no directory id"),
        (lacks_endpoint, "the voter has no endpoint for the controllers' default listener"),
    ):
        if is_wrong:
            return RequestRejected(ErrorCode.INVALID_REQUEST, text)
    text = "the quorum is static, since kraft.version is 0"
    return RequestRejected(ErrorCode.UNSUPPORTED_VERSION, text)


def _unregister_controller_rejection(
    request: UnregisterControllerRequest, context: RequestContext
) -> RequestRejected:
    if request.controller_id == context.cluster.controller_id:
        text = "the active controller cannot unregister itself"
        return RequestRejected(ErrorCode.INVALID_REQUEST, text)
    text = f"controller {request.controller_id} is not registered"
    return RequestRejected(ErrorCode.CONTROLLER_ID_NOT_REGISTERED, text)


def _reject_leader_and_isr(
    request: LeaderAndIsrRequest, context: RequestContext
) -> LeaderAndIsrResponse:
    denial = context.access.denial_error(requirements.LEADER_AND_ISR)
    error = _stale_epoch_error(request.broker_epoch) if denial is NO_ERROR else denial
    if context.version >= TOPIC_IDS_SINCE:
        return _leader_and_isr_by_topic_id(request, error)
    lists_stale = context.facts.cluster.stale_controller_error_lists_partitions
    if error is ErrorCode.STALE_CONTROLLER_EPOCH and not lists_stale:
        return LeaderAndIsrResponse(error_code=error)
    partitions = _deduplicate_partitions(_partitions_of_leader_and_isr(request), context)
    return _leader_and_isr_by_topic_name(partitions, error)


def _leader_and_isr_error(
    request: LeaderAndIsrRequest, error: ErrorCode, message: str | None
) -> LeaderAndIsrResponse:
    if any(any(topic.topic_id) for topic in request.topic_states):
        return _leader_and_isr_by_topic_id(request, error)
    return _leader_and_isr_by_topic_name(_partitions_of_leader_and_isr(request), error)


def _partitions_of_leader_and_isr(request: LeaderAndIsrRequest) -> list[TopicPartition]:
    """Return the request's partitions: by topic since version 2, in one list before."""
    return [
        *(
            (topic.topic_name, state.partition_index)
            for topic in request.topic_states
            for state in topic.partition_states
        ),
        *((each.topic_name, each.partition_index) for each in request.ungrouped_partition_states),
    ]


def _leader_and_isr_by_topic_name(
    partitions: Iterable[TopicPartition], error: ErrorCode
) -> LeaderAndIsrResponse:
    rows = [LeaderAndIsrPartitionError(name, index, error) for name, index in partitions]
    return LeaderAndIsrResponse(error_code=error, partition_errors=rows)


def _leader_and_isr_by_topic_id(
    request: LeaderAndIsrRequest, error: ErrorCode
) -> LeaderAndIsrResponse:
    topics = [
        LeaderAndIsrTopicError(
            topic.topic_id,
            [
                LeaderAndIsrPartitionError(partition_index=each.partition_index, error_code=error)
                for each in topic.partition_states
            ],
        )
        for topic in request.topic_states
    ]
    return LeaderAndIsrResponse(error_code=error, topics=topics)


def _reject_stop_replica(
    request: StopReplicaRequest, context: RequestContext
) -> StopReplicaResponse:
    """Return the partitions with a denial, and none with a stale epoch."""
    denial = context.access.denial_error(requirements.STOP_REPLICA)
    if denial is NO_ERROR:
        return StopReplicaResponse(error_code=_stale_epoch_error(request.broker_epoch))
    partitions = _deduplicate_partitions(_partitions_of_stop_replica(request), context)
    return _stop_replica_response(partitions, denial)


def _stop_replica_error(
    request: StopReplicaRequest, error: ErrorCode, message: str | None
) -> StopReplicaResponse:
    return _stop_replica_response(_partitions_of_stop_replica(request), error)


def _partitions_of_stop_replica(request: StopReplicaRequest) -> list[TopicPartition]:
    """Return the partitions from the request's layout: that of versions 3, 1 and 2, or 0."""
    return [
        *(
            (topic.topic_name, state.partition_index)
            for topic in request.topic_states
            for state in topic.partition_states
        ),
        *((topic.name, index) for topic in request.topics for index in topic.partition_indexes),
        *((each.topic_name, each.partition_index) for each in request.ungrouped_partitions),
    ]


def _stop_replica_response(
    partitions: Iterable[TopicPartition], error: ErrorCode
) -> StopReplicaResponse:
    rows = [StopReplicaPartitionError(name, index, error) for name, index in partitions]
    return StopReplicaResponse(error_code=error, partition_errors=rows)


def _deduplicate_partitions(
    partitions: Iterable[TopicPartition], context: RequestContext
) -> Iterable[TopicPartition]:
    """Return the partitions that a response lists: duplicates only in some releases."""
    if context.facts.cluster.denied_replica_requests_list_each_partition:
        return partitions
    return dict.fromkeys(partitions)


_DENIED: Final = "cluster authorization failed"
HANDLERS: Mapping[ApiKey, RejectingHandler] = {
    ApiKey.LEADER_AND_ISR: RejectingHandler(_reject_leader_and_isr, _leader_and_isr_error),
    ApiKey.STOP_REPLICA: RejectingHandler(_reject_stop_replica, _stop_replica_error),
    ApiKey.UPDATE_METADATA: _create_rejecting_handler(
        requirements.UPDATE_METADATA, UpdateMetadataResponse, _update_metadata_rejection
    ),
    ApiKey.CONTROLLED_SHUTDOWN: _create_rejecting_handler(
        requirements.CONTROLLED_SHUTDOWN, ControlledShutdownResponse, _controlled_shutdown_rejection
    ),
    ApiKey.ALTER_PARTITION: _create_rejecting_handler(
        requirements.ALTER_PARTITION, AlterPartitionResponse, _alter_partition_rejection, topics=[]
    ),
    ApiKey.ADD_RAFT_VOTER: _create_rejecting_handler(
        requirements.ADD_RAFT_VOTER, AddRaftVoterResponse, _voter_change_rejection, _DENIED
    ),
    ApiKey.REMOVE_RAFT_VOTER: _create_rejecting_handler(
        requirements.REMOVE_RAFT_VOTER, RemoveRaftVoterResponse, _voter_change_rejection, _DENIED
    ),
    ApiKey.UNREGISTER_CONTROLLER: _create_rejecting_handler(
        requirements.UNREGISTER_CONTROLLER,
        UnregisterControllerResponse,
        _unregister_controller_rejection,
        _DENIED,
    ),
}
