"""Reads of single partitions for Fetch, and the size of what can be read."""

from typing import cast

import msgspec

from kafka_shim.protocol.codec.chunks import LONG_BYTES, ByteChunks
from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.errors import DecodeError, EncodeError
from kafka_shim.protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchPartition,
    FetchRequest,
    LeaderIdAndEpoch,
    PartitionData,
)
from kafka_shim.protocol.records.batches import batch_bounds
from kafka_shim.protocol.records.compression import MissingPackageError
from kafka_shim.protocol.releases.records import RecordFacts
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.logs.log import PartitionLog
from kafka_shim.shim.state.topics import Partition

FORMAT_1_SINCE = 2
_READ_COMMITTED = int(IsolationLevel.READ_COMMITTED)
DEBUGGING_REPLICA_ID = -2
"""Replica id of a debugging consumer, which may read from any replica."""

FORMAT_2_SINCE = 4
ZSTD_SINCE = 10
CURRENT_LEADER_SINCE = 16
NEAREST_REPLICA_SINCE = 11
"""First version in which a consumer may read from any replica (KIP-392)."""


class PartitionReader(msgspec.Struct, frozen=True):
    """The reader of a Fetch request and its byte limit; `version` is that of Fetch.

    `is_consumer_reading_committed`: the last stable offset limits the reader; replicas read
    everything. A reader that `has_waited` also gets records as a broker without a replica.
    """

    version: int
    node_id: int
    replica_id: int
    is_follower: bool
    reads_committed: bool
    is_consumer_reading_committed: bool
    bytes_max: int
    facts: RecordFacts
    accepts_chunks: bool
    has_waited: bool = False


def partition_reader(
    request: FetchRequest, replica_id: int, bytes_max: int, context: RequestContext
) -> PartitionReader:
    """Return the reader of a request."""
    is_follower = replica_id >= 0
    reads_committed = request.isolation_level == _READ_COMMITTED
    return PartitionReader(
        context.version,
        context.node_id,
        replica_id,
        is_follower,
        reads_committed,
        reads_committed and not is_follower,
        bytes_max,
        context.facts.records,
        context.accepts_chunks,
    )


def readable_end_offset(partition: Partition, reader: PartitionReader) -> int:
    """Return the offset up to which the reader may read."""
    if reader.is_follower:
        return partition.log.end_offset
    if reader.is_consumer_reading_committed:
        return partition.log.last_stable_offset
    return partition.log.high_watermark


def partition_read_error(
    partition: Partition, request: FetchPartition, reader: PartitionReader
) -> ErrorCode:
    """Return the error for reading the partition as requested; NONE if it can be read."""
    may_follow = reader.version >= NEAREST_REPLICA_SINCE and not reader.is_follower
    readable = partition.replicas if may_follow else (partition.leader_id,)
    if not partition.is_open or reader.node_id not in readable:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    epoch = request.current_leader_epoch
    if epoch < 0 and not reader.facts.negative_leader_epoch_is_fenced:
        epoch = -1
    if epoch not in (-1, partition.leader_epoch):
        return leader_epoch_error(partition, epoch)
    error = NO_ERROR
    if reader.is_follower:
        error = _follower_without_replica_error(partition, epoch, reader)
    return error or _out_of_range_error(partition, request)


def _follower_without_replica_error(
    partition: Partition, epoch: int, reader: PartitionReader
) -> ErrorCode:
    """Return the error for a broker that is not a replica; retriable if it knows the leader epoch
    (KIP-841).
    """
    error = reader.facts.fetch_without_replica_error
    if not _is_non_follower_broker(partition, reader) or error is NO_ERROR:
        return NO_ERROR
    return error if epoch < 0 else ErrorCode.UNKNOWN_LEADER_EPOCH


def _out_of_range_error(partition: Partition, request: FetchPartition) -> ErrorCode:
    log = partition.log
    if (
        request.last_fetched_epoch >= 0
        and log.end_offset_for_epoch(request.last_fetched_epoch)[1] < 0
    ):
        return ErrorCode.OFFSET_OUT_OF_RANGE
    is_within_log = log.start_offset <= request.fetch_offset <= log.end_offset
    if is_within_log or find_log_divergence(partition, request) is not None:
        return NO_ERROR
    return ErrorCode.OFFSET_OUT_OF_RANGE


def _is_non_follower_broker(partition: Partition, reader: PartitionReader) -> bool:
    """Return whether the reader is a broker without a replica to fetch, or the leader itself, and
    so gets nothing at first.
    """
    return (
        reader.is_follower
        and not reader.has_waited
        and (
            reader.replica_id == partition.leader_id or reader.replica_id not in partition.replicas
        )
    )


def leader_epoch_error(partition: Partition, leader_epoch: int) -> ErrorCode:
    """Return the error for a client's leader epoch (KIP-320); -1: the client sent none."""
    if leader_epoch in (-1, partition.leader_epoch):
        return NO_ERROR
    if leader_epoch < partition.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH


def read_partition(
    partition: Partition,
    request: FetchPartition,
    reader: PartitionReader,
    bytes_max: int,
    *,
    whole_first: bool,
) -> PartitionData:
    """Return one partition's row, limited by `bytes_max`, as it is in the log."""
    error = partition_read_error(partition, request, reader)
    if error is not NO_ERROR:
        return failed_partition_data(request.partition, error, reader, partition)
    log = partition.log
    returns_stable = reader.reads_committed or reader.facts.fetch_always_returns_last_stable_offset
    response = PartitionData(
        partition_index=request.partition,
        high_watermark=log.high_watermark,
        last_stable_offset=log.last_stable_offset if returns_stable else -1,
        log_start_offset=log.start_offset,
        aborted_transactions=None,
        records=b"",
    )
    if request.last_fetched_epoch >= 0:
        divergence = find_log_divergence(partition, request)
        if divergence is not None:
            response.diverging_epoch = divergence
            return response
    if _is_non_follower_broker(partition, reader):
        return response
    end = readable_end_offset(partition, reader)
    limit = min(max(request.partition_max_bytes, 0), bytes_max)
    chunks = log.read_with_partial_batch(request.fetch_offset, end, limit, whole_first=whole_first)
    if len(chunks) == 1:
        response.records = bytes(chunks[0])
    else:
        accepts_chunks = reader.accepts_chunks and reader.version >= FORMAT_2_SINCE
        is_long = accepts_chunks and sum(map(len, chunks)) >= LONG_BYTES
        response.records = cast("bytes", ByteChunks(chunks)) if is_long else b"".join(chunks)
    is_cut = not chunks and limit > 0 and log.bytes_between(request.fetch_offset, end) > 0
    if reader.is_consumer_reading_committed and not is_cut:  # null if the first batch was cut off
        bytes_read = max(limit, len(response.records))
        beyond = _aborted_transactions_end_offset(
            log, request.fetch_offset, end, bytes_read, reader.facts
        )
        response.aborted_transactions = [
            AbortedTransaction(transaction.producer_id, transaction.first_offset)
            for transaction in log.producers.aborted_between(request.fetch_offset, beyond)
            if transaction.first_offset < transaction.last_offset
            or reader.facts.aborted_transactions_without_records_are_listed
        ]
    return response


def failed_partition_data(
    index: int, error: ErrorCode, reader: PartitionReader, partition: Partition | None = None
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
    if partition is not None and knows_leader and reader.version >= CURRENT_LEADER_SINCE:
        response.current_leader = LeaderIdAndEpoch(partition.leader_id, partition.leader_epoch)
    return response


def _unsupported_compression_data(index: int, reader: PartitionReader) -> PartitionData:
    """Return the row for records that this version of Fetch cannot contain."""
    response = failed_partition_data(index, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, reader)
    if not reader.facts.failed_fetch_has_empty_records:
        response.records = None
    return response


def response_bytes_limit(
    requested_bytes: int, context: RequestContext, *, is_follower: bool = False
) -> int:
    """Return the byte limit of a response: what was asked, or less by the broker's setting (2.5,
    KIP-541) or by the quota of a client, which may not fetch more than that in one request.
    """
    cluster = context.cluster
    limit = cluster.configs.fetch_bytes_max(context.node_id)
    if limit is not None and limit < requested_bytes:
        requested_bytes = limit
    if cluster.throttles is None or is_follower:
        return requested_bytes
    quota_bytes = cluster.throttles.fetch_bytes_max(context.quota_client)
    return requested_bytes if quota_bytes is None else min(requested_bytes, quota_bytes)


def count_readable_bytes(
    partition: Partition, request: FetchPartition, reader: PartitionReader
) -> int:
    """Return how many bytes a reader would get."""
    if _is_non_follower_broker(partition, reader):
        return 0
    ready = partition.log.bytes_between(
        request.fetch_offset, readable_end_offset(partition, reader)
    )
    return min(ready, request.partition_max_bytes)


def down_convert_fetched_records(
    response: PartitionData, partition: Partition, offset: int, reader: PartitionReader
) -> PartitionData:
    """Convert the records to the format of this version of Fetch, beginning at `offset`."""
    if reader.version >= ZSTD_SINCE or response.error_code:
        return response
    is_zstd = partition.log.settings.requires_zstd_support
    if is_zstd and reader.facts.zstd_topic_is_unsupported_compression:
        return _unsupported_compression_data(response.partition_index, reader)
    if not response.records:
        return response
    try:
        if reader.version < FORMAT_2_SINCE:
            magic = 1 if reader.version >= FORMAT_1_SINCE else 0
            from kafka_shim.protocol.records.message_sets import (  # noqa: PLC0415 - old clients
                down_convert_data_batches,
            )

            message_set = _drop_messages_before(
                down_convert_data_batches(response.records, magic), offset
            )
            if message_set or not reader.facts.emptied_batches_are_returned_unconverted:
                response.records = message_set
    except (EncodeError, MissingPackageError):
        return _unsupported_compression_data(response.partition_index, reader)
    except DecodeError:
        return failed_partition_data(
            response.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR, reader
        )
    return response


def _drop_messages_before(message_set: bytes, offset: int) -> bytes:
    """Drop the messages before an offset, which old consumers do not expect."""
    for start, _, _ in batch_bounds(message_set):
        if int.from_bytes(message_set[start : start + 8], "big") >= offset:
            return message_set[start:]
    return b""


def _aborted_transactions_end_offset(
    log: PartitionLog, offset: int, end: int, bytes_max: int, facts: RecordFacts
) -> int:
    """Return the offset before which listed aborted transactions begin, whether they are readable
    or not: Kafka finds it in its index, by the end of what it read from `offset` to `end`.
    """
    readable = log.bytes_between(offset, end)
    if readable:
        return log.offset_index_entry(offset, min(bytes_max, readable))
    at_end = facts.fetch_at_stable_offset_lists_all_aborted and offset == end
    return log.end_offset if at_end or facts.empty_fetch_lists_all_aborted_transactions else 0


def find_log_divergence(partition: Partition, request: FetchPartition) -> EpochEndOffset | None:
    """Return where the reader's log diverges from the leader's (KIP-595); None if it does not."""
    if request.last_fetched_epoch < 0:
        return None
    epoch, end_offset = partition.log.end_offset_for_epoch(request.last_fetched_epoch)
    if epoch < request.last_fetched_epoch or end_offset < request.fetch_offset:
        return EpochEndOffset(epoch, end_offset)
    return None
