"""What OffsetCommit and TxnOffsetCommit have in common: their messages are of the same shape."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.offset_commit import (
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponseTopic,
)
from kafka_shim.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponseTopic,
)
from kafka_shim.shim.handlers.common.duplicates import deduplicate_by_topic, last_row_per_key
from kafka_shim.shim.handlers.common.topic_access import TopicErrors
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.groups.groups import OffsetCommit
from kafka_shim.shim.state.groups.offsets import (
    CommittedOffset,
    missing_partition_topic_id,
)
from kafka_shim.shim.state.topics import Topic

Response = TypeVar("Response", OffsetCommitResponse, TxnOffsetCommitResponse)
ResponseTopic = TypeVar("ResponseTopic", OffsetCommitResponseTopic, TxnOffsetCommitResponseTopic)
CommitRequestTopic = OffsetCommitRequestTopic | TxnOffsetCommitRequestTopic
CommitRequestPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


def merge_duplicate_rows(response: Response) -> Response:
    """Merge a response for releases that collect it in a map: every topic and partition once."""
    first = {topic.name: topic for topic in reversed(response.topics)}
    rows = (
        (topic.name, partition.partition_index, partition)
        for topic in response.topics
        for partition in topic.partitions
    )
    response.topics = [
        msgspec.structs.replace(first[name], partitions=partitions)
        for name, partitions in deduplicate_by_topic(rows)
    ]
    return response


class PermittedCommit(msgspec.Struct, gc=False):
    """A partition of a permitted topic in a request.

    Its offset is stored under `stored_topic_id`: that of the topic, or one that stands for a
    missing partition.
    """

    request_topic: CommitRequestTopic
    partition: CommitRequestPartition
    topic: Topic
    stored_topic_id: bytes

    def offset_commit(self) -> OffsetCommit:
        """Return the offset to store."""
        partition = self.partition
        committed = CommittedOffset(
            partition.committed_offset,
            partition.committed_leader_epoch,
            partition.committed_metadata or "",
        )
        return OffsetCommit(self.stored_topic_id, partition.partition_index, committed)


class CommitRows(Generic[ResponseTopic]):
    """The response while it is being put together: topics in the order of their first partition.

    Equal topics of the request have one row if `merges`.
    """

    def __init__(
        self, topic_type: Callable[..., ResponseTopic], partition_type: Callable[[int, int], Any]
    ) -> None:
        self.topics: dict[Hashable, ResponseTopic] = {}
        self.merges = True
        self._topic_type: Callable[..., ResponseTopic] = topic_type
        self._partition_type = partition_type

    def add_topic(self, topic: CommitRequestTopic) -> ResponseTopic:
        """Add a topic if the response lacks it, and return its row."""
        return self.topics.setdefault(
            (topic.name, topic.topic_id) if self.merges else id(topic),
            self._topic_type(name=topic.name, topic_id=topic.topic_id, partitions=[]),
        )

    def add_partition_result(self, topic: CommitRequestTopic, index: int, error: ErrorCode) -> None:
        """Add a row for a partition of a topic."""
        self.add_topic(topic).partitions.append(self._partition_type(index, error))


def commit_topic_errors(
    context: RequestContext,
    requirement: Requirement,
    request_topics: Sequence[CommitRequestTopic],
    *,
    by_id: bool,
) -> TopicErrors:
    """Return the errors of the topics of a commit; unknown ids are checked as an empty name."""
    names = [topic.name for topic in request_topics]
    if by_id:
        known = [context.cluster.topics.by_id(topic.topic_id) for topic in request_topics]
        names = ["" if topic is None else topic.name for topic in known]
    errors = TopicErrors(context, requirement, names)
    if by_id and "" in names:
        errors.error("")
    return errors


def find_permitted_commits(
    context: RequestContext,
    errors: TopicErrors,
    request_topic: CommitRequestTopic,
    results: CommitRows[Any],
    *,
    by_id: bool,
    rejects_missing_partitions: bool,
) -> Iterator[PermittedCommit]:
    """Yield the permitted partitions of a topic; add the errors of the others to the response.

    An unknown topic id precedes a denial. Since 3.5, a failed topic is listed even without
    partitions.
    """
    topics = context.cluster.topics
    topic = topics.by_id(request_topic.topic_id) if by_id else None
    if by_id and topic is None:
        error = ErrorCode.UNKNOWN_TOPIC_ID
    else:
        name = request_topic.name if topic is None else topic.name
        error = errors.error(name)
        topic = topics.get(name)
    is_failed = error is not NO_ERROR or topic is None
    if is_failed and context.facts.groups.failed_commit_lists_each_partition:
        results.add_topic(request_topic)
    for partition in request_topic.partitions:
        index = partition.partition_index
        if error is not NO_ERROR or topic is None:
            results.add_partition_result(request_topic, index, error)
            continue
        stored_topic_id = topic.topic_id
        if topic.led_partition(index) is None:
            if rejects_missing_partitions:
                results.add_partition_result(
                    request_topic, index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                )
                continue
            stored_topic_id = missing_partition_topic_id(topic.name)
        yield PermittedCommit(request_topic, partition, topic, stored_topic_id)


def last_commit_of_each_partition(
    permitted: Iterable[PermittedCommit], context: RequestContext
) -> list[PermittedCommit]:
    """Return the last commit of each partition that a request lists repeatedly."""
    return last_row_per_key(
        permitted, lambda commit: (commit.request_topic.name, commit.partition.partition_index)
    )


def metadata_size_checks(
    permitted: Iterable[PermittedCommit], context: RequestContext
) -> list[bool]:
    """Return whether each commit's metadata is within `offset.metadata.max.bytes`."""
    bytes_max = None  # not looked up without metadata
    fits = []
    for commit in permitted:
        metadata = commit.partition.committed_metadata
        if not metadata:
            fits.append(True)
            continue
        if bytes_max is None:
            bytes_max = context.cluster.groups.settings.offset_metadata_bytes_max
        fits.append(len(metadata.encode()) <= bytes_max)
    return fits
