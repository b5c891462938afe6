"""What OffsetCommit and TxnOffsetCommit have in common: their messages are of the same shape."""

from typing import NamedTuple, TypeVar

import msgspec

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.offset_commit_request import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.offset_commit_response import OffsetCommitResponse
from kafka_shim.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from kafka_shim.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from kafka_shim.shim.handlers.common.duplicates import rows_by_topic_deduplicated
from kafka_shim.shim.handlers.common.topic_access import denied_or_unknown_topic_error
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.offsets import CommittedOffset, missing_partition_id
from kafka_shim.shim.state.topics import Topic

Response = TypeVar("Response", OffsetCommitResponse, TxnOffsetCommitResponse)
CommitRequestTopic = OffsetCommitRequestTopic | TxnOffsetCommitRequestTopic
CommitRequestPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


def merge_duplicate_response_rows(response: Response) -> Response:
    """Merge a response for releases that collect it in a map: every topic and partition once."""
    first = {topic.name: topic for topic in reversed(response.topics)}
    rows = (
        (topic.name, partition.partition_index, partition)
        for topic in response.topics
        for partition in topic.partitions
    )
    response.topics = [
        msgspec.structs.replace(first[name], partitions=partitions)
        for name, partitions in rows_by_topic_deduplicated(rows)
    ]
    return response


def committed_offset(partition: CommitRequestPartition) -> CommittedOffset:
    """Return the offset that a partition of the request commits."""
    return CommittedOffset(
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
    )


def topic_id_for_stored_offset(topic: Topic, index: int) -> bytes:
    """Return the key of a partition's offset: the topic id, or one that stands for no partition."""
    return (
        missing_partition_id(topic.name)
        if topic.partition_once_led(index) is None
        else topic.topic_id
    )


def metadata_fits(partition: CommitRequestPartition, bytes_max: int) -> bool:
    """Return whether a commit's metadata is within `offset.metadata.max.bytes`."""
    metadata = partition.committed_metadata
    return not metadata or len(metadata.encode()) <= bytes_max


class CommitTopic(NamedTuple):
    """The topic of a commit; `error` is NONE if the caller may commit to it and it exists."""

    error: ErrorCode
    topic: Topic | None


def find_permitted_commit_topic(
    context: RequestContext,
    requirement: Requirement,
    request_topic: CommitRequestTopic,
    *,
    by_id: bool,
) -> CommitTopic:
    """Find a topic by id or name, and check permission; an unknown id precedes a denial."""
    topics = context.cluster.topics
    topic = topics.by_id(request_topic.topic_id) if by_id else None
    if by_id and topic is None:
        return CommitTopic(ErrorCode.UNKNOWN_TOPIC_ID, None)
    name = request_topic.name if topic is None else topic.name
    error = denied_or_unknown_topic_error(context, requirement, name)
    return CommitTopic(error, topics.get(name))
