"""79 ShareAcknowledge, versions 0-2. Acknowledges, releases or rejects acquired records (KIP-932).

READ on the group, then the session is checked, then READ on every topic: a denied one gets
TOPIC_AUTHORIZATION_FAILED (29) on its partitions. An unknown topic id fails the whole request with
UNKNOWN_SERVER_ERROR (-1); without an authorizer its partitions get UNKNOWN_TOPIC_ID (100, observed
on 4.3.1).
"""

from kafka_shim.authorizer.requirements import SHARE_ACKNOWLEDGE_GROUP, SHARE_ACKNOWLEDGE_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.share_acknowledge import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_acknowledging import (
    AcknowledgementResult,
    ShareAcknowledger,
    check_share_request,
    topic_access_errors,
)
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_sessions import END, TopicPartition


def handle(request: ShareAcknowledgeRequest, context: RequestContext) -> ShareAcknowledgeResponse:
    check_share_request(context, SHARE_ACKNOWLEDGE_GROUP, request.group_id, request.member_id)
    group_id, member_id = request.group_id or "", request.member_id or ""
    sessions = context.cluster.share_sessions[context.node_id]
    sessions.advance_epoch(group_id, member_id, request.share_session_epoch)
    known = [context.cluster.topics.by_id(topic.topic_id) for topic in request.topics]
    names = [None if topic is None else topic.name for topic in known]
    if not context.access.consults_authorizer:
        names = [name for name in names if name is not None]
    denials = topic_access_errors(context, SHARE_ACKNOWLEDGE_TOPIC, names)
    acknowledger = ShareAcknowledger(group_id, member_id, request.is_renew_ack, context, denials)
    outcomes = acknowledger.acknowledge_all(request.topics)
    if request.share_session_epoch == END:
        sessions.end_session(group_id, member_id)
    return _response_of_outcomes(outcomes, group_id, context)


error_response = mirroring_error_builder(ShareAcknowledgeResponse)


def _response_of_outcomes(
    outcomes: dict[TopicPartition, AcknowledgementResult], group_id: str, context: RequestContext
) -> ShareAcknowledgeResponse:
    settings = context.cluster.groups.settings
    topics: dict[bytes, ShareAcknowledgeTopicResponse] = {}
    for (topic_id, index), outcome in outcomes.items():
        row = PartitionData(index, outcome.error, outcome.message)
        if outcome.error is ErrorCode.NOT_LEADER_OR_FOLLOWER:
            row.current_leader = _current_leader(topic_id, index, context)
        topic = topics.setdefault(topic_id, ShareAcknowledgeTopicResponse(topic_id))
        topic.partitions.append(row)
    leaders = {
        row.current_leader.leader_id for topic in topics.values() for row in topic.partitions
    }
    return ShareAcknowledgeResponse(
        acquisition_lock_timeout_ms=settings.share_record_lock_duration_ms(group_id),
        responses=list(topics.values()),
        node_endpoints=[
            NodeEndpoint(*broker) for broker in context.live_broker_endpoints_among(leaders)
        ],
    )


def _current_leader(topic_id: bytes, index: int, context: RequestContext) -> LeaderIdAndEpoch:
    topic = context.cluster.topics.by_id(topic_id)
    partition = None if topic is None else topic.led_partition(index)
    if partition is None:
        return LeaderIdAndEpoch()
    return LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
