"""Reads of single partitions for Fetch, and the size of what can be read."""

from typing import cast

import msgspec

from kafka_shim.protocol.codec.chunks import LONG_BYTES, ByteChunks
from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import DecodeError, EncodeError
from kafka_shim.protocol.messages.fetch_request import FetchPartition
from kafka_shim.protocol.messages.fetch_response import (
    AbortedTransaction,
    EpochEndOffset,
    LeaderIdAndEpoch,
    PartitionData,
)
from kafka_shim.protocol.records.batches import entry_bounds
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.logs.log import Log
from kafka_shim.shim.state.topics import Partition

FORMAT_1_SINCE = 2
BYTES_MAX = "fetch.max.bytes"
DEBUGGER = -2
"""Replica id of a debugging consumer, which may read from any replica."""

FORMAT_2_SINCE = 4
ZSTD_SINCE = 10
LEADERS_SINCE = 16
NEAREST_SINCE = 11
"""First version in which a consumer may read from any replica (KIP-392)."""


class Reader(msgspec.Struct, frozen=True):
    """The reader of a Fetch request and its byte limit; `version` is that of Fetch."""

    version: int
    node_id: int
    replica_id: int
    isolation_level: int
    bytes_max: int
    facts: RecordFacts
    accepts_chunks: bool = False

    @property
    def is_follower(self) -> bool:
        return self.replica_id >= 0

    @property
    def reads_committed(self) -> bool:
        """Whether the last stable offset limits the reader; replicas read everything."""
        return self.isolation_level == IsolationLevel.READ_COMMITTED and not self.is_follower


def end_for(partition: Partition, reader: Reader) -> int:
    """Return the offset up to which the reader may read."""
    if reader.is_follower:
        return partition.log.end_offset
    if reader.reads_committed:
        return partition.log.last_stable_offset
    return partition.log.high_watermark


def partition_error(partition: Partition, wanted: FetchPartition, reader: Reader) -> ErrorCode:
    """Return the error for reading the partition as requested; NONE if it can be read."""
    error = _place_error(partition, reader)
    if error is not ErrorCode.NONE:
        return error
    epoch = wanted.current_leader_epoch
    if epoch < 0 and not reader.facts.negative_leader_epoch_is_fenced:
        epoch = -1
    return (
        epoch_error(partition, epoch)
        or _replica_error(partition, epoch, reader)
        or _offset_error(partition, wanted)
    )


def _place_error(partition: Partition, reader: Reader) -> ErrorCode:
    may_follow = reader.version >= NEAREST_SINCE and not reader.is_follower
    readable = partition.replicas if may_follow else [partition.leader_id]
    is_here = partition.is_open and reader.node_id in readable
    return ErrorCode.NONE if is_here else ErrorCode.NOT_LEADER_OR_FOLLOWER


def _replica_error(partition: Partition, epoch: int, reader: Reader) -> ErrorCode:
    """Return the error for a broker that is not a replica; retriable if it knows the leader epoch
    (KIP-841).
    """
    error = reader.facts.fetch_without_replica_error
    if not _is_no_replica(partition, reader) or error is ErrorCode.NONE:
        return ErrorCode.NONE
    return error if epoch < 0 else ErrorCode.UNKNOWN_LEADER_EPOCH


def _offset_error(partition: Partition, wanted: FetchPartition) -> ErrorCode:
    log = partition.log
    if wanted.last_fetched_epoch >= 0 and log.end_of_epoch(wanted.last_fetched_epoch)[1] < 0:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    is_there = log.start_offset <= wanted.fetch_offset <= log.end_offset
    if is_there or diverging(partition, wanted) is not None:
        return ErrorCode.NONE
    return ErrorCode.OFFSET_OUT_OF_RANGE


def _is_no_replica(partition: Partition, reader: Reader) -> bool:
    """Return whether the reader is a broker without a replica to fetch, or the leader itself."""
    return reader.is_follower and (
        reader.replica_id == partition.leader_id or reader.replica_id not in partition.replicas
    )


def epoch_error(partition: Partition, leader_epoch: int) -> ErrorCode:
    """Return the error for a client's leader epoch (KIP-320); -1: the client sent none."""
    if leader_epoch in (-1, partition.leader_epoch):
        return ErrorCode.NONE
    if leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH


def read(
    partition: Partition, wanted: FetchPartition, reader: Reader, *, whole_first: bool
) -> PartitionData:
    """Return one partition's row, limited by `reader.bytes_max`, as it is in the log."""
    error = partition_error(partition, wanted, reader)
    if error is not ErrorCode.NONE:
        return failed(wanted.partition, error, reader, partition)
    log = partition.log
    is_committed = reader.reads_committed
    asks_stable = reader.isolation_level == IsolationLevel.READ_COMMITTED
    tells_stable = asks_stable or reader.facts.fetch_always_returns_last_stable_offset
    response = PartitionData(
        partition_index=wanted.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset if tells_stable else -1,
        log_start_offset=log.start_offset,
        aborted_transactions=None,
        records=b"",
    )
    divergence = diverging(partition, wanted)
    if divergence is not None:
        response.diverging_epoch = divergence
        return response
    if _is_no_replica(partition, reader):
        return response
    end = end_for(partition, reader)
    limit = min(max(wanted.partition_max_bytes, 0), reader.bytes_max)
    found = log.read_cut(wanted.fetch_offset, end, limit, whole_first=whole_first)
    if len(found) == 1:
        response.records = bytes(found[0])
    else:
        accepts_chunks = reader.accepts_chunks and reader.version >= FORMAT_2_SINCE
        is_long = accepts_chunks and sum(map(len, found)) >= LONG_BYTES
        response.records = cast("bytes", ByteChunks(found)) if is_long else b"".join(found)
    is_cut = not found and limit > 0 and log.bytes_between(wanted.fetch_offset, end) > 0
    if is_committed and not is_cut:  # null if the first batch was cut off
        bytes_max = max(limit, len(response.records))
        beyond = _aborted_up_to(log, wanted.fetch_offset, end, bytes_max, reader.facts)
        response.aborted_transactions = [
            AbortedTransaction(transaction.producer_id, transaction.first_offset)
            for transaction in log.producers.aborted(wanted.fetch_offset, beyond)
            if transaction.first_offset < transaction.last_offset
            or reader.facts.aborted_transactions_without_records_are_listed
        ]
    return response


def failed(
    index: int, error: ErrorCode, reader: Reader, partition: Partition | None = None
) -> PartitionData:
    """Return a row without records; `partition` is set if reading its log failed."""
    response = PartitionData(
        partition_index=index,
        error_code=error,
        high_watermark=-1,
        aborted_transactions=[]
        if partition is None and reader.facts.fetch_error_has_empty_aborted_list
        else None,
        records=b"",
    )
    knows_leader = error in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
    if partition is not None and knows_leader and reader.version >= LEADERS_SINCE:
        response.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
    return response


def _unsupported(index: int, reader: Reader) -> PartitionData:
    """Return the row for records that this version of Fetch cannot contain."""
    response = failed(index, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reader)
    if not reader.facts.failed_fetch_has_empty_records:
        response.records = None
    return response


def bytes_at_most(asked: int, context: RequestContext, *, is_follower: bool = False) -> int:
    """Return the byte limit of an answer: what was asked, or less by the broker's setting (2.5,
    KIP-541) or by the quota of a client, which may not fetch more than that at once.
    """
    cluster = context.cluster
    if BYTES_MAX in cluster.configs.broker_definitions:
        limit = cluster.configs.broker_value(BYTES_MAX, context.node_id)
        asked = min(asked, int(limit or asked))
    throttles = None if is_follower else cluster.throttles
    at_once = None if throttles is None else throttles.bytes_at_once(context.client)
    return asked if at_once is None else min(asked, at_once)


def bytes_ready(partition: Partition, wanted: FetchPartition, reader: Reader) -> int:
    """Return how many bytes a reader would get."""
    found = partition.log.bytes_between(wanted.fetch_offset, end_for(partition, reader))
    return min(found, wanted.partition_max_bytes)


def converted(
    response: PartitionData, partition: Partition, offset: int, reader: Reader
) -> PartitionData:
    """Convert the records to the format of this version of Fetch, beginning at `offset`."""
    if response.error_code != ErrorCode.NONE:
        return response
    is_zstd = partition.log.settings.is_zstd and reader.version < ZSTD_SINCE
    if is_zstd and reader.facts.zstd_topic_is_unsupported_compression:
        return _unsupported(response.partition_index, reader)
    if not response.records:
        return response
    try:
        if reader.version < FORMAT_2_SINCE:
            magic = 1 if reader.version >= FORMAT_1_SINCE else 0
            from kafka_shim.protocol.records.message_sets import down_convert  # noqa: PLC0415 - old clients

            message_set = _from(down_convert(response.records, magic), offset)
            if message_set or not reader.facts.emptied_batches_are_returned_unconverted:
                response.records = message_set
    except (EncodeError, MissingPackageError):
        return _unsupported(response.partition_index, reader)
    except DecodeError:
        return failed(response.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR, reader)
    return response


def _from(message_set: bytes, offset: int) -> bytes:
    """Drop the messages before an offset, which old consumers do not expect."""
    for start, _, _ in entry_bounds(message_set):
        if int.from_bytes(message_set[start : start + 8], "big") >= offset:
            return message_set[start:]
    return b""


def _aborted_up_to(log: Log, offset: int, end: int, bytes_max: int, facts: RecordFacts) -> int:
    """Return the offset before which listed aborted transactions begin, whether they are readable
    or not: Kafka finds it in its index, by the end of what it read from `offset` to `end`.
    """
    readable = log.bytes_between(offset, end)
    if readable:
        return log.indexed_after(offset, min(bytes_max, readable))
    at_end = facts.fetch_at_stable_offset_lists_all_aborted and offset == end
    return log.end_offset if at_end or facts.empty_fetch_lists_all_aborted_transactions else 0


def diverging(partition: Partition, wanted: FetchPartition) -> EpochEndOffset | None:
    """Return where the reader's log diverges from the leader's (KIP-595); None if it does not."""
    if wanted.last_fetched_epoch < 0:
        return None
    epoch, end_offset = partition.log.end_of_epoch(wanted.last_fetched_epoch)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return EpochEndOffset(epoch, end_offset)
    return None
