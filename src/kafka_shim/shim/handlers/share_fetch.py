"""78 ShareFetch, versions 0-2. Acquires records for a member of a share group, and handles its
acknowledgements (KIP-932).

READ on the group, then the session is checked, then READ on every topic of the session and the
request: a denied one gets TOPIC_AUTHORIZATION_FAILED (29) on its partitions and acknowledgements.
An unknown topic id fails the whole request with UNKNOWN_SERVER_ERROR (-1), also without an
authorizer (observed on 4.3.1). A partition of the session whose topic was deleted gets
UNKNOWN_TOPIC_OR_PARTITION (3). If another topic has the name by then, reading it fails with
UNKNOWN_SERVER_ERROR (-1), when the maximum wait is over. In 4.2.0 and 4.3.1 the whole request gets
-1 in both cases.
"""

from kafka_shim.authorizer.requirements import SHARE_FETCH_GROUP, SHARE_FETCH_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.share_fetch import (
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ShareFetchableTopicResponse,
    ShareFetchRequest,
    ShareFetchResponse,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.handlers.for_share_groups.share_acknowledging import (
    RENEWS_SINCE,
    AcknowledgementResult,
    ShareAcknowledger,
    check_share_request,
    topic_access_errors,
)
from kafka_shim.shim.handlers.for_share_groups.share_fetching import STRICT, Rows, ShareFetchReader
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_sessions import (
    END,
    ShareFetchPartitions,
    TopicPartition,
)
from kafka_shim.shim.wait import PendingResponse

ACQUIRE_MODES = (0, STRICT)


def handle(
    request: ShareFetchRequest, context: RequestContext
) -> ShareFetchResponse | PendingResponse[ShareFetchResponse]:
    check_share_request(context, SHARE_FETCH_GROUP, request.group_id, request.member_id)
    renews = context.version >= RENEWS_SINCE and request.is_renew_ack
    limits = (request.max_bytes, request.min_bytes, request.max_records, request.max_wait_ms)
    if renews and any(limits):
        raise RequestRejected(ErrorCode.INVALID_REQUEST)
    acknowledges = any(
        row.acknowledgement_batches for topic in request.topics for row in topic.partitions
    )
    sessions = context.cluster.share_sessions[context.node_id]
    try:
        share_round = sessions.update_session(
            request, context.session, has_acknowledgements=acknowledges
        )
    except RequestRejected as refusal:
        if refusal.error is not ErrorCode.SHARE_SESSION_LIMIT_REACHED:
            raise
        return _delayed_error_response(request, context, refusal.error)
    return _ShareFetch(request, context, share_round, acknowledges=acknowledges).handle()


error_response = mirroring_error_builder(ShareFetchResponse)


def _delayed_error_response(
    request: ShareFetchRequest, context: RequestContext, error: ErrorCode
) -> PendingResponse[ShareFetchResponse]:
    """Delay the response by the maximum wait, so that clients do not retry in a loop."""
    wait: PendingResponse[ShareFetchResponse] = PendingResponse()
    response = error_response(request, error, None)
    context.cluster.clock.call_after_wait(request.max_wait_ms, lambda: wait.complete(response))
    return wait


class _ShareFetch:
    """A request: its acknowledgements, and the reading of records for its response."""

    def __init__(
        self,
        request: ShareFetchRequest,
        context: RequestContext,
        share_round: ShareFetchPartitions,
        *,
        acknowledges: bool,
    ) -> None:
        self._request = request
        self._context = context
        self._round = share_round
        self._acknowledges = acknowledges
        self._outcomes: dict[TopicPartition, AcknowledgementResult] = {}

    def handle(self) -> ShareFetchResponse | PendingResponse[ShareFetchResponse]:
        request, context = self._request, self._context
        named = context.cluster.share_sessions[context.node_id].requested_topic_names(request)
        partitions = self._round.partitions
        topics = [*(partition.topic for partition in partitions), *named]
        denials = topic_access_errors(context, SHARE_FETCH_TOPIC, topics)
        if request.share_acquire_mode not in ACQUIRE_MODES:
            raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
        if self._acknowledges:
            self._outcomes = ShareAcknowledger(
                request.group_id or "",
                request.member_id or "",
                request.is_renew_ack,
                context,
                denials,
            ).acknowledge_all(request.topics)
        if request.is_renew_ack:
            return self._build_response([])
        responses: list[ShareFetchResponse] = []
        wait: PendingResponse[ShareFetchResponse] | None = None

        def complete_response(rows: Rows | None) -> None:
            error = ErrorCode.UNKNOWN_SERVER_ERROR
            response = (
                error_response(request, error, None) if rows is None else self._build_response(rows)
            )
            responses.append(response)
            if wait is not None:
                wait.complete(response)

        stop = ShareFetchReader(request, context, denials).acquire(
            self._round.partitions, complete_response
        )
        if responses:
            return responses[0]
        wait = PendingResponse(stop)
        return wait

    def _build_response(self, rows: Rows) -> ShareFetchResponse:
        request, context = self._request, self._context
        topics: dict[bytes, ShareFetchableTopicResponse] = {}
        outcomes_left = dict(self._outcomes)
        for shared, data in self._round.select_response_rows(rows):
            outcome = outcomes_left.pop(shared.topic_partition, AcknowledgementResult())
            data.acknowledge_error_code = outcome.error
            data.acknowledge_error_message = outcome.message
            self._add_partition_row(topics, shared.topic_id, data)
        for (topic_id, index), outcome in outcomes_left.items():
            data = PartitionData(
                partition_index=index,
                acknowledge_error_code=outcome.error,
                acknowledge_error_message=outcome.message,
                records=b"",
            )
            self._add_partition_row(topics, topic_id, data)
        group_id = request.group_id or ""
        if request.share_session_epoch == END:
            sessions = context.cluster.share_sessions[context.node_id]
            sessions.end_session(group_id, request.member_id or "")
        settings = context.cluster.groups.settings
        response = ShareFetchResponse(
            acquisition_lock_timeout_ms=settings.share_record_lock_duration_ms(group_id),
            responses=list(topics.values()),
        )
        leaders = {
            row.current_leader.leader_id for topic in topics.values() for row in topic.partitions
        }
        response.node_endpoints = [
            NodeEndpoint(*broker) for broker in context.live_broker_endpoints_among(leaders)
        ]
        return response

    def _add_partition_row(
        self, topics: dict[bytes, ShareFetchableTopicResponse], topic_id: bytes, data: PartitionData
    ) -> None:
        if ErrorCode.NOT_LEADER_OR_FOLLOWER in (data.error_code, data.acknowledge_error_code):
            topic = self._context.cluster.topics.by_id(topic_id)
            partition = None if topic is None else topic.led_partition(data.partition_index)
            if partition is not None:
                leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
                data.current_leader = leader
        known = topics.setdefault(topic_id, ShareFetchableTopicResponse(topic_id))
        known.partitions.append(data)
