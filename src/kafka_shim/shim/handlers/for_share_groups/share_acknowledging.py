"""What ShareFetch and ShareAcknowledge share: their checks, and acknowledging records."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages import (
    share_acknowledge as share_acknowledge_messages,
    share_fetch as share_fetch_messages,
)
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.share_partitions.share_acknowledgement import RENEW, Acknowledgement
from kafka_shim.shim.state.share_partitions.share_sessions import TopicPartition

AcknowledgedTopic = share_fetch_messages.FetchTopic | share_acknowledge_messages.AcknowledgeTopic
RENEWS_SINCE = 2
"""The version of ShareFetch and ShareAcknowledge that can ask for more time."""

MESSAGES = {
    ErrorCode.INVALID_RECORD_STATE: "this member has not acquired all of the records",
    ErrorCode.INVALID_REQUEST: "not all of the records have been delivered",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "no member has fetched from this share partition",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "the share partition has a newer state",
    ErrorCode.UNKNOWN_SERVER_ERROR: "the share partition has no state",
}


class AcknowledgementResult(msgspec.Struct, frozen=True):
    """What became of the acknowledgements of one partition."""

    error: ErrorCode = NO_ERROR
    message: str | None = None


class ShareAcknowledger(msgspec.Struct, frozen=True):
    """Who acknowledges; `denials` are the errors of topics, by name, or NONE."""

    group_id: str
    member_id: str
    is_renewing: bool
    context: RequestContext
    denials: Mapping[str, ErrorCode]

    def acknowledge_all(
        self, topics: Iterable[AcknowledgedTopic]
    ) -> dict[TopicPartition, AcknowledgementResult]:
        """Return the outcome by partition.

        Partitions without acknowledgements have one only if others have some (observed on 4.3.1).
        """
        failed: dict[TopicPartition, AcknowledgementResult] = {}
        without_batches: dict[TopicPartition, AcknowledgementResult] = {}
        batches_by_partition: dict[TopicPartition, Sequence[Acknowledgement]] = {}
        for topic in topics:
            for row in topic.partitions:
                place = (topic.topic_id, row.partition_index)
                error = self._precheck_error(place, row.acknowledgement_batches)
                if error is not NO_ERROR:
                    failed[place] = AcknowledgementResult(error)
                elif row.acknowledgement_batches:
                    batches_by_partition[place] = row.acknowledgement_batches
                else:
                    without_batches[place] = AcknowledgementResult()
        if not batches_by_partition:
            return failed
        acknowledged = {
            place: self._acknowledge_partition(place, batches)
            for place, batches in batches_by_partition.items()
        }
        return acknowledged | failed | without_batches

    def _precheck_error(
        self, partition_key: TopicPartition, batches: Sequence[Acknowledgement]
    ) -> ErrorCode:
        topic = self.context.cluster.topics.by_id(partition_key[0])
        if topic is None:
            return ErrorCode.UNKNOWN_TOPIC_ID
        if not self._has_valid_batches(batches):
            return ErrorCode.INVALID_REQUEST
        denial = self.denials[topic.name]
        if denial is NO_ERROR and topic.led_partition(partition_key[1]) is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return denial

    def _has_valid_batches(self, batches: Iterable[Acknowledgement]) -> bool:
        """Return whether acknowledgements are valid, without the records."""
        version = self.context.version
        greatest = RENEW if version >= RENEWS_SINCE else RENEW - 1
        before = -1
        for batch in batches:
            types = batch.acknowledge_types
            size = batch.last_offset - batch.first_offset + 1
            fits = len(types) in (1, size) and all(0 <= kind <= greatest for kind in types)
            renews_aside = RENEW in types and not self.is_renewing
            if size < 1 or batch.first_offset < before or not fits or renews_aside:
                return False
            before = batch.last_offset
        return True

    def _acknowledge_partition(
        self, partition_key: TopicPartition, batches: Sequence[Acknowledgement]
    ) -> AcknowledgementResult:
        partition = self.context.cluster.share_partitions.find_loaded(
            (self.group_id, *partition_key)
        )
        if partition is None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            error = partition.acknowledge(self.member_id, batches)
        return AcknowledgementResult(error, MESSAGES.get(error))


MEMBER_ID_LENGTH_MAX = 36


def check_share_request(
    context: RequestContext, requirement: Requirement, group_id: str | None, member_id: str | None
) -> None:
    """Check the group, the member id and the permission for the group.

    Raise RequestRejected for the first that fails.
    """
    context.require_group_protocol("share")
    null_error = ErrorCode(context.facts.groups.share_session_null_id_error)
    if group_id is None:
        raise RequestRejected(null_error)
    context.access.require(requirement, group_id)
    if member_id is None:
        raise RequestRejected(null_error)
    if not member_id or len(member_id) > MEMBER_ID_LENGTH_MAX:
        raise RequestRejected(ErrorCode.INVALID_REQUEST)


def topic_access_errors(
    context: RequestContext, requirement: Requirement, names: Iterable[str | None]
) -> dict[str, ErrorCode]:
    """Return the denial of each topic, or NONE. Raise RequestRejected for an unknown id (None)."""
    distinct_names = list(dict.fromkeys(names))
    if None in distinct_names:
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    context.access.declare_no_further_checks()  # a request may be about no topic at all
    return {
        name: context.access.denial_error(requirement, name)
        for name in distinct_names
        if name is not None
    }
