"""What OffsetCommit and TxnOffsetCommit have in common: their messages are of the same shape."""

from typing import TypeVar

import msgspec

from protocol.messages.offset_commit_request import OffsetCommitRequestPartition
from protocol.messages.offset_commit_response import OffsetCommitResponse
from protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequestPartition
from protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse
from shim.handling.duplicates import by_topic
from shim.state.groups.offsets import CommittedOffset

Response = TypeVar("Response", OffsetCommitResponse, TxnOffsetCommitResponse)
AskedPartition = OffsetCommitRequestPartition | TxnOffsetCommitRequestPartition


def merged(response: Response) -> Response:
    """The answer of a release that collects it in a map: every topic and partition but once."""
    first = {topic.name: topic for topic in reversed(response.topics)}
    rows = (
        (topic.name, one.partition_index, one)
        for topic in response.topics
        for one in topic.partitions
    )
    response.topics = [
        msgspec.structs.replace(first[name], partitions=partitions)
        for name, partitions in by_topic(rows).items()
    ]
    return response


def offset_of(asked: AskedPartition) -> CommittedOffset:
    """What is kept of a commit."""
    return CommittedOffset(
        asked.committed_offset,
        asked.committed_leader_epoch,
        asked.committed_metadata or "",
    )
